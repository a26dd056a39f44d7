"""One device for the whole run, and how Hypothesis searches."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import signal
import subprocess
import tempfile
import weakref
from contextlib import suppress
from dataclasses import replace

# Vulkan loaders complain on stderr without it; it has to be there before wgpu is imported.
os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
# What somebody tuned on this machine is no part of the tests.
os.environ.setdefault("WGDML_PROFILE", "off")

import hypothesis
import pytest
from planning import KEPT, PLANS

# A shell starts what it runs in the background with Ctrl-C ignored; the tests of interrupts send
# themselves the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
)
hypothesis.settings.register_profile(
    "long",
    deadline=None,
    max_examples=3000,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser):
    parser.addoption("--plan-as", metavar="KIND", help="plan as for this kind of adapter: discrete, integrated or software")
    parser.addoption("--fenced", action="store_true", help="compile kernels as for Metal, with fences")
    parser.addoption("--reverse", action="store_true", help="number the invocations of workgroups from the last one on")


def reverse(text):
    """A kernel whose invocations have each other's numbers, the first the last one's."""
    given = "@builtin(local_invocation_index) local: u32) {"
    return text.replace(given, given.replace("local:", "forward:") + "\n  let local = WORKGROUP - 1u - forward;")


def pytest_configure(config):
    """Software adapters then run what GPUs run: the rules and kernels that are not theirs."""
    kind = config.getoption("--plan-as")
    if kind:
        from wgdml.runtime.context import Context

        machine = Context.machine
        Context.machine = lambda self: replace(machine(self), kind=kind)
    if config.getoption("--fenced"):
        from wgdml.runtime.context import Context

        Context.fenced = property(lambda self: True, lambda self, _: None)
    if config.getoption("--reverse"):
        from wgpu.backends.wgpu_native import GPUDevice

        # Software adapters run invocations one after the other from barrier to barrier. Where a
        # barrier is missing, later ones find what earlier ones have left: now it is the other way.
        create = GPUDevice.create_shader_module
        GPUDevice.create_shader_module = lambda self, *, code, **more: create(self, code=reverse(code), **more)


def pytest_collection():
    """Nothing of what is made until the next hook goes before the end."""
    gc.disable()


def pytest_collection_finish():
    """Modules and thousands of tests stay until the end. No search for garbage looks at them."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def device():
    """The device that the functions use. With no adapter the tests fail; they do not skip."""
    import wgdml

    try:
        return wgdml.default_device()
    except wgdml.NoAdapterError as error:
        pytest.fail(f"the tests need a WebGPU adapter: {error}", pytrace=False)


@pytest.fixture(scope="session", autouse=True)
def default_devices():
    """The default devices that were made.

    A software adapter holds 4 MB for each kernel, and the tests have many: the default device keeps
    fewer than it would.
    """
    import wgdml
    from wgdml.runtime import default
    from wgdml.runtime.pipelines import Pipelines

    made = weakref.WeakSet()

    def make():
        device = wgdml.Device(kept=PLANS)
        device.pipelines = Pipelines(device.context, KEPT)
        made.add(device)
        return device

    default.made_by(make)
    return made


@pytest.fixture
def no_device(monkeypatch):
    """Fails where a default device is opened."""
    from wgdml.runtime import default

    def refuse():
        raise AssertionError("a device was opened")

    monkeypatch.setattr(default, "_device", None)
    monkeypatch.setattr(default, "_make", refuse)


@pytest.fixture(scope="module", autouse=True)
def freed(default_devices):
    """What a file leaves goes after it: buffers, devices in cycles, and memory that glibc keeps."""
    yield
    for device in default_devices:
        if device.context.gone is None:
            device.trim()
    give_back()


def give_back():
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture(scope="module")
def room(device):
    """The kernels that other files left make room for large tensors."""
    import wgdml

    device.kept.clear()
    device.pipelines.clear()
    device.trim()
    gc.collect()
    wgdml.asarray([0], device=device).numpy()  # wgpu frees what nothing uses when it waits
    give_back()


@pytest.fixture
def forced(device):
    """Makes a device that plans as asked (``planning.planned_device``), and lists what it plans."""
    from planning import planned_device

    def make(*asked, **numbers):
        own, planned = planned_device(device, *asked, **numbers)
        return own, planned.plans

    return make


@pytest.fixture
def display():
    """A virtual X display. It must not reset when a client leaves, or the next finds it closed."""
    for program in ("Xvfb", "xdotool"):
        assert shutil.which(program), f"{program} is missing: make setup installs it (apt-get install xvfb xdotool)"
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1000x700x24", "-nolisten", "tcp", "-noreset"]
    server = subprocess.Popen(command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as pipe:
            yield f":{pipe.readline().strip()}"
    finally:
        server.terminate()
        server.wait(10)
