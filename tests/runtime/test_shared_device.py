"""The default device: on wgpu's shared one, which pygfx draws with, or on its own, and why."""

from __future__ import annotations

import os
import textwrap

import checks
import pytest

START = """
import numpy as np, wgpu
usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
x = np.arange(500, dtype=np.float32)[::-1].copy()
"""


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("WGDML_"):
            monkeypatch.delenv(name)


def python(code: str) -> None:
    """Runs code in a process of its own, where nobody has a device yet."""
    assert checks.python(START + textwrap.dedent(code) + "\nprint('done')") == "done\n"


def test_it_is_used_where_somebody_has_it() -> None:
    python(
        """
        import wgdml
        gpu = wgpu.utils.get_default_device()
        assert wgdml.runtime.device._WANTED_FEATURES and all(
            name in gpu.features for name in wgdml.runtime.device._WANTED_FEATURES if name in gpu.adapter.features
        )
        device = wgdml.default_device()
        assert device.gpu_device is gpu and device.gpu_device_reason == "wgpu's shared default device"
        assert device.adapter_reason == "that of wgpu's shared default device"
        tensor = wgdml.Tensor.from_buffer(gpu.create_buffer_with_data(data=x, usage=usage), "float32", x.shape)
        assert wgdml.argmax(tensor).numpy() == 0
        device.close()
        assert wgdml.argmax(x) == 0 and wgdml.default_device().gpu_device is gpu
        gpu.destroy()
        assert wgdml.argmax(x) == 0
        assert wgdml.default_device().gpu_device_reason == "of its own, as wgpu's shared default device is lost"
        """
    )


def test_it_may_be_older_than_the_import() -> None:
    python(
        """
        gpu = wgpu.utils.get_default_device()
        import wgdml
        assert wgdml.default_device().gpu_device is gpu and wgdml.argmax(x) == 0
        assert wgdml.Device().gpu_device is not gpu
        """
    )


def test_pygfx_s_buffers_go_in() -> None:
    python(
        """
        import pygfx as gfx, wgdml
        from pygfx.renderers.wgpu.engine.update import ensure_wgpu_object
        from rendercanvas.offscreen import RenderCanvas

        renderer = gfx.renderers.WgpuRenderer(RenderCanvas(size=(64, 64)))
        positions = np.stack([x, -x, x * 0], 1)
        points = gfx.Points(gfx.Geometry(positions=gfx.Buffer(positions, usage=usage)), gfx.PointsMaterial())
        renderer.render(points, gfx.OrthographicCamera())
        tensor = wgdml.Tensor.from_buffer(ensure_wgpu_object(points.geometry.positions), "float32", (500, 3))
        assert wgdml.argmax(tensor, axis=0).numpy().tolist() == [0, 499, 0]
        assert wgdml.argmax(x) == 0
        """
    )


def test_it_is_not_made_for_nobody_and_not_taken_later() -> None:
    python(
        """
        import wgdml
        assert wgdml.argmax(x) == 0
        device = wgdml.default_device()
        assert device.gpu_device_reason == "of its own, as nobody had wgpu's shared default device"
        assert wgpu.utils.get_default_device() is not device.gpu_device and wgdml.default_device() is device
        assert wgdml.Device().gpu_device_reason == "of its own"
        assert wgdml.Device(device.gpu_device).gpu_device_reason == "given by the caller"
        """
    )


def test_it_is_not_used_with_less_than_its_adapter_allows() -> None:
    python(
        """
        import wgdml
        wgpu.preconfigure_default_device("a test", required_limits={"max-buffer-size": 1 << 28})
        gpu = wgpu.utils.get_default_device()
        device = wgdml.default_device()
        assert device.limits["max-buffer-size"] > gpu.limits["max-buffer-size"]
        less = f"has max-buffer-size 268435456 of the adapter's {gpu.adapter.limits['max-buffer-size']}"
        assert device.gpu_device_reason == f"of its own, as wgpu's shared default device {less}"
        """
    )


def test_it_is_used_with_fewer_bindings_than_its_adapter_announces() -> None:
    """OpenGL's announces 2^32 - 1, and no device of it gets over 1000."""
    python(
        """
        import wgdml
        gpu = wgpu.utils.get_default_device()
        gpu.adapter._limits["max-bindings-per-bind-group"] = (1 << 32) - 1
        assert wgdml.default_device().gpu_device is gpu
        """
    )


@pytest.mark.parametrize("name, value", [("WGDML_ADAPTER", "0"), ("WGDML_LIMITS", "minimum"), ("WGDML_SUBGROUPS", "off")])
def test_it_is_not_used_where_a_variable_asks_for_another(monkeypatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    python(
        f"""
        import wgdml
        gpu = wgpu.utils.get_default_device()
        device = wgdml.default_device()
        assert device.gpu_device is not gpu and device.gpu_device_reason == "of its own, as {name} is set"
        """
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_fork_from_a_process_that_has_it_is_told() -> None:
    python(
        """
        import os, wgdml
        gpu = wgpu.utils.get_default_device()
        pid = os.fork()
        if not pid:
            try:
                wgdml.argmax(x)
            except RuntimeError as error:
                os._exit(7 if "forked" in str(error) else 8)
            os._exit(9)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        assert wgdml.argmax(x) == 0
        """
    )
