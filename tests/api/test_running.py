"""A running top-k: the same answer whatever the batches, merged, replayed, and with ids."""

import data
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planning import planned_device

import wgdml

RNG = np.random.default_rng(24)


def batches(x, sizes):
    """x in parts of these sizes along the last dimension, and the rest."""
    return np.split(x, np.cumsum(sizes), -1)


def check(running, x, k, largest=True, nan_last=False, ids=None):
    """The first k of all items, or all of them and what stands for no pair."""
    values, indices = wgdml.to_numpy(*running.result())
    count = min(k, x.shape[-1])
    want = oracle.top_k(x, count, -1, largest, nan_last)
    oracle.assert_same(values[..., :count], want[0])
    chosen = want[1] if ids is None else np.take_along_axis(np.broadcast_to(ids, x.shape), want[1], -1)
    oracle.assert_same(indices[..., :count], chosen.astype(np.int64))
    assert (indices[..., count:] == -1).all()


@pytest.fixture(scope="module", params=["adapter", "gpu"])
def planned(request, device):
    return device if request.param == "adapter" else planned_device(device)[0]


@pytest.mark.parametrize(
    ("planned", "number", "name"),
    [("adapter", number, name) for number, name in enumerate(oracle.DTYPES)]
    + [("gpu", number, name) for number, name in enumerate(("uint8", "float16", "float32", "int32", "int64", "float64"))],
    indirect=["planned"],
)
def test_every_type_and_hostile_data(planned, number, name):
    """Each direction is kernels of its own, and so is each place of NaN: types take two in turn."""
    for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        x = data.make(kind, name, (2, 700), seed)
        mode, nan = ("largest", "smallest")[seed % 2], ("greatest", "last")[(seed + number) % 2]
        running = wgdml.RunningTopK(60, name, 2, mode=mode, nan=nan, device=planned)
        for part in batches(x, (1, 30, 0, 400)):
            running.update(part)
        check(running, x, 60, mode == "largest", nan == "last")


@given(st.lists(st.integers(0, 300), max_size=6), st.integers(1, 400), st.sampled_from([(), (1,), (3, 2)]))
def test_any_batches(device, sizes, k, batch):
    x = np.random.default_rng(k).integers(0, 50, (*batch, sum(sizes) + 1)).astype(np.int16)
    running = wgdml.RunningTopK(k, np.int16, batch)
    for part in batches(x, sizes):
        running.update(part)
    check(running, x, k)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint64", "uint32", "int8"])
def test_ids(device, dtype):
    x = RNG.integers(0, 9, (3, 200)).astype(np.float32)
    ids = RNG.integers(0 if dtype[0] == "u" else -100, 100, 200).astype(dtype)
    ids = np.iinfo(dtype).max - ids.astype(np.uint64) if dtype[0] == "u" else ids
    ids = ids.astype(dtype)
    running = wgdml.RunningTopK(20, "float32", 3)
    for part, own in zip(batches(x, (50, 60)), batches(ids, (50, 60)), strict=True):
        running.update(part, own)
    check(running, x, 20, ids=ids)
    running.reset()
    tensor = wgdml.asarray(np.repeat(ids.astype(np.int64)[:, None], 3, 1)).T  # strided
    running.update(wgdml.asarray(x), tensor)
    check(running, x, 20, ids=ids)
    running.reset()
    running.update(x, np.int32([[1], [2], [3]]))
    assert (running.result().indices.numpy() == [[1], [2], [3]]).all()
    assert running.result(index_dtype="uint32").indices.numpy().dtype == np.uint32


def test_strided_tensors_keep_their_sequences(planned):
    x = RNG.normal(size=(100, 4, 3)).astype(np.float32)
    running = wgdml.RunningTopK(9, "float32", (4, 3), device=planned)
    running.update(wgdml.asarray(x, device=planned).transpose(1, 2, 0))
    whole = np.ascontiguousarray(x.transpose(1, 2, 0))
    check(running, whole, 9)
    more = RNG.normal(size=(4, 3, 50)).astype(np.float32)
    running.update(more)
    running.update(wgdml.asarray(np.asfortranarray(more).T.copy(), device=planned).T)
    check(running, np.concatenate([whole, more, more], -1), 9)


def test_positions_pass_2_to_the_32(device):
    x = np.float32([1, 5, 3])
    running = wgdml.RunningTopK(4, "float32")
    running.update(x)
    first = 2**33 - 2
    device.gpu_device.queue.write_buffer(running._state.buffer, 0, np.array([first], np.uint64))
    running.update(x + 1)
    values, indices = wgdml.to_numpy(*running.result())
    assert values.tolist() == [6, 5, 4, 3] and indices.tolist() == [first + 1, 1, first + 2, 2]


def test_merge(planned):
    for k in (1, 7, 300):
        x = RNG.integers(0, 20, (2, 500)).astype(np.int32)
        parts = batches(x, (180, 3, 200))
        each = []
        for part in parts:
            each.append(wgdml.RunningTopK(k, "int32", 2, mode="smallest", device=planned))
            each[-1].update(part)
        for other in each[1:]:
            each[0].merge(other)
        check(each[0], x, k, largest=False)
        each[0].merge(wgdml.RunningTopK(k, "int32", 2, mode="smallest", device=planned))  # nothing
        check(each[0], x, k, largest=False)
    a, b = (wgdml.RunningTopK(2, "float32", device=planned) for _ in range(2))
    a.update(np.float32([1, 2]), [10, 20])
    b.update(np.float32([2, 3]), [-30, 40])
    a.merge(b)
    assert a.result().indices.numpy().tolist() == [40, 20]
    b.reset()
    b.merge(a)
    assert b.result().indices.numpy().tolist() == [40, 20]


def test_an_encoder_that_has_ended_is_refused(device):
    encoder = device.gpu_device.create_command_encoder()
    running, tensor = wgdml.RunningTopK(3, "float32"), wgdml.asarray(np.zeros(9, np.float32))
    encoder.finish()
    with pytest.raises(ValueError, match=r"^encoder cannot be recorded into: it has ended already$"):
        running.record_update(encoder, tensor)
    with pytest.raises(ValueError, match=r"it has ended already$"):
        running.record_update(encoder, tensor, wgdml.asarray(np.arange(9)))
    running.update(tensor)  # without ids, as nothing was recorded
    assert running.result().indices.numpy().tolist() == [0, 1, 2]


@pytest.mark.parametrize("error", [MemoryError, wgdml.DeviceLostError, KeyboardInterrupt])
@pytest.mark.parametrize("way", ["update", "record_update", "merge"])
def test_what_failed_is_not_counted(device, monkeypatch, way, error):
    running, other = wgdml.RunningTopK(3, "float32"), wgdml.RunningTopK(3, "float32")
    tensor, ids = wgdml.asarray(np.zeros(9, np.float32)), wgdml.asarray(np.arange(9))
    other.update(tensor, ids)

    def fails(*_, **__):
        raise error

    with monkeypatch.context() as patch, pytest.raises(error):
        patch.setattr(running.device, "record" if way == "record_update" else "run", fails)
        if way == "update":
            running.update(tensor, ids)
        elif way == "merge":
            running.merge(other)
        else:
            running.record_update(device.gpu_device.create_command_encoder(), tensor, ids)
    assert running._count == 0
    running.update(tensor)  # without ids, as nothing was taken
    assert running.result(index_dtype="int32").indices.numpy().tolist() == [0, 1, 2]


def test_blocks_that_were_taken_before_one_failed_stay(device, monkeypatch):
    small, _ = planned_device(device, limits={"max_storage_buffer_binding_size": 64 << 10, "max_buffer_size": 1 << 20})
    running = wgdml.RunningTopK(3, "float32", device=small)
    run, calls = small.run, []

    def fails_later(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise MemoryError("no room")
        run(*arguments)

    monkeypatch.setattr(small, "run", fails_later)
    x, ids = np.arange(30_000, dtype=np.float32), np.arange(30_000) + 2**40
    with pytest.raises(MemoryError):
        running.update(x, ids)
    assert 0 < running._count < 30_000
    values, indices = running.result()
    assert np.array_equal(indices.numpy(), values.numpy().astype(np.int64) + 2**40)
    assert values.numpy()[0] == running._count - 1
    with pytest.raises(ValueError, match="indices must be given with all items, as before"):
        running.update(x)


def test_recorded_updates_go_on_as_submissions_do(device):
    x = RNG.normal(size=(2, 3, 100)).astype(np.float32)
    ids = RNG.integers(0, 99, (3, 100))
    running = wgdml.RunningTopK(12, "float32", 3)
    tensor = wgdml.asarray(x[0])
    encoder = device.gpu_device.create_command_encoder()
    running.record_update(encoder, tensor)
    device.gpu_device.queue.submit([encoder.finish()])
    encoder = device.gpu_device.create_command_encoder()
    with_pass = encoder.begin_compute_pass()
    running.record_update(with_pass, tensor)
    running.record_update(with_pass, tensor)
    with_pass.end()
    device.gpu_device.queue.write_buffer(tensor.buffer, 0, x[1])  # as they are when it runs
    device.gpu_device.queue.submit([encoder.finish()])
    check(running, np.concatenate([x[0], x[1], x[1]], -1), 12)
    running.reset()
    encoder = device.gpu_device.create_command_encoder()
    running.record_update(encoder, tensor, wgdml.asarray(ids))
    device.gpu_device.queue.submit([encoder.finish()])
    check(running, x[1], 12, ids=ids)


def test_what_does_not_fit_a_binding_goes_in_parts(device):
    small, _ = planned_device(device, limits={"max_storage_buffer_binding_size": 128 << 10, "max_buffer_size": 1 << 20})
    x = RNG.normal(size=(3, 60_000)).astype(np.float32)
    for ids in (None, RNG.integers(-(2**60), 2**60, 60_000)):
        for given_ in (x, wgdml.asarray(x, device=small)):
            running = wgdml.RunningTopK(200, "float32", 3, device=small)
            running.update(given_, ids)
            check(running, x, 200, ids=ids)


def test_a_state_that_exceeds_the_planned_binding_is_refused(device):
    small, _ = planned_device(device, limits={"max_storage_buffer_binding_size": 64 << 10})
    with pytest.raises(MemoryError, match="over this device's 65536"):
        wgdml.RunningTopK(10_000, "float32", device=small)


@pytest.mark.parametrize("software", [True, False])
def test_ids_that_reach_beyond_a_binding_are_the_items_own(device, software):
    """Tensors of ids exceed a binding in all, in a sequence by its step, or between sequences."""
    small, _ = planned_device(device, None, software, limits={"max_storage_buffer_binding_size": 128 << 10})
    shape = (3, 20_000)
    x, ids = RNG.normal(size=shape).astype(np.float32), RNG.integers(0, 2**31, shape)
    layouts = (("uint32", (20_000, 1)), ("int64", (20_000, 1)), ("int32", (60_001, 3)), ("int64", (1, 3)), ("int32", (90_000, 1)))
    for dtype, strides in layouts:
        place, last = np.int64(strides), np.int64(shape) - 1
        memory = np.zeros(7 + last @ place + 1, dtype)
        np.lib.stride_tricks.as_strided(memory[7:], shape, place * memory.itemsize)[...] = ids
        own = wgdml.Tensor.from_buffer(
            wgdml.asarray(memory, device=small).buffer, dtype, shape, strides, 7 * memory.itemsize, device=small
        )
        running = wgdml.RunningTopK(20, "float32", 3, device=small)
        for _ in range(2):  # the second into rows that are full
            running.update(wgdml.asarray(x, device=small), own)
        check(running, np.concatenate([x, x], -1), 20, ids=np.concatenate([ids, ids], -1))
    running = wgdml.RunningTopK(20, "float32", 3, device=small)
    one = wgdml.Tensor.from_buffer(own.buffer, "int32", (3, 1), (40_000, 40_000), 28, device=small)
    running.update(wgdml.asarray(x, device=small), one)  # one of each sequence: no step is made
    check(running, x, 20, ids=np.broadcast_to(one.numpy(), shape))


def test_no_items_and_no_sequences(planned):
    running = wgdml.RunningTopK(3, "float32", (2,), device=planned)
    running.update(np.empty((2, 0), np.float32))
    values, indices = wgdml.to_numpy(*running.result())
    assert (values == -np.inf).all() and (indices == -1).all()
    running.update(np.float32([[1], [2]]), [5])
    assert running.result().indices.numpy()[:, 0].tolist() == [5, 5]
    assert wgdml.RunningTopK(3, "float32", (0, 2), device=planned).result().values.shape == (0, 2, 3)
    for dtype, mode, fill in (("int8", "largest", -128), ("uint16", "smallest", 65535), ("bool", "smallest", True)):
        assert (wgdml.RunningTopK(2, dtype, mode=mode, device=planned).result().values.numpy() == fill).all()
    for dtype, mode, fill in (("float64", "smallest", np.inf), ("int64", "smallest", 2**63 - 1), ("uint64", "largest", 0)):
        assert (wgdml.RunningTopK(2, dtype, mode=mode, device=planned).result().values.numpy() == fill).all()
    assert repr(running) == "<wgdml.RunningTopK k 3 of float32[2, ...]>"


@pytest.mark.parametrize(("mode", "nan"), [("largest", "greatest"), ("largest", "last"), ("smallest", "greatest")])
def test_rows_full_of_what_comes_first(planned, mode, nan):
    """Nothing precedes the number that comes first, of which equal ones came sooner; a NaN may."""
    first = np.float32(np.inf if mode == "largest" else -np.inf)
    batches = [np.full(40, first), np.r_[RNG.normal(size=3000), first, first], np.r_[1.0, np.nan, first]]
    for dtype in ("float32", "float16", "float64"):
        running = wgdml.RunningTopK(20, dtype, mode=mode, nan=nan, device=planned)
        for batch in batches:
            running.update(batch.astype(dtype))
        check(running, np.concatenate(batches).astype(dtype), 20, mode == "largest", nan == "last")


def test_attributes_cannot_be_set(device):
    """With another k or data type the result was what lies behind the state, or its bits."""
    running = wgdml.RunningTopK(2, "float32")
    running.update(np.float32([1, 2, 3]))
    for name, value in {"k": 3, "dtype": np.dtype("int32"), "batch_shape": (2,), "device": device}.items():
        with pytest.raises(AttributeError, match=f"{name} of a wgdml.RunningTopK cannot be set"):
            setattr(running, name, value)
    assert running.result().values.numpy().tolist() == [3, 2]


F = np.zeros((2, 5), np.float32)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda r: wgdml.RunningTopK(0, "float32"), ValueError, "k must be at least 1, not 0"),
        (lambda r: wgdml.RunningTopK(1.5, "float32"), TypeError, "k must be an integer"),
        (lambda r: wgdml.RunningTopK(1, "complex64"), TypeError, "dtype has data type complex64"),
        (lambda r: wgdml.RunningTopK(1, "float32", -1), ValueError, "batch_shape must have no negative size"),
        (lambda r: wgdml.RunningTopK(1, "float32", mode="least"), ValueError, "mode must be"),
        (lambda r: wgdml.RunningTopK(1 << 40, "float32"), MemoryError, "k = 1099511627776 pairs of 1 sequences take"),
        (lambda r: r.update(F.astype(np.float64)), TypeError, "x must have data type float32, not float64"),
        (lambda r: r.update(F[0]), ValueError, r"x must have shape \(2, n\), not \(5,\)"),
        (lambda r: r.update(F.T), ValueError, r"x must have shape \(2, n\), not \(5, 2\)"),
        (lambda r: r.update(F, [1, 2]), ValueError, r"indices of shape \(2,\) cannot be broadcast to x's \(2, 5\)"),
        (lambda r: r.update(F, np.zeros((1, 2, 5), int)), ValueError, "cannot be broadcast"),
        (lambda r: r.update(F, F), TypeError, "indices must be integers, not float32"),
        (lambda r: (r.update(F), r.update(F, np.arange(5))), ValueError, "indices must be given with no items, as before"),
        (lambda r: (r.update(F, np.arange(5)), r.update(F)), ValueError, "indices must be given with all items, as before"),
        (lambda r: r.record_update(None, F), TypeError, "encoder must be a wgpu.GPUCommandEncoder"),
        (lambda r: r.record_update(encoder(r), F), TypeError, "x must be a wgdml.Tensor, not ndarray"),
        (lambda r: r.record_update(encoder(r), wgdml.asarray(F), [1]), TypeError, "indices must be a wgdml.Tensor, not list"),
        (lambda r: r.merge(r), ValueError, "other must be another RunningTopK"),
        (lambda r: r.merge(F), TypeError, "other must be a wgdml.RunningTopK, not ndarray"),
        (lambda r: r.merge(wgdml.RunningTopK(4, "float32", 2)), ValueError, "other must have the same k, 3, not 4"),
        (lambda r: r.merge(wgdml.RunningTopK(3, "int32", 2)), ValueError, "other must have the same dtype, float32, not int32"),
        (lambda r: r.merge(wgdml.RunningTopK(3, "float32")), ValueError, r"other must have the same batch_shape, \(2,\), not \(\)"),
        (
            lambda r: r.merge(wgdml.RunningTopK(3, "float32", 2, mode="smallest")),
            ValueError,
            "other must have the same mode and nan",
        ),
        (lambda r: r.result(index_dtype="int8"), TypeError, "index_dtype must be"),
    ],
)
def test_bad_input(device, call, kind, words):
    with pytest.raises(kind, match=words):
        call(wgdml.RunningTopK(3, "float32", 2))


def encoder(running):
    return running.device.gpu_device.create_command_encoder()


def test_other_gpu_devices_are_refused(device):
    with wgdml.Device() as other:
        running = wgdml.RunningTopK(3, "float32", 2)
        for call in (
            lambda: running.update(wgdml.asarray(F, device=other)),
            lambda: running.update(F, wgdml.asarray(np.arange(5), device=other)),
            lambda: running.record_update(encoder(running), wgdml.asarray(F, device=other)),
        ):
            with pytest.raises(ValueError, match="is on another GPU device"):
                call()
        theirs = wgdml.RunningTopK(3, "float32", 2, device=other)
        theirs.update(F)
        with pytest.raises(ValueError, match="other is on another GPU device"):
            running.merge(theirs)
        with pytest.raises(ValueError, match="another GPU device"):
            running.record_update(encoder(theirs), wgdml.asarray(F))


# Filters, as GPUs do them ------------------------------------------------------------------------


#: Few pairs, some, and many, each a kernel of its own: every one of them for one type.
FILTERED = ((1, "largest"), (37, "smallest"), (300, "largest"))


@pytest.mark.parametrize(
    ("name", "cases"), [("float32", FILTERED), ("uint8", FILTERED[2:]), ("float64", FILTERED[1:2]), ("int16", FILTERED[:1])]
)
@pytest.mark.parametrize("kind", ["random", "sorted", "reversed", "constant", "eight_values", "nan_payloads"])
def test_filtered_batches(device, name, cases, kind):
    if kind not in data.kinds(oracle.DTYPES[name]):
        return
    gpu, planned = planned_device(device, occupancy={"workgroups": 16})
    x = data.make(kind, name, (2, 60_000), 1)
    for k, mode in cases:
        running = wgdml.RunningTopK(k, name, 2, mode=mode, device=gpu)
        for part in batches(x, (500, 9500, 10_000, 20_000)):
            running.update(part, None)
            running.result()
        check(running, x, k, mode == "largest")
        running.reset()
        ids = np.arange(x.shape[-1], dtype=np.uint32)[::-1].copy()
        for part, own in zip(batches(x, (500, 30_000)), batches(ids, (500, 30_000)), strict=True):
            running.update(part, own)
        check(running, x, k, mode == "largest", ids=ids)
    kernels = {dispatch.kernel for plan in planned.plans for dispatch in plan.dispatches}
    assert "running/merge" in kernels
    # The least workgroup memory has no room for a list of 300.
    if min(k for k, _ in cases) < 300 or planned.machine.max_compute_workgroup_storage_size > 16 << 10:
        assert "running/update" in kernels


def test_ids_fit_the_type_of_the_indices(device):
    running, other = (wgdml.RunningTopK(2, "f4", device=device) for _ in range(2))
    running.update(np.float32([1]), indices=np.int32([7]))
    assert running.result(index_dtype="uint32").indices.numpy().tolist() == [7, 2**32 - 1]
    other.update(np.float32([2]), indices=np.int64([2**40]))
    running.merge(other)
    with pytest.raises(ValueError, match="index_dtype must have the 64 bits of the indices that were given, not uint32"):
        running.result(index_dtype="uint32")
    assert running.result().indices.numpy().tolist() == [2**40, 7]
    running.reset()
    running.update(np.float32([1, 2]))
    assert running.result(index_dtype="uint32").indices.numpy().tolist() == [1, 0]


def test_positions_fit_the_type_of_the_indices(device):
    running, other = (wgdml.RunningTopK(1, "int8", device=device) for _ in range(2))
    running.update(np.int8([1]))
    other.update(np.int8([2]))
    count = [1, 1]
    while sum(count) <= 2**31:
        running.merge(other)
        running, other, count = other, running, [count[1], sum(count)]
    running.merge(other)
    with pytest.raises(ValueError, match=f"index_dtype is int32, .* it must hold {sum(count) - 1}, the last index"):
        running.result(index_dtype="int32")
    running.result(index_dtype="uint32")
