"""Devices through thick and thin: lost, closed, forked, interrupted, shared, in long use."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import signal
import sys
import threading
import weakref

import data
import numpy as np
import oracle
import pytest
import wgpu
from checks import STORAGE, operator_of, python

import wgdml
from wgdml import DataType, TensorDesc

X = data.make("random", "float32", (5, 300))


@pytest.fixture
def own(device):
    """A wgdml.Device of the test's own, over a GPU device of its own."""
    return wgdml.Device(device.gpu_device.adapter.request_device_sync())


def check(device):
    values, indices = wgdml.top_k(X, 4, device=device)
    oracle.assert_same(values, oracle.top_k(X, 4)[0])
    oracle.assert_same(indices, oracle.top_k(X, 4)[1])
    tensor = wgdml.asarray(X, device=device)
    oracle.assert_same(wgdml.sort(tensor).numpy(), oracle.sort(X))
    oracle.assert_same(wgdml.argmin(tensor, axis=0).numpy(), oracle.argmin(X, 0))


# The end of a device ------------------------------------------------------------------------------


def test_a_lost_device(own):
    tensor = wgdml.asarray(X, device=own)
    check(own)
    descs = [
        wgdml.ArgmaxOperatorDesc(TensorDesc(DataType.FLOAT32, (5, n)), TensorDesc(DataType.UINT32, (5, 1)), (1,))
        for n in (300, 301)
    ]
    operator = operator_of(own, descs[0])
    buffer = own.gpu_device.create_buffer(size=64, usage=STORAGE)
    encoder, output = own.gpu_device.create_command_encoder(), wgdml.empty((5, 1), "uint32", device=own)
    own.gpu_device.destroy()
    for use in (
        lambda: wgdml.argmax(tensor),
        lambda: wgdml.sort(tensor),  # whose pipelines were not there before
        lambda: wgdml.top_k(X, 4, device=own),
        lambda: wgdml.asarray(X, device=own),
        lambda: wgdml.asarray(np.zeros(1_000_000), device=own),
        lambda: tensor.numpy(),
        lambda: operator(tensor),
        lambda: operator.record(encoder, input_tensor=tensor, output_tensor=output),
        lambda: operator_of(own, descs[1]),
        lambda: wgdml.Tensor.from_buffer(buffer, "uint8", 4, device=own),
    ):
        own.context.gone = None  # what each of them says by itself
        with pytest.raises(wgdml.DeviceLostError, match="lost"):
            use()
    with pytest.raises(wgdml.DeviceLostError, match="lost"):
        wgdml.argmax(tensor)
    assert issubclass(wgdml.DeviceLostError, RuntimeError)


def test_a_closed_device(own):
    with own as same:
        assert same is own
        tensor = wgdml.asarray(X, device=own)
        result = wgdml.argmax(tensor)
        check(own)
    for use in (
        lambda: wgdml.argmax(tensor),
        result.numpy,
        lambda: wgdml.argmax(X, device=own),
        lambda: wgdml.asarray(X, device=own),
    ):
        with pytest.raises(RuntimeError, match="closed"):
            use()
    own.close()
    check(wgdml.Device(own.gpu_device))  # the GPU device is the caller's


@pytest.mark.parametrize("count", [40, 1 << 20])
def test_a_closed_device_keeps_no_memory_of_tensors_that_go(own, count):
    tensor = wgdml.asarray(np.zeros(count, np.uint32), device=own)
    own.close()
    assert (own.buffers.pool.count, len(own.buffers.pool.used)) == (0, 1)
    del tensor
    assert (own.buffers.pool.count, len(own.buffers.pool.used)) == (0, 0)


def test_trimming_does_no_harm(own):
    tensor = wgdml.asarray(X, device=own)
    check(own)
    own.trim()
    assert own.counters["scratch_bytes"] == 0
    check(own)
    oracle.assert_same(tensor.numpy(), X)


# Buffers that the caller sees ---------------------------------------------------------------------


def test_a_buffer_that_was_shown_is_not_used_again(device):
    result = wgdml.argmax(wgdml.asarray(X, device=device), axis=1)
    want = result.numpy()
    buffer = result.buffer
    del result
    for _ in range(5):
        wgdml.argmax(wgdml.asarray(X[:, ::-1], device=device), axis=1)
    kept = wgdml.Tensor.from_buffer(buffer, "int64", (5,), device=device)
    oracle.assert_same(kept.numpy(), want)


def test_tensors_that_were_recorded_keep_their_memory(device):
    shape = TensorDesc(DataType.FLOAT32, X.shape)
    operator = operator_of(device, wgdml.ArgmaxOperatorDesc(shape, TensorDesc(DataType.INT64, (5, 1)), (1,)))
    inputs = [X, X[::-1], X[:, ::-1]]
    outputs = [wgdml.asarray(np.zeros((5, 1), np.int64), device=device) for _ in inputs]
    encoder = device.gpu_device.create_command_encoder()
    for x, output in zip(inputs, outputs, strict=True):
        operator.record(encoder, input_tensor=wgdml.asarray(x, device=device), output_tensor=output)
    for _ in range(3):
        wgdml.asarray(np.full(X.shape, 7, np.float32), device=device)
    device.gpu_device.queue.submit([encoder.finish()])
    for x, output in zip(inputs, outputs, strict=True):
        oracle.assert_same(output.numpy(), oracle.arg_reduce(x, 1, True, False, True))


def test_a_shown_buffer_that_is_destroyed(device):
    tensor = wgdml.asarray(X, device=device)
    view = tensor.T
    wgdml.argmax(view)
    view.buffer.destroy()
    for use in (tensor.numpy, lambda: wgdml.argmax(tensor), lambda: wgdml.top_k(view, 2)):
        with pytest.raises(ValueError, match="destroyed"):
            use()
    tensor = view = use = None
    for _ in range(5):  # it must not come back from the pool
        check(device)


def test_buffers_of_no_whole_word(device):
    short = device.gpu_device.create_buffer(size=2, usage=STORAGE)
    with pytest.raises(ValueError, match="4 bytes"):
        wgdml.Tensor.from_buffer(short, "uint8", (2,), device=device)
    odd = device.gpu_device.create_buffer(size=6, usage=STORAGE)
    assert wgdml.Tensor.from_buffer(odd, "uint8", (4,), device=device).numpy().tolist() == [0] * 4
    with pytest.raises(ValueError, match="too small"):
        wgdml.Tensor.from_buffer(odd, "uint8", (6,), device=device)


# Forks --------------------------------------------------------------------------------------------

FORK = """
    import gc, os, sys, time
    import numpy as np
    import wgdml
    x = np.arange(12, dtype=np.float32)
    device = wgdml.default_device()
    tensor = wgdml.asarray(x)
    assert wgdml.argmax(tensor).numpy() == 11
    pid = os.fork()
    if pid == 0:
        for use in (lambda: wgdml.argmax(x), lambda: wgdml.argmax(tensor), tensor.numpy, wgdml.default_device, wgdml.Device,
                    wgdml.adapters, lambda: wgdml.asarray(x, device=device), lambda: wgdml.Device(device.gpu_device),
                    lambda: wgdml.argmax(x, device=device)):
            try:
                use()
            except RuntimeError as error:
                assert "fork" in str(error) and "spawn" in str(error), error
            else:
                os._exit(3)
        del tensor, device
        gc.collect()
        os._exit(7)  # as multiprocessing leaves a child; Mesa's own exit handlers cannot bear a fork
    for _ in range(300):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    else:
        os.kill(pid, 9)
        sys.exit("the child hangs")
    assert os.waitstatus_to_exitcode(status) == 7, status
    assert wgdml.argmax(tensor).numpy() == 11
    print("ok")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_forked_child_is_told(device):
    assert python(FORK) == "ok\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_fork_while_other_threads_have_locks():
    """One opens the default device, one plans. Nobody would give their locks back in the child."""
    script = """
        import os, signal, threading, wgdml
        from wgdml.plan import Planner
        from wgdml.runtime import default

        inside, on = threading.Barrier(3), threading.Event()

        def wait():
            inside.wait()
            on.wait()

        class Slow(Planner):
            def plan(self, *given, **options):
                wait()
                return super().plan(*given, **options)

        make = default._make
        default.made_by(lambda: (wait(), make())[1])
        device = wgdml.Device(planner=Slow)
        calls = wgdml.default_device, lambda: wgdml.argmax([1.0, 9.0], device=device)
        threads = [threading.Thread(target=call) for call in calls]
        for thread in threads:
            thread.start()
        inside.wait()
        pid = os.fork()
        if not pid:
            signal.alarm(10)
            device.trim()
            device.close()
            try:
                wgdml.argmax([1.0])
            except RuntimeError as error:
                os._exit(7 if "forked" in str(error) else 8)
        on.set()
        for thread in threads:
            thread.join()
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        print("ok")
    """
    assert python(script) == "ok\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_fork_before_the_first_use(device):
    script = """
        import os, sys
        import numpy as np
        import wgdml
        pid = os.fork()
        assert int(wgdml.argmax(np.arange(12.0))) == 11
        if pid:
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            print("ok")
    """
    assert python(script) == "ok\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_fork_from_a_process_that_used_wgpu_alone():
    """The parent has not imported wgdml, and so has nothing that would tell of its fork."""
    script = """
        import os, wgpu
        gpu = wgpu.utils.get_default_device()
        pid = os.fork()
        if not pid:
            import wgdml
            for use in (lambda: wgdml.Device(gpu), wgdml.default_device):
                try:
                    use()
                except RuntimeError as error:
                    assert "forked" in str(error), error
                else:
                    os._exit(3)
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        print("ok")
    """
    assert python(script) == "ok\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_forked_child_may_bring_a_device_of_its_own():
    script = """
        import os, wgpu, wgdml
        wgdml.adapters()
        pid = os.fork()
        if not pid:
            device = wgdml.Device(wgpu.gpu.request_adapter_sync().request_device_sync())
            os._exit(int(wgdml.argmax([1.0, 9.0, 2.0], device=device)))
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
        print("ok")
    """
    assert python(script) == "ok\n"


# Threads ------------------------------------------------------------------------------------------


def test_many_threads_on_one_device(own):
    problems = [(data.make("random", name, (3, size)), k) for name in ("float32", "uint8") for size, k in [(700, 3), (5_000, 40)]]
    wanted = [oracle.top_k(x, k) for x, k in problems]
    failures = []
    start = threading.Barrier(8)

    def work(number):
        try:
            start.wait()
            for turn in range(12):
                case = (number + turn) % len(problems)
                x, k = problems[case]
                if turn % 2:
                    values, indices = wgdml.top_k(x, k, device=own)
                else:
                    values, indices = (t.numpy() for t in wgdml.top_k(wgdml.asarray(x, device=own), k))
                oracle.assert_same(values, wanted[case][0], case)
                oracle.assert_same(indices, wanted[case][1], case)
                if turn % 5 == 4:
                    gc.collect()
                if number == 0 and turn % 6 == 5:
                    own.trim()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_finalizers_inside_the_pool(own):
    # Collections at every allocation: finalizers run while the pool's and the caches' locks are
    # held.
    thresholds = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for number in range(20):
            cycle = [wgdml.asarray(X, device=own)]
            cycle.append(cycle)
            oracle.assert_same(wgdml.argmax(cycle[0], axis=number % 2).numpy(), oracle.argmax(X, number % 2))
            del cycle
    finally:
        gc.set_threshold(*thresholds)
    check(own)


def test_a_device_goes_with_its_last_user(device):
    """No cycle keeps it, nor the kernels of its plans, until Python looks for cycles."""
    gc.disable()
    try:
        own = wgdml.Device(device.gpu_device)
        x = np.arange(100, dtype=np.float32)
        wgdml.top_k(x, 3, device=own)
        assert wgdml.median(x, device=own) == 49.5 and wgdml.argpartition(x, 50, device=own)[50] == 50
        desc = wgdml.ArgmaxOperatorDesc(wgdml.TensorDesc(DataType.FLOAT32, (100,)), wgdml.TensorDesc(DataType.UINT32, (1,)), (0,))
        compiled = operator_of(own, desc)
        assert compiled(wgdml.asarray(x, device=own))["output_tensor"].numpy().tolist() == [99]
        gone = weakref.ref(own)
        del own, compiled
        assert gone() is None
    finally:
        gc.enable()


def test_tensors_in_cycles_give_back_whole_buffers(own):
    for _ in range(8):
        cycle = [wgdml.asarray(X, device=own), wgdml.asarray(-np.arange(300.0), device=own)]
        cycle += [cycle, cycle[0].buffer]
        del cycle
        gc.collect()
        check(own)


# For a long time ----------------------------------------------------------------------------------


def test_memory_returns_to_the_start(own):
    def mixed():
        for name, size, k in itertools.product(("float32", "int8"), (10, 3_000), (1, 7)):
            x = data.make("random", name, (2, size))
            wgdml.top_k(x, k, device=own)
            tensor = wgdml.asarray(x, device=own)
            wgdml.sort(tensor).numpy()
            wgdml.argmax(tensor.T, axis=0)
            wgdml.argsort(tensor, axis=0).numpy()

    mixed()
    mixed()
    gc.collect()
    before = wgpu.diagnostics.object_counts.get_dict()
    pooled = own.buffers.pool.bytes
    for _ in range(5):
        mixed()
    gc.collect()
    after = wgpu.diagnostics.object_counts.get_dict()
    for kind in ("Buffer", "BindGroup", "ComputePipeline", "CommandEncoder", "CommandBuffer"):
        # Tensors that live at once may come in another order, and so take a few more of the pool's
        # buffers.
        assert after[kind]["count"] <= before[kind]["count"] + 4, kind
    assert own.buffers.pool.bytes <= pooled + (1 << 16)


def test_caches_are_bounded(device):
    own = wgdml.Device(device.gpu_device, kept=8)
    tensor = wgdml.asarray(np.arange(40, dtype=np.int32), device=own)  # outlives all plans
    for k in range(1, 40):
        oracle.assert_same(wgdml.top_k(tensor, k).values.numpy(), np.arange(40, dtype=np.int32)[::-1][:k])
        wgdml.argmax(tensor.broadcast_to((k, 40)), axis=k % 2)
    gc.collect()
    assert len(own.kept) <= 8 and len(own.pipelines) <= 8 and len(own.groups) <= 16
    assert len(own.groups._keys_of) <= 16 * 5 and len(own.groups._watched) <= 16 * 5
    own.trim()
    assert len(own.groups) == 0
    oracle.assert_same(wgdml.top_k(tensor, 1).values.numpy(), np.array([39], np.int32))


@pytest.mark.parametrize("kept", [0, -1, np.int64(-1)])
def test_a_device_keeps_a_kernel_at_least(device, kept):
    with pytest.raises(ValueError, match="kept must be at least 1, not"):
        wgdml.Device(device.gpu_device, kept=kept)


def test_bind_groups_let_go_of_the_caller_s_buffers(own):
    buffer = own.gpu_device.create_buffer(size=4_000, usage=STORAGE)
    for _ in range(2):
        wgdml.argmax(wgdml.Tensor.from_buffer(buffer, "float32", (1_000,), device=own))
    bound = len(own.groups)
    assert bound
    gone = weakref.ref(buffer)
    del buffer
    gc.collect()
    assert gone() is None
    assert len(own.groups) < bound


def test_the_pool_is_bounded():
    from wgdml.runtime.buffers import Memory, Pool

    class Buffer:
        destroyed = False

        def destroy(self):
            self.destroyed = True

    size = 1 << 20
    pool = Pool(10 * size)
    buffers = [Buffer() for _ in range(20)]
    for number, buffer in enumerate(buffers):
        Memory(pool, size + number % 3, buffer)
    assert pool.bytes <= 10 * size and pool.count == 9
    assert sum(buffer.destroyed for buffer in buffers) == 11
    taken = pool.take(size)
    assert taken in buffers and not taken.destroyed
    shown = Memory(pool, size, taken)
    shown.shared = True
    del shown
    assert not taken.destroyed and pool.take(77) is None
    pool.clear()
    assert pool.bytes == pool.count == 0 and not taken.destroyed and not pool.used
    many = Pool(1 << 40)
    for _ in range(3_000):
        many.give(size, Buffer())
        many.give(256, Buffer())
    assert many.count <= 1_100


def at_every_call(use, make, check):
    """Interrupts ``use(make())`` as its first, second, ... call returns, then ``check``s it."""

    def interrupted_use(subject, moment):
        calls = 0

        def interrupt(frame, event, argument):
            nonlocal calls
            calls += event == "c_return"
            if calls > moment:
                sys.setprofile(None)
                raise KeyboardInterrupt

        sys.setprofile(interrupt)
        with contextlib.suppress(KeyboardInterrupt):
            use(subject)
        sys.setprofile(None)
        reached.append(calls)

    reached: list[int] = []
    for moment in itertools.count():
        subject = make()
        for work, arguments in ((interrupted_use, (subject, moment)), (use, (subject,))):
            thread = threading.Thread(target=work, args=arguments, daemon=True)
            thread.start()
            thread.join(10)
            assert not thread.is_alive(), f"a lock stays taken after Ctrl-C at call {moment}"
        check(subject, moment)
        if reached[-1] <= moment:
            break
    assert moment > 20


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system has no signal masks")
def test_ctrl_c_works_after_another_signal():
    """A handler that raises as Ctrl-C's own comes back; a program's change of handler is kept."""
    script = """
        import signal, threading
        from wgdml.runtime.process import interruptible
        def alarm(*_):
            raise TimeoutError
        signal.signal(signal.SIGALRM, alarm)
        both = {signal.SIGINT, signal.SIGALRM}
        def press_both():
            signal.pthread_sigmask(signal.SIG_BLOCK, both)
            for number in both:
                signal.pthread_kill(threading.get_ident(), number)  # not to another thread, which would take it at once
            signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
        try:
            interruptible(press_both)
        except (TimeoutError, KeyboardInterrupt) as error:
            print(type(error).__name__)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, lambda *_: signal.signal(signal.SIGINT, signal.SIG_IGN))
        interruptible(signal.raise_signal, signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    """
    assert python(script) in ("TimeoutError\n", "KeyboardInterrupt\n")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_any_call_leaves_bind_groups_usable():
    from wgdml.runtime.bindings import BindGroups

    class Owner:
        pass

    def use(groups):
        for number in range(3):
            owner = Owner()
            groups.put((number, "a"), [], {number: owner})
            del owner  # forgotten, by a finalizer
            assert groups.get((number, "a")) in (None, [])
        groups.clear()

    at_every_call(use, lambda: BindGroups(64), lambda groups, moment: None)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_any_call_leaves_the_pool_whole():
    """Python delivers it as a call returns: at each call in turn, also lost in a finalizer."""
    from wgdml.runtime.buffers import Memory, Pool

    class Buffer:
        def destroy(self):
            pass

    def use(pool):
        for size in (1 << 20, 1 << 21, 1 << 22):
            Memory(pool, size, Buffer())  # goes back at once, by __del__
        buffer = pool.take(1 << 21)
        pool.give(1 << 21, buffer or Buffer())
        pool.give(1 << 22, Buffer())
        pool.clear()

    def check(pool, moment):
        assert pool.bytes == pool.count == 0, moment
        pool.give(1 << 20, Buffer())
        assert pool.bytes == 1 << 20 and pool.count == 1 and pool.take(1 << 20) is not None, moment

    at_every_call(use, lambda: Pool(3 << 20), check)


def test_an_adapter_without_a_device_is_refused(device, monkeypatch):
    adapter = device.gpu_device.adapter

    def refuse(self, **_):
        raise RuntimeError("Request device failed (3): Validation Error\n\nParent device is lost")

    monkeypatch.setattr(type(adapter), "request_device_async", refuse)
    with pytest.raises(wgdml.NoAdapterError, match="gives no device that can compute: Request device failed"):
        wgdml.Device(adapter=adapter)
