"""Tensors at every limit: the largest works, one more is refused with the sizes, work goes on."""

from __future__ import annotations

import os
import re
import sys
from math import prod

import numpy as np
import oracle
import pytest
import wgpu
from checks import STORAGE, operator_of, python
from planning import ALGORITHMS, COLUMNS, SPANS, STEPS, make_plan, planned_device
from test_fuzz import run_operator

import wgdml
from wgdml import DataType, TensorDesc
from wgdml.plan import Machine
from wgdml.plan.program import _grid
from wgdml.selection import Layout, Order, make_selection

pytestmark = pytest.mark.usefixtures("room")

SMALL = np.arange(10, dtype=np.float32)


def tells_of_no_memory(device: wgdml.Device) -> bool:
    """Can a limit on the host's memory show what happens without any?

    Software adapters have the host's. Mesa's of 22.3 tells; that of 25.0 ends the process
    (docs/driver-bugs.md#mesa-a-software-adapter-without-memory-ends-the-process).
    """
    version = re.search(r"Mesa (\d+)", device.adapter_info.get("description", ""))
    return device.adapter_info["adapter_type"] == "CPU" and (version is None or int(version[1]) < 25)


def usable(device: wgdml.Device) -> None:
    assert wgdml.argmax(SMALL, device=device) == 9


def free_memory() -> int:
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


# Bindings and buffers ----------------------------------------------------------------------------


@pytest.mark.parametrize("software", [True, False])
@pytest.mark.parametrize(("name", "k"), [("float64", 300), ("float16", 700)])
def test_ranks_that_lie_far_apart(device, software, name, k):
    """A binding has room for fewer ranks than lie between two places where bindings may begin."""
    own, _ = planned_device(device, None, software, limits={"max_storage_buffer_binding_size": 1 << 16})
    x = np.random.default_rng(k).standard_normal(1000).astype(name)
    step = 1000 // x.itemsize
    held = own.gpu_device.create_buffer(size=1000 * k, usage=STORAGE)
    values = wgdml.Tensor.from_buffer(held, name, (k,), (step,), device=own)
    indices = wgdml.empty((k,), "int64", device=own)
    wgdml.top_k(wgdml.asarray(x, device=own), k, out=(values, indices))
    order = np.argsort(-x, kind="stable")[:k]
    assert np.array_equal(indices.numpy(), order)
    oracle.assert_same(np.ascontiguousarray(values.numpy()), x[order])


@pytest.mark.parametrize("software", [True, False])
@pytest.mark.parametrize(("shape", "most"), [((2, 14000), 200), ((3, 7000), 200), ((5, 5000), 1 << 13)])
def test_columns_that_reach_over_bindings(device, software, shape, most):
    """Whole ones fit a binding, and few dispatches serve them, or they do not."""
    own, planned = planned_device(device, None, software, limits={"max_storage_buffer_binding_size": 1 << 16})
    x = np.random.default_rng(most).integers(-9, 9, shape).astype(np.float32)
    place = shape[0] // 2
    ordered = np.sort(x, axis=0)
    assert np.array_equal(wgdml.sort(x, axis=0, device=own), ordered)
    assert np.array_equal(wgdml.argsort(x, axis=0, device=own), np.argsort(x, axis=0, kind="stable"))
    parted = wgdml.partition(x, place, axis=0, device=own)
    assert np.array_equal(parted[place], ordered[place])
    assert np.array_equal(np.sort(parted, axis=0), ordered)
    assert all(len(plan.dispatches) <= most for plan in planned.plans)


@pytest.mark.parametrize(("software", "columns"), [(True, 14000), (False, 14000), (False, 15000)])
def test_payloads_of_columns_that_reach_over_bindings(device, software, columns):
    own, _ = planned_device(device, None, software, limits={"max_storage_buffer_binding_size": 1 << 16})
    x = np.random.default_rng(4).integers(-9, 9, (2, columns)).astype(np.float32)
    payload = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    order = np.argsort(x, axis=0, kind="stable")
    assert np.array_equal(wgdml.sort(x, payload, axis=0, device=own)[1], np.take_along_axis(payload, order, 0))
    wide = np.zeros((2, 17000), np.float32)
    with pytest.raises(MemoryError, match="must fit a binding of 65024 bytes, and reach over 68004"):
        wgdml.sort(wide, wide, axis=0, device=own)


@pytest.mark.parametrize("over", [-4, 0, 4, 256])
def test_around_one_binding(device, over):
    """Bytes as many as one binding reaches, a little less and a little more; the last one wins."""
    count = min(device.limits["max-storage-buffer-binding-size"], 128 << 20) // 4 * 4 + over
    buffer = device.gpu_device.create_buffer(size=-(-count // 16) * 16, usage=STORAGE)
    tail = np.arange(1, 5, dtype=np.uint8)
    device.gpu_device.queue.write_buffer(buffer, count - 4, tail)
    tensor = wgdml.Tensor.from_buffer(buffer, "uint8", (count,), device=device)
    assert int(wgdml.argmax(tensor, device=device).numpy()) == count - 1
    assert int(wgdml.argmin(tensor, device=device, select_last_index=True).numpy()) == count - 5
    values, indices = wgdml.top_k(tensor, 6, device=device)
    assert values.numpy().tolist() == [4, 3, 2, 1, 0, 0]
    assert indices.numpy().tolist() == [count - 1, count - 2, count - 3, count - 4, 0, 1]
    buffer.destroy()


@pytest.mark.parametrize("most", [1 << 31, 1 << 32], ids=["2^31", "2^32"])
def test_the_largest_buffer(device, most):
    """As large as the adapter has them, up to 2^31 and 2^32 bytes, and a third of free memory.

    A software adapter's memory is the host's, and is taken as it is read: there the last 512 MiB.
    """
    if most > max(1 << 31, device.limits["max-buffer-size"]):
        with pytest.raises(MemoryError, match=str(most)):
            device.buffers.allocate("x", most)
        usable(device)
        return
    limit = min(device.limits["max-buffer-size"], most, free_memory() // 3) // 16 * 16
    try:
        buffer = device.gpu_device.create_buffer(size=limit, usage=STORAGE)
    except wgpu.GPUError as error:
        # SwiftShader's memory is a little smaller than its largest buffer: docs/driver-bugs.md.
        assert "Not enough memory" in str(error) and "SwiftShader" in device.adapter_info["device"]
        limit -= 16
        buffer = device.gpu_device.create_buffer(size=limit, usage=STORAGE)
    device.gpu_device.queue.write_buffer(buffer, limit - 8, np.array([7, 9], np.uint32))
    try:
        start = max(0, limit - (512 << 20)) if device.adapter_info["adapter_type"] == "CPU" else 0
        count = (limit - start) // 4
        tensor = wgdml.Tensor.from_buffer(buffer, "uint32", (count,), offset=start, device=device)
        assert int(wgdml.argmax(tensor, device=device).numpy()) == count - 1
        end = wgdml.Tensor.from_buffer(buffer, "uint64", (1,), offset=limit - 8, device=device)
        assert end.numpy().tolist() == [(9 << 32) | 7]
        with pytest.raises(ValueError, match="too small"):
            wgdml.Tensor.from_buffer(buffer, "uint64", (2,), offset=limit - 8, device=device)
    finally:
        buffer.destroy()


@pytest.mark.parametrize("most", [3 << 20, (1 << 20) + 4])
def test_what_fits_a_small_largest_buffer_goes_in_and_out(device, most):
    """Also several results at once, which are more bytes than the largest buffer has."""
    limits = {"max-buffer-size": most, "max-storage-buffer-binding-size": 1 << 20}
    own = wgdml.Device(device.gpu_device.adapter.request_device_sync(required_limits=limits))
    x = np.random.default_rng(most).integers(0, 1000, most // 4).astype(np.int32)
    assert wgdml.argmax(x, device=own) == x.argmax()
    tensor = wgdml.asarray(x, device=own)
    for found in wgdml.to_numpy(tensor, tensor, tensor):
        oracle.assert_same(found, x)


def test_over_the_largest_buffer(device):
    most = device.limits["max-buffer-size"]
    wide = np.broadcast_to(np.uint8(1), (1, most + 4))  # a byte of host memory
    with pytest.raises(MemoryError, match=str(most)):
        wgdml.asarray(wide, device=device)
    usable(device)
    # A result may be over it where the input is not: eight bytes of index for every element.
    tensor = wgdml.asarray(SMALL[:1], device=device).broadcast_to((most // 8 + 1,))
    with pytest.raises(MemoryError, match=str(most)):
        wgdml.argsort(tensor, device=device)
    usable(device)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("x", lambda x, wide, device: wgdml.sort(wide, device=device)),
        ("payload", lambda x, wide, device: wgdml.sort(x, wide, device=device)),
        ("indices", lambda x, wide, device: wgdml.top_k(x, 2, indices=wide, device=device)),
        ("lengths", lambda x, wide, device: wgdml.top_k(x[0], 2, lengths=wide, device=device)),
        ("indices", lambda x, wide, device: wgdml.take_along_axis(x, wide, device=device)),
        (r"keys\[0\]", lambda x, wide, device: wgdml.lexsort([wide, x], index_dtype="int32", device=device)),
    ],
)
def test_what_is_over_the_largest_buffer_is_named(device, monkeypatch, name, call):
    x, wide = np.zeros((1000, 10), np.int8), np.ones((1000, 10), np.int64)
    with monkeypatch.context() as patch:
        patch.setitem(device.context.limits, "max-buffer-size", 1 << 16)
        with pytest.raises(MemoryError, match=f"^{name} of 80000 bytes"):
            call(x, wide, device)
    usable(device)


def test_a_largest_buffer_that_is_no_whole_word(device, monkeypatch):
    """Buffers are of whole words: of the last bytes of such a limit there would be no memory."""
    x = np.arange((1 << 16) + 2, dtype=np.uint32).astype(np.uint8)
    x[-1] = 255
    x[: len(x) - 1] = np.minimum(x[: len(x) - 1], 254)
    with monkeypatch.context() as patch:
        patch.setitem(device.context.limits, "max-buffer-size", (1 << 16) + 3)
        assert wgdml.argmax(x, device=device) == len(x) - 1  # by blocks
        with pytest.raises(MemoryError, match=f"of {len(x)} bytes is over .* of 65539 bytes, in whole words"):
            wgdml.empty((len(x),), np.uint8, device=device)
    usable(device)


# Counts ------------------------------------------------------------------------------------------


def test_as_many_elements_as_there_may_be(monkeypatch):
    """2^32 - 1 elements: a desc takes them, and what has no room for them is refused."""
    monkeypatch.setenv("WGDML_LIMITS", "minimum")  # other devices may have the room
    device = wgdml.Device()
    count = (1 << 32) - 1
    source = TensorDesc(DataType.UINT8, (count,))
    assert source.total_tensor_size_in_bytes == 1 << 32
    desc = wgdml.ArgmaxOperatorDesc(source, TensorDesc(DataType.UINT32, (1,)), (0,))
    operator = device.create_operator(desc)
    with pytest.raises(ValueError, match=r"input_tensor.* is 4294967296; it must be at most 268435456"):
        device.compile_operator(operator)
    with pytest.raises(MemoryError):
        wgdml.asarray(np.broadcast_to(np.uint8(0), (count,)), device=device)
    wide = wgdml.asarray(np.zeros(1, np.uint8), device=device).broadcast_to((count,))
    for call in (wgdml.sort, wgdml.argsort, lambda x, **rest: wgdml.top_k(x, count, **rest)):
        with pytest.raises(MemoryError, match=r"\d{10}.*268435456"):
            call(wide, device=device)
    usable(device)


def test_more_workgroups_than_a_dimension_has(device):
    """Rows enough for a grid of two dimensions."""
    rows = 65_536 * 64 + 3
    x = np.zeros((rows, 2), np.uint8)
    x[::3, 1] = 1
    wanted = x.argmax(1)
    oracle.assert_same(wgdml.argmax(x, axis=1, index_dtype="uint32", device=device), wanted.astype(np.uint32))
    values = wgdml.sort(x, device=device)
    assert np.array_equal(values, np.sort(x, axis=1))


@pytest.mark.parametrize("algorithm", sorted({*ALGORITHMS} - STEPS - SPANS))
def test_grids_are_folded(algorithm):
    most = 70
    limits = Machine(max_compute_workgroups_per_dimension=most)
    k = 1 if "reduce" in algorithm else 3
    source, out = Layout((4, 5000, 10), (50_000, 10, 1)), Layout((1, 5000, k), (5000 * k, k, 1))
    axes = (0, 2) if algorithm == "reduce_axes" else (2,)
    source, out = (source, out) if len(axes) == 2 else (Layout((1, 5000, 40), (0, 40, 1)), out)
    if algorithm in COLUMNS:
        source, out, axes = Layout((1, 40, 5000), (0, 5000, 1)), Layout((1, k, 5000), (0, 5000, 1)), (1,)
    if algorithm == "sample_select":
        k, source, out = 300, Layout((1, 2000, 9000), (0, 9000, 1)), Layout((1, 2000, 300), (0, 300, 1))
    if algorithm == "sample_sort":  # It takes no more than processors.
        k, source, out = 40, Layout((1, 100, 40), (0, 40, 1)), Layout((1, 100, 40), (0, 40, 1))
    selection = make_selection("float32", source, axes, k, Order.DESCENDING, values=out, indices=out)
    plan = make_plan(selection, limits, algorithm=algorithm)
    assert all(1 <= count <= most for dispatch in plan.dispatches for count in dispatch.grid), plan.dispatches


@pytest.mark.parametrize("most", [70, 65535])
def test_folded_grids_hold_hardly_more_than_they_must(most):
    for workgroups in (1, most, most + 1, 75_000, 131_071, 2 * most**2 + 1, most**3):
        if workgroups <= most**3:
            grid = _grid(workgroups, most)
            assert all(1 <= count <= most for count in grid)
            assert workgroups <= prod(grid) < workgroups + grid[1] * grid[2], (workgroups, grid)


# Outputs -----------------------------------------------------------------------------------------


def written(number: int, data_type: DataType, rows: int, size: int, k: int) -> wgdml.TopK1OperatorDesc:
    """Top-k of rows into strided outputs."""
    source = TensorDesc(data_type, (rows, size), (size + 3, 1))
    values = TensorDesc(data_type, (rows, k), (2 * k + 3, 2))
    indices = TensorDesc((DataType.UINT32, DataType.UINT64)[number % 2], (rows, k), (1, rows + 1))
    return wgdml.TopK1OperatorDesc(source, values, indices, 1, k, wgdml.AxisDirection.DECREASING)


def written_by_argmax(source: TensorDesc, found: TensorDesc, axes: tuple[int, ...]) -> wgdml.ArgmaxOperatorDesc:
    return wgdml.ArgmaxOperatorDesc(source, found, axes, wgdml.AxisDirection.INCREASING)


#: For every algorithm some that it serves.
WRITTEN = (
    written(0, DataType.FLOAT16, 13, 5_003, 37),
    written(1, DataType.UINT8, 1301, 90, 7),
    written(2, DataType.FLOAT32, 21, 900, 900),
    written(3, DataType.INT64, 1, 20_000, 1_501),
    written(4, DataType.INT8, 5, 30_001, 1),
    written_by_argmax(TensorDesc(DataType.FLOAT32, (7, 40_000)), TensorDesc(DataType.INT64, (7, 1), (3, 1)), (1,)),
    written_by_argmax(
        TensorDesc(DataType.FLOAT32, (9, 7, 200), (1500, 211, 1)), TensorDesc(DataType.INT64, (1, 7, 1), (9, 3, 1)), (0, 2)
    ),
    wgdml.TopK1OperatorDesc(
        TensorDesc(DataType.FLOAT16, (90, 14), (15, 1)),
        TensorDesc(DataType.FLOAT16, (7, 14), (31, 2)),
        TensorDesc(DataType.UINT32, (7, 14), (1, 9)),
        0,
        7,
        wgdml.AxisDirection.DECREASING,
    ),
)


@pytest.mark.parametrize(("turn", "algorithm"), list(enumerate(sorted({*ALGORITHMS} - STEPS - SPANS))))
def test_no_algorithm_writes_outside_its_outputs(device, turn, algorithm):
    """Guards around the outputs and in their padding, also where a tensor exceeds a binding.

    All kernels write by few functions, and each case is kernels of its own. So an algorithm takes
    three of those that it serves, one binding and windows in turn.
    """
    devices = [
        planned_device(device, algorithm, None, limits=limits)[0]
        # Some have counters of more than such a binding.
        for limits in ({}, {"max_storage_buffer_binding_size": 1 << 16})
    ]
    served = [0, 0]
    for number, desc in sorted(enumerate(WRITTEN), key=lambda one: (one[0] + turn) % 2):
        if sum(served) == 3:
            break
        for windows in sorted((1, 0), key=served.__getitem__):
            own = devices[windows]
            try:
                operator_of(own, desc)
            except (ValueError, MemoryError):
                continue
            run_operator(own, desc, ("eight_values", "random")[number % 2], number, 3, 100, together=False)
            served[windows] += 1
            break
    assert sum(served), "the algorithm serves none"
    assert served[1] or sum(served) < 2, "no tensor exceeded a binding"


# Memory ------------------------------------------------------------------------------------------


def test_scratch_over_the_largest_buffer():
    limits = Machine(max_buffer_size=1 << 20)
    source = Layout((1, 1 << 20), (1 << 20, 1))
    selection = make_selection("float32", source, (1,), 1 << 20, Order.ASCENDING, values=source, indices=None)
    with pytest.raises(MemoryError, match=r"scratch.*1048576"):
        make_plan(selection, limits)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not keep to RLIMIT_AS")
def test_no_memory_left(device):
    """The driver itself runs out: MemoryError that names the size, and the device works on."""
    if not tells_of_no_memory(device):
        return
    script = """
        import resource
        import numpy as np, wgdml
        device = wgdml.default_device()
        x = np.arange(1000.0)
        assert wgdml.argmax(x) == 999
        pages = int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + (160 << 20),) * 2)
        kept = []
        try:
            for _ in range(40):
                kept.append(wgdml.asarray(np.broadcast_to(np.float32(1), (6 << 20,)), device=device))
            print("no limit")
        except MemoryError as error:
            print("MemoryError", error)
        kept.clear()
        assert wgdml.argmax(x) == 999
        print("usable")
    """
    first, last = python(script).splitlines()
    assert first.startswith("MemoryError") and last == "usable"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not keep to RLIMIT_AS")
def test_memory_that_submitted_work_still_uses(device):
    """Pooled buffers make room while work with them runs: wgpu frees none before it is done."""
    if not tells_of_no_memory(device):
        return
    script = """
        import resource
        import numpy as np, wgdml
        device = wgdml.default_device()
        x = np.arange(1000.0)
        assert wgdml.argmax(x) == 999
        tensors = [wgdml.asarray(np.zeros(6 << 20, np.float32), device=device) for _ in range(5)]
        results = [wgdml.sort(tensor) for tensor in tensors]
        del tensors, results
        assert device.buffers.pool.bytes >= 240 << 20
        pages = int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + (48 << 20),) * 2)
        try:
            memory = device.buffers.allocate("x", 136 << 20)  # more than the blocks of 128 MB in which wgpu asks for memory
            assert memory.buffer.size == 136 << 20
        except MemoryError:
            # OpenGL's driver keeps what it frees in pieces.
            assert device.adapter_info["backend_type"] == "OpenGL"
        assert not device.buffers.pool.bytes
        assert wgdml.argmax(x) == 999
    """
    python(script)
