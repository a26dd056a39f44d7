"""The kernels in headless Chromium's WebGPU on SwiftShader: the same bits. ``make test-web``."""

from __future__ import annotations

import base64
import functools
import http.server
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "demos" / "web"), str(ROOT / "tests")]

import oracle  # noqa: E402
import serve  # noqa: E402
from planning import SPANS, STEPS  # noqa: E402
from variants import as_shader, judged_by_tint, uses_subgroups, variants  # noqa: E402

from wgdml.plan import ALGORITHMS  # noqa: E402

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--enable-unsafe-webgpu",
    "--enable-features=Vulkan",
    "--use-webgpu-adapter=swiftshader",
    "--use-angle=swiftshader",
]


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site and takes the page's report."""

    reports: list[dict]
    done: threading.Event

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.reports.append(json.loads(self.rfile.read(length)))
        self.send_response(204)
        self.end_headers()
        self.done.set()

    def log_message(self, *arguments: object) -> None:
        pass


def browse(site: Path, seconds: float = 300) -> dict:
    """What the page reports from headless Chromium."""
    program = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
    assert program, "this test needs Chromium: make test-web installs it"
    reports: list[dict] = []
    done = threading.Event()
    handler = type("Kept", (Handler,), {"reports": reports, "done": done})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        address = f"http://127.0.0.1:{server.server_port}/?report"
        log = Path(profile) / "log"
        with log.open("wb") as output:
            browser = subprocess.Popen([program, *FLAGS, f"--user-data-dir={profile}", address], stdout=output, stderr=output)
            try:
                assert done.wait(seconds), f"no report after {seconds} s: {log.read_text(errors='replace')[-2000:]}"
            finally:
                browser.terminate()
                browser.wait(30)
                server.shutdown()
                server.server_close()
    return reports[0]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    serve.export(folder)
    return folder


@pytest.fixture(scope="module")
def report(site) -> dict:
    report = browse(site)
    assert report["error"] is None, report["error"]
    print(f"adapter: {report['adapter']}, subgroups: {report['subgroups']}")
    return report


def test_every_answer_is_exact(site, report):
    """Against the tests' oracle, which shares nothing with the page's own expectation."""
    cases = json.loads((site / "plans.json").read_text())["cases"]
    cases = [case for case in cases if report["subgroups"] or not case["subgroups"]]
    assert [case["name"] for case in cases] == [got["name"] for got in report["cases"]]
    for case, got in zip(cases, report["cases"], strict=True):
        x = serve.input_of(case["dtype"], case["shape"], case["input"]["mask"])
        axis = case["axis"]
        if axis == 2:
            x, axis = x.reshape(len(x), -1, 10).swapaxes(0, 1).reshape(x.shape[1] // 10, -1), 1
        values, indices = oracle.top_k(x, case["k"], axis, case["descending"])
        results = {key: base64.b64decode(text) for key, text in got["results"].items()}
        indices = indices.astype(np.uint32)
        oracle.assert_same(np.frombuffer(results["indices"], np.uint32).reshape(indices.shape), indices, case["name"])
        oracle.assert_same(np.frombuffer(results["values"], case["dtype"]).reshape(values.shape), values, case["name"])
        assert got["right"], case["name"]


def test_every_algorithm_runs_in_the_page():
    """All but those that read pairs alone, which serve the others, and those that read lengths."""
    assert set(serve.algorithm_cases()) == set(ALGORITHMS) - STEPS - SPANS
    assert {"row_sort_rank"} == STEPS
    texts = [dispatch["text"] for each in serve.all_cases() for dispatch in each["dispatches"]]
    assert any("fn rank_block(" in text for text in texts)


def test_the_cases_with_subgroups_use_them():
    for each in serve.SUBGROUP_CASES:
        texts = [dispatch["text"] for dispatch in serve.case(*each, subgroups=True)["dispatches"]]
        assert any(uses_subgroups(text) for text in texts), each


def test_tint_is_a_strict_judge():
    """It rejects what it should: a barrier not reached by all, and what only Naga takes."""
    head = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\nvar<workgroup> w: array<u32, 64>;\n"
    main = "@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) "
    texts = {
        "good": head + main + "{ w[i] = i; workgroupBarrier(); o[i] = w[63u - i]; }",
        "barrier": head + main + "{ w[i] = i; if (i < 3u) { workgroupBarrier(); } o[i] = w[63u - i]; }",
        "memory": head.replace("64", "64000") + main + "{ w[i] = i; workgroupBarrier(); o[i] = w[63u - i]; }",
        "unknown": main + "{ nothing(); }",
        "subgroups": head + main + "{ o[i] = subgroupMin(i); }",
        "diverged": head + main + "{ if (i < 3u) { o[i] = subgroupMin(i); } }",
    }
    _, said = judged_by_tint([{"name": name, "text": text, "pipeline": True} for name, text in texts.items()])
    assert set(said) == {"barrier", "memory", "unknown", "diverged"}, said
    for name in ("barrier", "diverged"):
        assert "uniform control flow" in said[name][0]["message"]


def every_switch():
    """Texts in which each kernel has each of its switches on and off, on each kind of machine."""
    seen, picked = set(), []
    for variant in variants(quick=True):
        switches = {(name, value) for name, value in variant.constants.items() if value in (0, 1)}
        machine = (variant.limits.software, variant.limits.subgroups)
        new = {(variant.kernel, each) for each in (*switches, machine)} - seen
        if new:
            seen |= new
            picked.append(variant)
    return picked


def test_tint_takes_every_kernel():
    summary, said = judged_by_tint([as_shader(number, variant) for number, variant in enumerate(every_switch())])
    assert not said, next(iter(said.items()))
    assert int(summary.split()[0]) >= 100
