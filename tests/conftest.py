"""One device for the whole run, and how Hypothesis searches."""

from __future__ import annotations

import os
import tempfile

# Vulkan loaders complain on stderr without it; it has to be there before wgpu is imported.
os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())

import hypothesis
import pytest

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


@pytest.fixture(scope="session")
def device():
    """The device that the functions use. With no adapter the tests fail; they do not skip."""
    import wgdml

    try:
        return wgdml.default_device()
    except wgdml.NoAdapterError as error:
        pytest.fail(f"the tests need a WebGPU adapter: {error}", pytrace=False)
