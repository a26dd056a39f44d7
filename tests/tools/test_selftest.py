"""The check of an installed copy: it passes here, and it notices and reports what is wrong."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import wgdml
import wgdml.cli
from wgdml import selftest


def test_passes_in_ten_seconds(device):
    result = CliRunner().invoke(selftest.command, [])
    assert result.exit_code == 0, result.output
    found = re.search(r"all (\d+) checks passed in ([\d.]+) s", result.output)
    assert found and int(found[1]) >= 10 and float(found[2]) < 10, result.output


def test_later_checks_are_right(device):
    """Those that a slow machine leaves out."""
    for check in selftest.checks()[5::7]:
        assert selftest._first_difference(check.call(device=device), check.expected()) == "", check.name


@pytest.mark.parametrize("broken", ["wrong index", "exception"])
def test_reports_what_is_wrong(device, monkeypatch, broken):
    def argmax(x, **options):
        if broken == "exception":
            raise RuntimeError("shader does not compile")
        return np.argmax(x, axis=options["axis"]) + 1

    monkeypatch.setattr(selftest.functions, "argmax", argmax)
    result = CliRunner().invoke(selftest.command, [])
    assert result.exit_code == 1
    assert "WRONG  argmax of float32 (16, 1000), axis 1" in result.output
    assert "Please report it" in result.output and device.adapter_info["device"] in result.output
    assert ("elements differ, the first at 0" if broken == "wrong index" else "shader does not compile") in result.output
    document = json.loads(CliRunner().invoke(selftest.command, ["--json"]).output)
    assert document["failures"][0]["check"] == "argmax of float32 (16, 1000), axis 1"
    assert document["wgdml"] == wgdml.__version__ and document["limits"]["max-buffer-size"] > 0


def test_no_adapter(monkeypatch):
    def none() -> None:
        raise wgdml.NoAdapterError("wgpu found no adapter. Install one")

    monkeypatch.setattr(selftest, "default_device", none)
    result = CliRunner().invoke(wgdml.cli.main, ["selftest"])
    assert result.exit_code == 1 and result.output == "wgdml: error: wgpu found no adapter. Install one\n"
