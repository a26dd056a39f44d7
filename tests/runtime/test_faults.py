"""What goes wrong outside, and what a caller sees: a clear exception, a next call that works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from types import SimpleNamespace

import numpy as np
import oracle
import pytest
from checks import STORAGE, buffer_of, operator_of, python

import wgdml
from wgdml import DataType, TensorDesc, outofcore, shaders
from wgdml.runtime import process
from wgdml.runtime.adapter import wgpu
from wgdml.runtime.modules import shader_module

X = np.random.default_rng(5).standard_normal((7, 900)).astype(np.float32)


def works(device: wgdml.Device | None = None) -> None:
    values, indices = wgdml.top_k(X, 9, device=device)
    want_values, want_indices = oracle.top_k(X, 9)
    oracle.assert_same(values, want_values)
    oracle.assert_same(indices, want_indices)


def argmax_of(device: wgdml.Device, count: int) -> wgdml.CompiledOperator:
    desc = wgdml.ArgmaxOperatorDesc(TensorDesc(DataType.FLOAT32, (count,)), TensorDesc(DataType.UINT32, (1,)), (0,))
    return operator_of(device, desc)


# The device goes away ----------------------------------------------------------------------------


def test_a_device_destroyed_amid_a_file():
    lost = wgdml.Device()

    class File:
        shape, dtype = X.shape, X.dtype

        def __getitem__(self, key):
            if key[0].start == 3:
                lost.gpu_device.destroy()
            return X[key]

    with pytest.raises(wgdml.DeviceLostError):
        outofcore.top_k(File(), 9, block_bytes=4096, device=lost)
    assert lost.lost
    works(wgdml.Device())


def test_a_device_destroyed_with_work_on_its_way():
    """The work of submitted calls is lost with it; whoever reads the results is told."""
    lost = wgdml.Device()
    long = np.random.default_rng(1).standard_normal(300_000).astype(np.float32)
    tensor = wgdml.asarray(long, device=lost)
    wgdml.sort(tensor).numpy()  # compiled, so that the next calls only submit
    results = [wgdml.sort(tensor) for _ in range(3)]
    lost.gpu_device.destroy()
    for result in results:
        with pytest.raises(wgdml.DeviceLostError):
            result.numpy()
    with pytest.raises(wgdml.DeviceLostError):
        wgdml.sort(results[0])
    works(wgdml.Device())


def test_a_device_destroyed_under_threads():
    """Every thread that uses it next sees the same error, at once; then a new device works."""
    lost = wgdml.Device()
    gate = threading.Barrier(4)
    seen: list[BaseException] = []

    def use() -> None:
        works(lost)
        gate.wait(60)  # a device destroyed amid a submission would end the process
        gate.wait(60)
        try:
            works(lost)
        except BaseException as error:
            seen.append(error)

    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    gate.wait(60)
    lost.gpu_device.destroy()
    gate.wait(60)
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs on a lost device"
    assert len(seen) == 3 and all(isinstance(error, wgdml.DeviceLostError) for error in seen), seen
    works(wgdml.Device())


def test_the_default_device_is_made_again():
    script = """
        import numpy as np, wgdml
        from wgpu.backends.wgpu_native import lib
        x = np.arange(1000.0)
        first = wgdml.default_device()
        assert wgdml.argmax(x) == 999
        first.gpu_device.destroy()
        assert wgdml.argmax(x) == 999
        second = wgdml.default_device()
        assert second is not first and first.lost and not second.lost
        lib.wgpuDeviceDestroy(second.gpu_device._internal)  # as if the driver gave up: nothing says so
        try:
            wgdml.argmax(x)
        except wgdml.DeviceLostError:
            pass
        assert wgdml.argmax(x) == 999
        third = wgdml.default_device()
        third.close()
        assert wgdml.argmax(x) == 999 and wgdml.default_device() is not third
        print("done")
    """
    assert python(script).strip() == "done"


# Buffers -----------------------------------------------------------------------------------------


def test_a_destroyed_buffer(device):
    buffer = buffer_of(device, X)
    tensor = wgdml.Tensor.from_buffer(buffer, "float32", X.shape, device=device)
    flat = wgdml.Tensor.from_buffer(buffer, "float32", (X.size,), device=device)
    compiled = argmax_of(device, X.size)
    wgdml.top_k(tensor, 9, device=device)  # bound once, so that it is in the caches
    compiled(flat)
    output = buffer_of(device, np.zeros(64, np.uint32))
    buffer.destroy()
    encoder = device.gpu_device.create_command_encoder()
    for call in (
        lambda: wgdml.top_k(tensor, 9, device=device),
        lambda: wgdml.argmax(tensor.T, device=device),
        tensor.numpy,
        lambda: np.asarray(tensor),
        lambda: wgdml.Tensor.from_buffer(buffer, "float32", (4,), device=device),
        lambda: compiled(flat),
        lambda: compiled.record(encoder, input_tensor=flat, output_tensor=output),
        lambda: compiled.record(encoder, input_tensor=buffer, output_tensor=output),
    ):
        with pytest.raises(ValueError, match="destroyed"):
            call()
        works(device)


def test_a_mapped_buffer(device):
    """Submitting it would end the process."""
    gpu = device.gpu_device
    buffer = gpu.create_buffer(size=64, usage=STORAGE, mapped_at_creation=True)
    tensor = wgdml.Tensor.from_buffer(buffer, "float32", 16, device=device)
    operator = argmax_of(device, 16)
    for use in (
        tensor.numpy,
        lambda: wgdml.to_numpy(tensor),
        lambda: wgdml.sort(tensor),
        lambda: operator(tensor),
        lambda: operator(buffer),
    ):
        with pytest.raises(ValueError, match=r"mapped.*unmap"):
            use()
    buffer.unmap()
    assert tensor.numpy().tolist() == [0] * 16 and wgdml.sort(tensor).numpy().tolist() == [0] * 16
    assert operator(buffer)["output_tensor"].numpy().tolist() == [0]


# Interruptions -----------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signals")
def test_ctrl_c_during_calls():
    """Whenever it comes, it is KeyboardInterrupt, and the next call on the device is exact.

    Python drops an exception that is raised in a finalizer (wgpu keeps a WeakKeyDictionary, whose
    own is Python code), so a Ctrl-C that falls there is lost in any program; the timer presses
    again, as a user does.
    """
    script = """
        import random, signal, sys, time
        import numpy as np, wgdml
        device = wgdml.default_device()
        random.seed(3)
        long = np.random.default_rng(0).standard_normal(60_000).astype(np.float32)
        wide = np.arange(3_000_000.0)
        order = np.argsort(long, kind="stable")
        work = [lambda: wgdml.argsort(long), lambda: wgdml.asarray(wide).numpy(), lambda: wgdml.top_k(wide, 3)]
        for call in work:
            call()
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))  # a timer in place of a finger
        caught = 0
        for round in range(15):
            call = work[round % len(work)]
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.001 + random.random() * 0.06, 2.0)
                while True:
                    call()
            except KeyboardInterrupt:
                signal.setitimer(signal.ITIMER_REAL, 0)
                caught += 1
            assert wgdml.argmax(wide) == wide.size - 1
            assert np.array_equal(wgdml.argsort(long), order)
            assert np.array_equal(wgdml.asarray(wide).numpy(), wide)
        print(caught)
    """
    assert python(script).split() == ["15"]


def test_signals_while_a_lock_changes_hands():
    """At each step of threading.Condition and Event: an exception there would leave a lock taken.

    Steps take turns with Ctrl-C, a timeout and the end of the process.

    wgpu-py takes them when a device arrives too, in a callback that native code calls, which drops
    exceptions and so the device.
    """
    script = """
        import gc, itertools, signal, sys, threading
        import numpy as np, wgdml, wgdml.outofcore
        def late(*_):
            raise TimeoutError
        names = "SIGINT", "SIGALRM", "SIGTERM"
        signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
        for number in signals:
            signal.signal(number, late)
        gc.disable()  # or the signal may meet a destructor, which drops exceptions
        wide = np.arange(3_000_000.0)
        tensor = wgdml.asarray(wide)
        some = wide[:200_000]  # more than the queue writes by itself
        rows = np.zeros((2, 20_000), np.float32)
        by_blocks = lambda: wgdml.outofcore.argmax(rows, axis=1, block_bytes=70_000, progress=None)
        for call in (lambda: wgdml.asarray(wide), tensor.numpy, lambda: wgdml.top_k(wide[:2_000], 3), by_blocks, wgdml.Device):
            for moment in itertools.count():
                entered = 0
                number = signals[moment % len(signals)]
                def press(frame, event, argument):
                    global entered
                    if event in ("call", "c_return") and frame.f_code.co_filename == threading.__file__:
                        entered += 1
                        if entered == moment + 1:
                            signal.raise_signal(number)
                made = None
                if moment % 8 == 0:
                    gc.collect()
                sys.setprofile(press)
                try:
                    made = call()
                    caught = False
                except TimeoutError:
                    caught = True
                sys.setprofile(None)
                assert caught == (entered > moment), (moment, entered)
                assert all(signal.getsignal(number) is late for number in signals)
                assert np.array_equal(wgdml.asarray(some).numpy(), some)
                if entered <= moment:
                    break
            print(moment)
    """
    times = python(script).split()
    assert len(times) == 5 and all(int(n) >= 10 for n in times), times


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_signals_that_were_held_back():
    """Handlers have a frame, as those of profilers look at, and none that raises hides another."""
    seen = []

    def handler(number, frame):
        assert frame.f_lineno
        seen.append(number)
        raise {signal.SIGINT: KeyboardInterrupt, signal.SIGALRM: TimeoutError}[number]

    def call():
        for number in (signal.SIGINT, signal.SIGALRM, signal.SIGINT):
            signal.raise_signal(number)
        assert not seen
        raise ValueError

    old = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGALRM)}
    try:
        with pytest.raises(TimeoutError) as caught:
            process.uninterrupted(call)
    finally:
        for number, own in old.items():
            signal.signal(number, own)
    assert seen == [signal.SIGINT, signal.SIGALRM]
    first = caught.value.__context__
    assert isinstance(first, KeyboardInterrupt) and isinstance(first.__context__, ValueError)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_handler_that_was_found_while_signals_were_held_back():
    """A program that puts it back, or calls it from its own, has what was its own before."""
    seen = []

    def call():
        found.append(signal.getsignal(signal.SIGALRM))

    found: list = []
    old = signal.signal(signal.SIGALRM, lambda *_: seen.append("before"))
    try:
        process.interruptible(call)
        signal.signal(signal.SIGALRM, found[0])
        signal.raise_signal(signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, old)
    assert seen == ["before"]


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_handler_that_uses_the_default_device_while_that_is_opened():
    """It cannot wait for the call that it interrupts."""
    script = """
        import signal, wgdml
        from wgdml.runtime import default

        def handler(*_):
            try:
                wgdml.argmax([1.0, 9.0])
            except RuntimeError as error:
                print("is being opened" in str(error))

        make = default._make
        default.made_by(lambda: (signal.raise_signal(signal.SIGUSR1), make())[1])
        signal.signal(signal.SIGUSR1, handler)
        print(wgdml.argmax([1.0, 9.0, 2.0]))
        signal.raise_signal(signal.SIGUSR1)
    """
    assert python(script, timeout=60).split() == ["True", "1"]


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_handler_that_reads_as_a_read_begins_to_wait():
    """The thread that ends the handler's wait would first end the other, and wait for its lock."""
    script = """
        import signal, sys, threading, time, wgdml

        wait = threading.Condition.wait.__code__
        tensor = wgdml.asarray([1.0, 9.0, 2.0])

        def press(frame, event, argument):
            if event == "call" and frame.f_code is wait:
                sys.setprofile(None)
                time.sleep(0.2)  # what is waited for has come
                signal.raise_signal(signal.SIGUSR1)

        signal.signal(signal.SIGUSR1, lambda *_: print(wgdml.argmax([1.0, 9.0])))
        sys.setprofile(press)
        print(tensor.numpy().tolist())
    """
    assert python(script, timeout=30).split("\n")[:2] == ["1", "[1.0, 9.0, 2.0]"]


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_ctrl_c_ends_a_program():
    script = textwrap.dedent("""
        import numpy as np, wgdml
        x = np.random.default_rng(0).standard_normal(1_000_000)
        wgdml.sort(x)
        print("ready", flush=True)
        while True:
            wgdml.sort(x)
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (-signal.SIGINT, 130), (process.returncode, errors)
    assert "KeyboardInterrupt" in errors


# The end of Python -------------------------------------------------------------------------------


def test_python_ends_while_threads_select():
    """Daemon threads go on until the end. What wgdml is asked for as the program ends works."""
    script = """
        import atexit, threading, time
        import numpy as np

        turns = [0, 0, 0]

        def end():  # comes after what wgdml does at the end
            before = turns.copy()
            print(wgdml.argmax(x[0]), x[0].argmax())
            time.sleep(0.2)
            print(min(before) > 0 and sum(turns) - sum(before) <= len(turns))  # each had one under way

        atexit.register(end)
        import wgdml

        x = np.random.default_rng(0).standard_normal((64, 5000)).astype(np.float32)
        t = wgdml.asarray(x)

        def select(number, given):
            while True:
                wgdml.top_k(given, 5)
                turns[number] += 1

        for number, given in enumerate((x, x, t)):
            threading.Thread(target=select, args=(number, given), daemon=True).start()
        while min(turns) == 0:  # the first one compiles
            time.sleep(0.01)
        time.sleep(0.2)
    """
    for _ in range(4):
        found, expected, stood = python(script).split()
        assert found == expected and stood == "True"


def test_python_ends_where_its_end_waits_for_a_thread():
    """Also by a handler that comes after wgdml's own, and for a lock that the thread has."""
    script = """
        import atexit, threading, time

        lock, stop = threading.Lock(), threading.Event()

        def end():
            stop.set()
            with lock:
                print("free")
            thread.join()
            print("ended")

        atexit.register(end)
        import wgdml

        def select():
            while not stop.is_set():
                with lock:
                    wgdml.top_k([[1.0, 9.0, 2.0]], 2)

        thread = threading.Thread(target=select, daemon=True)
        thread.start()
        time.sleep(0.5)
    """
    assert python(script, timeout=30).split() == ["free", "ended"]


def test_python_ends_when_submitted_work_is_done():
    """Nobody reads it. Mesa compiles as work runs, and does not survive its own end meanwhile."""
    script = """
        import atexit, time

        def work():
            encoder = x.device.gpu_device.create_command_encoder()
            for _ in range(50):
                running.record_update(encoder, x)
            x.device.gpu_device.queue.submit([encoder.finish()])

        def seconds():
            start = time.perf_counter()
            last.numpy()
            return time.perf_counter() - start

        atexit.register(lambda: print(seconds() < max(0.05, whole / 2)))  # after wgdml's own
        import wgdml

        running, x, last = wgdml.RunningTopK(1000, "float32"), wgdml.empty(1 << 22, "float32"), wgdml.asarray(1)
        work()
        whole = seconds()
        work()
    """
    assert python(script).strip() == "True"


def test_work_of_a_closed_device_goes_on():
    """Its GPU device may be the caller's. Python's end waits for that too."""
    own = wgdml.Device()
    running, x = wgdml.RunningTopK(1000, "float32", device=own), wgdml.empty(1 << 22, "float32", device=own)
    encoder = own.gpu_device.create_command_encoder()
    for _ in range(50):
        running.record_update(encoder, x)
    own.gpu_device.queue.submit([encoder.finish()])
    own.close()
    assert not own.context.idle()
    own.gpu_device.destroy()
    assert own.context.idle()


def test_a_lost_device_is_not_polled(monkeypatch):
    """wgpu-native ends the process where the driver has lost it. Of two Devices one may know."""
    from wgpu.backends import wgpu_native

    own = wgdml.Device()
    wgpu_native.lib.wgpuDeviceDestroy(own.gpu_device._internal)
    never_done = SimpleNamespace(wgpuDevicePoll=lambda *_: False)
    monkeypatch.setattr(wgpu_native, "lib", never_done)
    assert own.context.idle()


# Two devices, and shaders ------------------------------------------------------------------------


def test_two_devices_at_once(device):
    other = wgdml.Device()
    here, there = wgdml.asarray(X, device=device), wgdml.asarray(-X, device=other)
    for _ in range(3):
        oracle.assert_same(wgdml.argmax(here, axis=1).numpy(), oracle.argmax(X, 1))
        oracle.assert_same(wgdml.argmax(there, axis=1).numpy(), oracle.argmax(-X, 1))
    other.gpu_device.destroy()
    works(device)


def test_shader_modules_of_another_backend(device, monkeypatch):
    """wgpu-native is not loaded for it: a second backend is an error of wgpu-py's."""

    class Other:
        def create_shader_module(self, label, code):
            return label, code

    monkeypatch.delitem(sys.modules, "wgpu.backends.wgpu_native")
    assert shader_module(Other(), "kernel", "text") == ("kernel", "text")


@pytest.mark.parametrize("inside", [True, False], ids=["wgpu-py", "wgpu-py changed"])
def test_a_shader_that_does_not_compile(inside, monkeypatch):
    """Modules come from wgpu-native's own call, or from wgpu-py's where that is not found."""
    if not inside:
        monkeypatch.delattr("wgpu.backends.wgpu_native._api.libf.wgpuDeviceCreateShaderModuleTrusted")
    broken = wgdml.Device()
    kind, made = type(broken.gpu_device), []
    of_wgpu_py = kind.create_shader_module
    monkeypatch.setattr(kind, "create_shader_module", lambda gpu, **given: (made.append(1), of_wgpu_py(gpu, **given))[1])
    assemble = shaders.assemble
    monkeypatch.setattr(shaders, "assemble", lambda *given: "// first\n" + assemble(*given) + "fn broken( {\n")
    with pytest.raises(shaders.ShaderError) as caught:
        wgdml.argmax(X, device=broken)
    message = str(caught.value)
    number = next(line.split()[0] for line in message.splitlines() if line.endswith("fn broken( {") and line.split()[0].isdigit())
    assert "does not compile" in message and "   1  // first" in message and int(number) > 10
    monkeypatch.setattr(shaders, "assemble", assemble)
    works(broken)
    assert bool(made) != inside


def test_no_room(device, monkeypatch):
    """Out of memory in the driver is MemoryError with the sizes; the device stays usable."""
    works(device)
    original = device.gpu_device.create_buffer

    def full(*, size, **rest):
        if size > 1 << 20:
            raise wgpu.GPUOutOfMemoryError("Not enough memory left.")
        return original(size=size, **rest)

    monkeypatch.setattr(device.gpu_device, "create_buffer", full)
    for call in (
        lambda: wgdml.asarray(np.zeros(7_654_321, np.uint8), device=device),
        lambda: wgdml.sort(np.zeros(7_654_321), device=device),
    ):
        with pytest.raises(MemoryError, match=r"\d{7}"):
            call()
        works(device)
    monkeypatch.undo()
    works(device)


# wgpu-native raises the second.
@pytest.mark.parametrize("kind", [wgpu.GPUOutOfMemoryError, wgpu.GPUValidationError])
def test_room_is_made(monkeypatch, kind):
    """The first attempt finds no memory; buffers not in use are freed, and the second gets it."""
    own = wgdml.Device()
    for tensor in [wgdml.asarray(np.zeros(1 << 20), device=own) for _ in range(3)]:
        tensor.numpy()
    del tensor
    pools = own.buffers.pool, own.transfers._writing, own.transfers._reading
    assert own.buffers.pool.count >= 3 and all(pool.bytes for pool in pools)
    original, attempts = own.gpu_device.create_buffer, []

    def tight(*, size, **rest):
        attempts.append(size)
        if any(pool.bytes for pool in pools):
            raise kind("Not enough memory left.")
        return original(size=size, **rest)

    monkeypatch.setattr(own.gpu_device, "create_buffer", tight)
    x = np.arange(3_000_000, dtype=np.float32)
    tensor = wgdml.asarray(x, device=own)
    assert attempts.count(tensor._memory.size) == 2, attempts
    monkeypatch.undo()
    oracle.assert_same(tensor.numpy(), x)
    works(own)


def test_other_errors_are_not_tried_again(monkeypatch):
    own = wgdml.Device()
    attempts = []

    def refuse(*, size, **rest):
        attempts.append(size)
        raise wgpu.GPUValidationError("Usage flags are invalid")

    monkeypatch.setattr(own.gpu_device, "create_buffer", refuse)
    with pytest.raises(RuntimeError, match="Usage flags"):
        own.buffers.allocate("x", 1 << 20)
    assert len(attempts) == 1
    monkeypatch.undo()
    works(own)
