"""The plan layer, without a GPU: what a plan binds, launches and needs, for all selections."""

import re
from dataclasses import replace
from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import ALGORITHMS, SPANS, STEPS, check_plan, kernels_of, make_plan, params_of, planner

from wgdml.plan import Machine, Plan
from wgdml.selection import Layout, Order, Selection, make_selection

MINIMUM = Machine()  # what every WebGPU adapter gives
GPU = Machine(2**31 - 4, 2**32 - 4096, 1024, 48 << 10)
CPU = Machine(128 << 20, 2**31 - 1, 1024, 32 << 10, kind="software")
packed = Layout.packed
ADAPTERS = {"minimum": MINIMUM, "gpu": GPU, "cpu": CPU}


def selection(shape, axes, k, *, element="float32", source=None, values=True, index_bytes=4, order=Order.DESCENDING):
    out = packed([k if d in axes else n for d, n in enumerate(shape)])
    return make_selection(
        element,
        source or packed(shape),
        axes,
        k,
        order,
        values=out if values else None,
        indices=out,
        index_bytes=index_bytes,
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


def assert_sound(plan: Plan, s: Selection, limits: Machine) -> None:
    """The plan keeps to the limits, reads the input and writes every output that is wanted."""
    check_plan(plan, limits)
    bound = {b.resource for d in plan.dispatches for b in d.bindings}
    wanted = {"input"} | {name for name, has in (("values", s.has_values), ("indices", s.has_indices)) if has}
    assert wanted <= bound <= wanted | {"scratch"}
    for d in plan.dispatches:
        assert dict(d.constants).get("WORKGROUP", 1) <= limits.max_compute_invocations_per_workgroup, d.kernel


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("element", ["float32", "uint8", "int64", "float16"])
def test_plans_keep_to_the_limits(adapter, element):
    limits = ADAPTERS[adapter]
    for shape, axes, k in SHAPES:
        s = selection(shape, axes, k, element=element, values=len(axes) == 1)
        try:
            plan = make_plan(s, limits)
        except MemoryError:
            assert adapter == "minimum" and k * s.sequences > 2**20, (shape, k)  # no room
            continue
        assert_sound(plan, s, limits)


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
    ):
        plan = make_plan(selection(shape, axis or [len(shape) - 1], k), GPU)
        assert plan.scratch_size <= 0.02 * 4 * prod(shape), (shape, k, plan.scratch_size)
    # A list of what is up to a sample's threshold has three pairs for each of the k.
    few = make_plan(selection((8, 131072), [1], 1000), GPU)
    assert few.scratch_size <= 0.055 * 4 * 8 * 131072
    for shape, k in (((2**20,), 100), ((2**20,), 1024), ((2**22,), 1000), ((64, 50_257), 50), ((1024, 1000), 5)):
        plan = make_plan(selection(shape, [len(shape) - 1], k), CPU)
        # A CPU's candidates are many, where reading them again takes less than another dispatch
        # would.
        assert plan.scratch_size <= 1.02 * 4 * prod(shape), (shape, k, plan.scratch_size)


def test_scratch_of_a_sort():
    n = 2**24
    both = make_plan(selection((n,), [0], n), GPU)
    assert both.scratch_size <= 1.05 * (4 * n + 4 * n) + 2 * n  # input, indices, and counts
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
    elements = make_plan(scattered, GPU, algorithm="reduce").dispatches[0]
    assert rows.kernel == "reduce/rows" and dict(rows.constants)["SOURCE_ROWS"] == 1
    assert columns.kernel == "reduce/columns"
    assert not dict(elements.constants)["SOURCE_ROWS"]
    assert [d.kernel for d in make_plan(scattered, GPU).dispatches] == ["reduce/rows", "reduce/rows"]
    broadcast = selection((64, 64), [1], 3, source=Layout((64, 64), (0, 1)))
    assert broadcast.batch[0].input_stride == 0
    assert_sound(make_plan(broadcast, GPU), broadcast, GPU)


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
    """No k comes to an algorithm that does not take it: rows, an element a load, few columns."""
    limits = Machine(1 << 30, 1 << 31, invocations, memory, kind="software" if software else "discrete")
    for element, n, k in product(
        ("uint8", "float32", "int64"),
        (50_000, 1 << 20, 3_000_001),
        (2, 65, 256, 500, 1025, 2000, 4096),
    ):
        rows = selection((1, n), [1], k, element=element)
        strided = selection((1, n), [1], k, element=element, source=Layout((1, n), (2 * n, 2)))
        columns = selection((n, 3), [0], k, element=element)
        for problem, vectors in product((rows, strided, columns), (False, True)):
            assert_sound(make_plan(problem, limits, vectors=vectors), problem, limits)


@st.composite
def problems(draw):
    """Selections of up to 2^24 elements, spread by logarithms, at limits from the least on."""
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
    limits = Machine(
        1 << 30,
        1 << 31,
        *draw(
            st.sampled_from([(1024, 48 << 10), (1024, 32 << 10), (512, 20992), (256, 32 << 10), (256, 16 << 10), (128, 16 << 10)])
        ),
        kind=draw(st.sampled_from(["software", "discrete"])),
    )
    return selection(tuple(sizes), [axis], k, element=element, source=source), limits, draw(st.booleans())


@given(problems())
@settings(max_examples=600, deadline=None)
def test_what_is_chosen_serves(problem):
    selection, limits, vectors = problem
    assert_sound(make_plan(selection, limits, vectors=vectors), selection, limits)


def test_fewer_loads_than_k_have_no_delegates():
    with pytest.raises(ValueError, match="not k=700"):
        make_plan(selection((50, 700), [1], 700, element="float16"), GPU, algorithm="delegates")
    with pytest.raises(ValueError, match="not k=2500"):
        make_plan(selection((3000, 64), [0], 2500), GPU, algorithm="delegates")


@pytest.mark.parametrize("algorithm", ["delegates", "select_lists"])
def test_a_second_look_by_index_takes_one_axis(algorithm):
    """Where a box of axes is cut along an inner one, an index no longer tells its place in it."""
    with pytest.raises(ValueError, match="along one axis"):
        make_plan(selection((64, 500, 32), [0, 2], 1, values=False), GPU, algorithm=algorithm)


@pytest.mark.parametrize("algorithm", sorted({*ALGORITHMS} - STEPS - SPANS))
def test_a_forced_algorithm_serves_or_says_why_not(algorithm):
    served = 0
    rows = [((40,), 1), ((40,), 3), ((9, 700), 9), ((9, 700), 20), ((1, 100_000), 5000)]
    problems = [(shape, [len(shape) - 1], k) for shape, k in rows]
    for shape, axes, k in (*problems, ((700, 9), [0], 20), ((700, 9), [0], 7), ((20, 3, 2), [0, 2], 1)):
        s = selection(shape, axes, k)
        try:
            plan = make_plan(s, GPU, algorithm=algorithm)
        except ValueError as error:
            assert re.search(rf"\b({k}|{s.length})\b|ax[ei]s", str(error)), error
        else:
            assert plan.algorithms[0] == algorithm
            assert_sound(plan, s, GPU)
            served += 1
    assert served


def test_last_index_only_where_it_is_known():
    s = replace(selection((1000,), [0], 1, values=False, order=Order.MAXIMUM), last_index=True)
    assert make_plan(s, GPU).algorithms == ("reduce",)
    with pytest.raises(ValueError, match="first of equal"):
        make_plan(s, GPU, algorithm="radix_select")


def test_too_little_room_is_a_memory_error_with_the_sizes():
    with pytest.raises(MemoryError, match=r"bytes of scratch.*largest buffer"):
        make_plan(selection((2**27,), [0], 2**27), replace(MINIMUM, max_buffer_size=1 << 20))


def test_equal_selections_make_equal_plans():
    one, two = (make_plan(selection((300, 4000), [1], 17), GPU) for _ in range(2))
    assert one == two and hash(one.dispatches[0]) == hash(two.dispatches[0])


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize(
    "elements", [("int8", "uint8", "bool"), ("int16", "uint16"), ("float16", "bfloat16"), ("int32", "uint32"), ("int64", "uint64")]
)
def test_types_of_a_size_and_directions_share_kernels(elements, software):
    """Of floats those directions that have NaNs at the same end: argmax and argmin."""
    limits, floats = Machine(kind="software" if software else "discrete"), "float" in elements[0]
    orders = (Order.MAXIMUM, Order.MINIMUM) if floats else (Order.DESCENDING, Order.ASCENDING)
    for (rows, n), k in product(((3, 100), (70, 5000), (1, 1 << 20)), (1,) if floats else (1, 9, 300)):
        most = min(k, n)
        x, result = Layout((rows, n), (n, 1)), Layout((rows, most), (most, 1))
        kernels = {
            kernels_of(make_plan(make_selection(element, x, [1], most, order, values=result, indices=result), limits))
            for element, order in product(elements, orders)
        }
        assert len(kernels) == 1, (rows, n, k)


def test_parts_of_a_running_top_k_are_as_many_as_are_counted():
    """Arrivals are counted in sixteen bits, whatever a profile says of the machine."""
    from wgdml.plan.running import Rows, update_plan

    machine = replace(GPU, max_storage_buffer_binding_size=(4 << 30) - 4, max_compute_invocations_per_workgroup=256)
    own = planner(machine, {"occupancy": {"workgroups": 1 << 20}})
    layout = Layout((3 << 28,), (1,))
    row = make_selection("float32", layout, [0], 10, Order.DESCENDING, values=None, indices=Layout((1,), (1,)))
    rows = Rows("float32", Order.DESCENDING, 1, 10)
    (dispatch,) = update_plan(own, rows, row, 0, True, vectors=True, shared_input=False).dispatches
    assert dispatch.kernel == "running/update" and dispatch.grid == (0xFFFF, 1, 1)


def test_no_algorithm_of_a_name():
    with pytest.raises(ValueError, match=r"algorithm must be one of .*select_teams.*, not 'bitonic'"):
        make_plan(selection((4, 100), [1], 5), GPU, algorithm="bitonic")
