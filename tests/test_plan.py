"""The plan layer, without a GPU: what a plan binds, launches and needs, for every kind of selection and adapter."""

import ast
from contextlib import suppress
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path

import pytest
from checks import params_of
from hypothesis import given, settings
from hypothesis import strategies as st

import wgdml
from wgdml import shaders
from wgdml.plan import Algorithm, Limits, choose_algorithm, make_plan, tuning_for
from wgdml.selection import Layout, Order, make_selection

MINIMUM = Limits()  # what every WebGPU adapter gives
GPU = Limits(2**31 - 4, 2**32 - 4096, 1024, 48 << 10)
CPU = Limits(128 << 20, 2**31 - 1, 1024, 32 << 10, software=True)
ADAPTERS = {"minimum": MINIMUM, "gpu": GPU, "cpu": CPU}


def packed(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return Layout(tuple(sizes), tuple(strides[::-1]))


def selection(shape, axes, k, *, element="float32", source=None, values=True, index_bytes=4, order=Order.DESCENDING):
    out = packed([k if d in axes else n for d, n in enumerate(shape)])
    return make_selection(
        element, source or packed(shape), axes, k, order, values=out if values else None, indices=out, index_bytes=index_bytes
    )


SHAPES = [
    ((1,), [0], 1),
    ((2**24,), [0], 1),
    ((2**24,), [0], 100),
    ((2**20,), [0], 1024),
    ((2**22,), [0], 2**22),
    ((2**26,), [0], 4096),
    ((100_000, 7), [1], 3),
    ((65536, 1000), [1], 5),
    ((64, 50257), [1], 50),
    ((16384, 2048), [1], 2048),
    ((4096, 1024), [0], 10),
    ((64, 128, 256, 128), [1], 1),
    ((3, 5, 7, 11, 2, 3), [0, 2, 5], 1),
    ((2**27,), [0], 1),
    ((2, 40_000_000), [1], 1),
    ((5000, 4096), [0], 300),
    ((7596, 2048), [0], 949),
]


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("element", ["float32", "uint8", "int64", "float16"])
def test_plans_keep_to_the_limits(adapter, element):
    limits = ADAPTERS[adapter]
    for shape, axes, k in SHAPES:
        s = selection(shape, axes, k, element=element, values=len(axes) == 1)
        try:
            plan = make_plan(s, limits)
        except MemoryError:
            assert adapter == "minimum" and k * s.sequences > 2**20, (shape, k)  # 256 MiB do not hold the scratch
            continue
        assert plan.scratch_size <= limits.max_buffer_size
        for d in plan.dispatches:
            constants = dict(d.constants)
            assert constants["WORKGROUP"] <= limits.max_compute_invocations_per_workgroup, (shape, d.kernel)
            assert all(1 <= n <= limits.max_compute_workgroups_per_dimension for n in d.grid), (shape, d.kernel, d.grid)
            assert len(d.bindings) <= 8
            slots = [b.slot for b in d.bindings]
            assert len(set(slots)) == len(slots), (d.kernel, slots)
            for b in d.bindings:
                assert b.offset % 256 == 0 and b.size % 4 == 0 and b.size > 0, (shape, d.kernel, b)
                assert b.size <= limits.max_storage_buffer_binding_size, (shape, d.kernel, b)
                if b.resource == "scratch":
                    assert b.offset + b.size <= plan.scratch_size, (shape, d.kernel, b)


def test_every_kernel_assembles_without_leftovers():
    kernels = set()
    for limits in ADAPTERS.values():
        for shape, axes, k in SHAPES:
            for d in make_plan(selection(shape, axes, min(k, 2**20), values=len(axes) == 1), limits).dispatches:
                text = shaders.assemble(d.kernel, dict(d.constants))
                assert "$" not in text and "#" not in text, d.kernel
                kernels.add(d.kernel)
    assert kernels <= set(shaders.names())


@pytest.mark.parametrize(
    ("shape", "axis", "k", "gpu", "cpu"),
    [
        ((2**28,), 0, 1, "REDUCE", "REDUCE"),
        ((2**28,), 0, 100, "DELEGATES", "DELEGATES"),
        ((2**22,), 0, 100, "DELEGATES", "DELEGATES"),
        ((2**20,), 0, 1024, "DELEGATES", "DELEGATES"),
        ((2**18,), 0, 1024, "DELEGATES", "SELECT_KTH"),
        ((2**18,), 0, 10_000, "RADIX_SELECT", "RADIX_SELECT"),
        ((2**28,), 0, 2**20, "RADIX_SELECT", "RADIX_SELECT"),
        ((2**22,), 0, 2**22, "RADIX_SORT", "RADIX_SORT"),
        ((65536, 1000), 1, 5, "SELECT_ROWS", "LISTS"),
        ((1024, 1000), 1, 5, "SELECT_ROWS", "LISTS"),
        ((10**6, 100), 1, 10, "NETWORKS", "LISTS"),
        ((1024, 1000), 1, 64, "SELECT_KTH", "LISTS"),
        ((1024, 1000), 1, 65, "SELECT_KTH", "SELECT_KTH"),
        ((7, 1000), 1, 20, "SELECT_ROWS", "LISTS"),
        ((7, 1000), 1, 21, "NETWORKS", "SELECT_KTH"),
        ((1, 64), 1, 5, "NETWORKS", "SORT_ROWS"),
        ((1, 65), 1, 5, "NETWORKS", "LISTS"),
        ((1, 4097), 1, 5, "SELECT", "SELECT_KTH"),
        ((64, 16384), 1, 63, "SELECT", "LISTS"),
        ((64, 16384), 1, 64, "SELECT", "SELECT_KTH"),
        ((1024, 4096), 0, 50, "DELEGATES", "LISTS"),
        ((10**6, 100), 1, 99, "SORT_ROWS", "SORT_ROWS"),
        ((64, 50257), 1, 50, "SELECT", "SELECT_KTH"),
        ((65536, 1024), 0, 10, "DELEGATES", "DELEGATES"),
        ((4096, 1024), 0, 16, "SELECT", "LISTS"),
        ((4096, 1024), 0, 17, "DELEGATES", "LISTS"),
        ((16384, 1024), 0, 10, "DELEGATES", "DELEGATES"),
        ((4096, 4096), 0, 10, "DELEGATES", "LISTS"),
        ((16384, 2048), 1, 2048, "SORT_ROWS_RADIX", "RADIX_SORT"),
        ((4, 2048), 1, 2048, "SORT_ROWS_RADIX", "SORT_ROWS"),
    ],
)
def test_choice_of_algorithm(shape, axis, k, gpu, cpu):
    for limits, wanted in ((GPU, gpu), (CPU, cpu)):
        s = selection(shape, [axis], k)
        columns = bool(s.batch) and s.batch[-1].input_stride == 1 and s.axes[0].stride != 1
        loads = shape[axis] if columns else -(-shape[axis] // 4)
        chosen = choose_algorithm(shape[axis], prod(shape) // shape[axis], k, columns, True, loads, tuning_for(limits, 1))
        assert chosen is Algorithm[wanted], (shape, limits)


@pytest.mark.parametrize(
    ("shape", "axis", "k", "kernel", "constants"),
    [
        # Columns that share a workgroup, and those too long for that, which are cut among many.
        ((4096, 1024), 0, 10, "select", {"ALTERNATE": 1, "TEAM": 128, "WORKGROUP": 1024}),
        ((500_000, 4), 0, 100, "select", {"ALTERNATE": 0, "TEAM": 1024}),
        ((1_000_000, 8), 0, 65, "select", {"ALTERNATE": 0, "TEAM": 1024}),
        # Second keys where a good part of many subsets of several loads is read again.
        ((1000, 50_257), 1, 300, "select_kth", {"SECONDS": 1}),
        ((256, 131_072), 1, 500, "select_kth", {"SECONDS": 1}),
        ((256, 131_072), 1, 50, "select_kth", {"SECONDS": 0}),
        ((10_000, 3000), 1, 300, "select_kth", {"SECONDS": 0}),
    ],
)
def test_constants_on_a_gpu(shape, axis, k, kernel, constants):
    first = make_plan(selection(shape, [axis], k), GPU).dispatches[0]
    assert first.kernel == kernel and constants.items() <= dict(first.constants).items()
    assert constants.get("TEAM") != 1024 or prod(first.grid) > 100, "few long sequences are cut in parts"


def test_columns_have_delegates_that_fill_the_machine():
    """However small k is, as long as a small team can look at them."""
    for shape, k, invocations in (((65_536, 1024), 2, 65_536), ((65_536, 1024), 10, 65_536), ((2**18, 64), 2, 32_768)):
        first, second = make_plan(selection(shape, [0], k), GPU).dispatches
        assert prod(first.grid) * dict(first.constants)["WORKGROUP"] >= invocations, shape
        assert params_of(second)["subsets"] >= 256


def test_scratch_is_small_where_k_is():
    for shape, k, *axis in (
        ((4096, 1024), 10, 0),
        ((65_536, 1024), 10, 0),
        ((2**20, 16), 10, 0),
        ((2**20,), 1024),
        ((2**22,), 100),
        ((2**26,), 4096),
        ((2**28,), 100),
        ((2**28,), 2048),
        ((2**28,), 2**20),
        ((65536, 1000), 5),
        ((256, 131072), 50),
        ((8, 131072), 1000),
    ):
        plan = make_plan(selection(shape, axis or [len(shape) - 1], k), GPU)
        assert plan.scratch_size <= 0.02 * 4 * prod(shape), (shape, k, plan.scratch_size)
    for shape, k in (((2**20,), 100), ((2**20,), 1024), ((2**22,), 1000), ((64, 50_257), 50), ((1024, 1000), 5)):
        plan = make_plan(selection(shape, [len(shape) - 1], k), CPU)
        assert plan.scratch_size <= 0.02 * 4 * prod(shape), (shape, k, plan.scratch_size)


def test_scratch_of_a_sort():
    n = 2**24
    both = make_plan(selection((n,), [0], n), GPU)
    assert both.scratch_size <= 1.05 * (4 * n + 4 * n) + 2 * n  # the input again, indices, and counts
    values = make_plan(make_selection("float32", packed((n,)), [0], n, Order.ASCENDING, values=packed((n,)), indices=None), GPU)
    assert values.scratch_size < 4 * 4 * n


def test_a_binding_too_small_for_the_input_is_cut():
    limits = replace(MINIMUM, max_storage_buffer_binding_size=1 << 20)
    for shape, axes in (((2**20,), [0]), ((64, 2**14), [1]), ((2**14, 64), [0]), ((16, 256, 256), [1])):
        plan = make_plan(selection(shape, axes, 1, values=False, order=Order.MAXIMUM), limits)
        readers = [d for d in plan.dispatches if any(b.resource == "input" for b in d.bindings)]
        assert len(readers) > 1
        read = sum(params_of(d)["length"] * params_of(d)["sequences"] for d in readers)
        assert read == prod(shape)  # every element once


def test_strides_choose_the_way_to_read():
    rows = make_plan(selection((512, 512), [1], 1, values=False), GPU).dispatches[0]
    columns = make_plan(selection((512, 512), [0], 1, values=False), GPU).dispatches[0]
    scattered = selection((64, 64, 64), [0, 2], 1, values=False)
    elements = make_plan(scattered, GPU).dispatches[0]
    assert rows.kernel == "reduce" and dict(rows.constants)["SOURCE_ROWS"] == 1
    assert columns.kernel == "reduce_columns"
    assert elements.kernel == "reduce_columns" or dict(elements.constants)["SOURCE_ELEMENTS"] == 1
    broadcast = selection((64, 64), [1], 3, source=Layout((64, 64), (0, 1)))
    assert broadcast.batch[0].input_stride == 0
    assert make_plan(broadcast, GPU).dispatches


def test_neighbouring_dimensions_merge():
    s = selection((2, 3, 4, 5), [3], 2)
    assert [d.size for d in s.batch] == [24] and [a.size for a in s.axes] == [5]
    s = selection((2, 3, 4, 5), [0, 1, 2, 3], 1, values=False)
    assert s.batch == () and [a.size for a in s.axes] == [120]
    s = selection((2, 3, 4, 5), [1, 2], 1, values=False)
    assert [d.size for d in s.batch] == [2, 5] and [a.size for a in s.axes] == [12]


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize(
    ("invocations", "memory"), [(1024, 48 << 10), (512, 32 << 10), (512, 20992), (256, 32 << 10), (256, 16 << 10)]
)
def test_what_is_chosen_serves_long_sequences(invocations, memory, software):
    """No k comes to an algorithm that does not take it: along rows, with one element a load too, and down a few columns."""
    limits = Limits(1 << 30, 1 << 31, invocations, memory, software=software)
    for element, n, k in product(
        ("uint8", "float32", "int64"),
        (50_000, 100_003, 1 << 20, 3_000_001),
        (2, 65, 100, 256, 500, 1000, 1025, 1500, 2000, 3000, 4096),
    ):
        rows = selection((1, n), [1], k, element=element)
        strided = selection((1, n), [1], k, element=element, source=Layout((1, n), (2 * n, 2)))
        columns = selection((n, 3), [0], k, element=element)
        for problem, vectors in product((rows, strided, columns), (False, True)):
            assert make_plan(problem, limits, vectors=vectors).dispatches


@st.composite
def problems(draw):
    """Selections of up to 2^24 elements, their sizes spread by their logarithms, at limits from the least to a large GPU's."""
    sizes, room = [], 24.0
    for _ in range(draw(st.integers(1, 3))):
        bits = draw(st.floats(0, room))
        sizes.append(int(2**bits))
        room -= bits
    sizes = draw(st.permutations(sizes))
    axis = draw(st.integers(0, len(sizes) - 1))
    few = st.sampled_from(
        [n for n in (1, 2, 10, 31, 32, 64, 65, 128, 129, 256, 257, 1000, 1024, 1025, 4096, 4097) if n <= sizes[axis]]
    )
    k = draw(few | st.integers(1, sizes[axis]))
    step = draw(st.integers(1, 2))
    source = Layout(tuple(sizes), tuple(step * n for n in packed(sizes).strides))
    element = draw(st.sampled_from(["uint8", "float16", "float32", "int64", "float64"]))
    limits = Limits(
        1 << 30,
        1 << 31,
        *draw(
            st.sampled_from([(1024, 48 << 10), (1024, 32 << 10), (512, 20992), (256, 32 << 10), (256, 16 << 10), (128, 16 << 10)])
        ),
        software=draw(st.booleans()),
    )
    return selection(tuple(sizes), [axis], k, element=element, source=source), limits, draw(st.booleans())


@given(problems())
@settings(max_examples=1500, deadline=None)
def test_what_is_chosen_serves(problem):
    selection, limits, vectors = problem
    assert make_plan(selection, limits, vectors=vectors).dispatches


def test_fewer_loads_than_k_have_no_delegates():
    with pytest.raises(ValueError, match="not k=700"):
        make_plan(selection((50, 700), [1], 700, element="float16"), GPU, algorithm=Algorithm.DELEGATES)
    with pytest.raises(ValueError, match="at least k=2500"):
        make_plan(selection((3000, 64), [0], 2500), GPU, algorithm=Algorithm.DELEGATES)


@pytest.mark.parametrize("algorithm", [Algorithm.DELEGATES, Algorithm.LISTS])
def test_a_second_look_by_index_takes_one_axis(algorithm):
    """Where a box of several axes is cut along an inner one, an item's index no longer tells its place in the box."""
    with pytest.raises(ValueError, match="along one axis"):
        make_plan(selection((64, 500, 32), [0, 2], 1, values=False), GPU, algorithm=algorithm)


@pytest.mark.parametrize("algorithm", Algorithm)
def test_a_forced_algorithm_serves_or_says_why_not(algorithm):
    for shape, k in (((40,), 3), ((9, 700), 20), ((1, 100_000), 5000)):
        s = selection(shape, [len(shape) - 1], k)
        try:
            assert make_plan(s, GPU, algorithm=algorithm).algorithms[0] is algorithm
        except ValueError as error:
            assert str(error)


def test_last_index_only_where_it_is_known():
    s = replace(selection((1000,), [0], 1, values=False, order=Order.MAXIMUM), last_index=True)
    assert make_plan(s, GPU).algorithms[0] is Algorithm.REDUCE
    with pytest.raises(ValueError, match="first of equal"):
        make_plan(s, GPU, algorithm=Algorithm.RADIX_SELECT)


def test_too_little_room_is_a_memory_error_with_the_sizes():
    with pytest.raises(MemoryError, match=r"bytes of scratch.*largest buffer"):
        make_plan(selection((2**27,), [0], 2**27), replace(MINIMUM, max_buffer_size=1 << 20))


def test_equal_selections_make_equal_plans():
    one, two = (make_plan(selection((300, 4000), [1], 17), GPU) for _ in range(2))
    assert one == two and hash(one.dispatches[0]) == hash(two.dispatches[0])


def test_only_the_runtime_knows_wgpu():
    root = Path(wgdml.__file__).parent
    pure = [root / f"{name}.py" for name in ("contract", "selection", "shaders")] + sorted((root / "plan").glob("*.py"))
    assert len(pure) > 6
    for path in pure:
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                modules = [node.module or "", *(a.name for a in node.names)]
            assert not {m.split(".")[0] for m in modules} & {"wgpu", "runtime", "functions"}, path


@settings(max_examples=400, deadline=None)
@given(
    slots=st.integers(2, 64),
    rows=st.sampled_from([1, 2, 7, 8, 200, 9000]),
    k=st.integers(2, 3000),
    element=st.sampled_from(["float32", "uint8", "int64"]),
    limits=st.sampled_from([*ADAPTERS.values(), replace(GPU, subgroups=True)]),
)
def test_merges_of_blocks_have_plans(slots, rows, k, element, limits):
    """The partial results of blocks, k a row each, lie along two axes, which not every algorithm takes."""
    result = Layout((1, rows, k), (0, k, 1))
    source = Layout((slots, rows, k), (rows * k + 3, k, 1))
    s = make_selection(element, source, (0, 2), k, Order.DESCENDING, values=result, indices=result)
    with suppress(MemoryError):
        assert make_plan(replace(s, value_step=1, index_step=1), limits).dispatches
