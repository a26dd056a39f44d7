"""The kernels in a real browser: headless Chromium's WebGPU on SwiftShader gives the same bits. ``make test-web`` runs this."""

from __future__ import annotations

import base64
import functools
import http.server
import json
import os
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
from variants import judged_by_tint, uses_subgroups, variants  # noqa: E402

from wgdml import shaders  # noqa: E402

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
def report(tmp_path_factory) -> dict:
    site = tmp_path_factory.mktemp("site")
    serve.export(site)
    report = browse(site)
    assert report["error"] is None, report["error"]
    print(f"adapter: {report['adapter']}, subgroups: {report['subgroups']}")
    return report


def test_every_answer_is_exact(report):
    """Against the tests' oracle, which shares nothing with the page's own expectation."""
    cases = [*serve.CASES, *serve.SUBGROUP_CASES] if report["subgroups"] else serve.CASES
    assert len(report["cases"]) == len(cases)
    for (name, dtype, shape, axis, k, descending, mask), got in zip(cases, report["cases"], strict=True):
        values, indices = oracle.top_k(serve.input_of(dtype, shape, mask), k, axis, descending)
        results = {key: base64.b64decode(text) for key, text in got["results"].items()}
        oracle.assert_same(np.frombuffer(results["indices"], np.uint32).reshape(indices.shape), indices.astype(np.uint32), name)
        oracle.assert_same(np.frombuffer(results["values"], dtype).reshape(values.shape), values, name)
        assert got["right"], name


def test_the_cases_meet_most_kernels():
    kernels = {d["kernel"] for each in serve.CASES for d in serve.case(*each)["plan"]["dispatches"]}
    assert len(kernels) >= 12 and "gather" in kernels, kernels


def test_the_cases_with_subgroups_use_them():
    dispatches = [d for each in serve.SUBGROUP_CASES for d in serve.case(*each, subgroups=True)["plan"]["dispatches"]]
    kernels = {d["kernel"] for d in dispatches if uses_subgroups(shaders.assemble(d["kernel"], d["constants"]))}
    assert kernels == {"reduce"}


def test_the_page_assembles_the_same_texts(tmp_path):
    """assemble.js against shaders.py, on a sample of what the planner makes."""
    sample = variants(quick=True)[::7]
    sources = {name: shaders.source(name) for name in shaders.names()}
    sources |= {f"lib/{path.stem}": path.read_text() for path in (ROOT / "shaders" / "lib").glob("*.wgsl")}
    given = {"files": sources, "cases": [[v.kernel, v.constants, shaders.assemble(v.kernel, v.constants)] for v in sample]}
    (tmp_path / "cases.json").write_text(json.dumps(given))
    shutil.copyfile(ROOT / "demos" / "web" / "assemble.js", tmp_path / "assemble.mjs")
    (tmp_path / "check.mjs").write_text(
        "import { readFileSync } from 'node:fs';\n"
        "import { assemble } from './assemble.mjs';\n"
        "const { files, cases } = JSON.parse(readFileSync('cases.json'));\n"
        "for (const [kernel, constants, text] of cases) if (assemble(kernel, constants, files) !== text) throw new Error(kernel);\n"
        "console.log(cases.length);\n"
    )
    run = subprocess.run(["node", "check.mjs"], cwd=tmp_path, capture_output=True, text=True, env=dict(os.environ))
    assert run.returncode == 0 and run.stdout.strip() == str(len(sample)), run.stderr


def test_tint_is_a_strict_judge():
    """It rejects what it should: a barrier that not every invocation reaches, and what only Naga takes."""
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
