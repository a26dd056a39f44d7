"""The live demo: its pixels against NumPy's argmax and top-k, its window with real events."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import wgpu
from click.testing import CliRunner
from PIL import Image, ImageGrab

from wgdml.cli import main
from wgdml.demo.colours import palette
from wgdml.demo.live import Live
from wgdml.demo.scene import MAX_CLASSES, MAX_K, Scene, Settings
from wgdml.demo.stage import Stage

MAPS = (256, 192)
STEPS = Path(__file__).resolve().parents[2] / "demos" / "steps.py"

# --- Without a display ---


def contents(scene: Scene) -> dict[str, np.ndarray]:
    """What the scene's buffers hold. Only the test reads them back."""
    read = scene.device.gpu_device.queue.read_buffer
    settings, (width, height) = scene.settings, (scene.width, scene.height)
    scores = np.frombuffer(read(scene.scores, 0, 4 * settings.classes * height * width), np.float32)
    return {
        "scores": scores.reshape(settings.classes, height, width),
        "saliency": np.frombuffer(read(scene.saliency), np.float32),
        "labels": np.frombuffer(read(scene.labels), np.uint32).reshape(height, width),
        "values": np.frombuffer(read(scene.values), np.float32)[: settings.k],
        "indices": np.frombuffer(read(scene.indices), np.uint32)[: settings.k],
    }


def expected_labels(scores: np.ndarray, last: bool) -> np.ndarray:
    return len(scores) - 1 - scores[::-1].argmax(0) if last else scores.argmax(0)


def expected_indices(saliency: np.ndarray, settings: Settings) -> np.ndarray:
    return np.argsort(-saliency if settings.largest else saliency, kind="stable")[: settings.k]


def expected_picture(scores: np.ndarray, saliency: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The label map in NumPy: the class's colour, lit by its score, with the points; no marks."""
    best = np.take_along_axis(scores, labels[None], 0)[0]
    lit = palette(MAX_CLASSES)[labels] * np.clip(0.92 + 1.5 * best, 0.3, 1.05)[..., None]
    point = saliency.reshape(labels.shape)[..., None]
    return np.clip(lit + ((point > 0) - lit) * 0.75 * np.abs(point), 0, 1) * 255


def draw(settings: Settings, frames: int = 2) -> tuple[Scene, np.ndarray]:
    """The scene pixel for pixel, without the panel."""
    stage = Stage(MAPS, "test", offscreen=True)
    live = Live(stage, MAPS, settings, panel=False)
    image = stage.pictures(live, frames)
    assert image.shape == (MAPS[1], MAPS[0], 3)
    return live.scene, image


@pytest.mark.parametrize(
    "settings",
    [
        Settings(16, 24),
        Settings(5, 9, largest=False, last_index=True),
        Settings(1, 1),
        Settings(32, 300, last_index=True),
    ],
    ids=str,
)
def test_every_pixel_is_what_numpy_says(settings: Settings) -> None:
    scene, image = draw(settings)
    found = contents(scene)
    labels = expected_labels(found["scores"], settings.last_index)
    indices = expected_indices(found["saliency"], settings)
    assert np.array_equal(found["labels"], labels)
    assert np.array_equal(found["indices"], indices)
    assert np.array_equal(found["values"], found["saliency"][indices])

    # Off the marks every pixel has its label's colour; on them there is a ring around each of
    # NumPy's points and nowhere else.
    plain = expected_picture(found["scores"], found["saliency"], labels)
    marked = (np.abs(image - plain) > 2).any(2)
    y, x = np.indices(marked.shape)
    near = np.zeros_like(marked)
    for rank, index in enumerate(indices):
        away = np.hypot(x - index % MAPS[0], y - index // MAPS[0])
        near |= away < (15 if rank == 0 else 11)
        ring = (away > 2) & (away < (15 if rank == 0 else 11))
        assert marked[ring].mean() > 0.2, f"no ring around point {rank}"
    assert not (marked & ~near).any()


def test_ties_are_common_and_the_rule_for_them_shows() -> None:
    first, first_image = draw(Settings(12, 1))
    last, last_image = draw(Settings(12, 1, last_index=True))
    scores = contents(first)["scores"]
    ties = (scores == scores.max(0)).sum(0) > 1
    assert 0.02 < ties.mean() < 0.5
    differ = (first_image != last_image).any(2)
    assert differ[ties].mean() > 0.9
    assert not differ[~ties].any()
    assert contents(last)["labels"][ties].sum() > contents(first)["labels"][ties].sum()


def test_keys_the_mouse_and_pause_change_what_is_shown() -> None:
    stage = Stage((840, 544), "test", offscreen=True)
    live = Live(stage, MAPS, Settings())
    for key in ("ArrowUp", "ArrowRight", "l", "T", " "):
        live.key(key)
    assert live.scene.settings == Settings(17, 128, largest=False, last_index=True)
    assert live.paused and live.title.endswith("paused")
    for _ in range(9):
        live.key("ArrowUp")
        live.key("ArrowDown")
        live.key("ArrowDown")
    assert live.scene.settings.k == 1
    for _ in range(12):
        live.key("ArrowUp")
    assert live.scene.settings.k == MAX_K

    x, y, width, height = live.area((840, 544), 1.0)
    place = (MAPS[0] * 0.25, MAPS[1] * 0.75)
    nearest = int(np.argmin(((live.scene.positions() - place) ** 2).sum(1)))
    live.pointer("down", x + width * 0.25, y + height * 0.75)
    live.pointer("move", x + width * 0.5, y + height * 0.5)
    live.pointer("up", x + width * 0.5, y + height * 0.5)
    live.pointer("move", x, y)
    assert np.allclose(live.scene.positions()[nearest], (MAPS[0] * 0.5, MAPS[1] * 0.5))

    before = stage.pictures(live, 2)
    assert np.array_equal(before[:, 300:], stage.pictures(live, 1)[:, 300:])  # beside the panel
    live.key(" ")
    assert not np.array_equal(before[:, 300:], stage.pictures(live, 1)[:, 300:])
    live.key("r")
    assert live.scene.settings == Settings() and live.scene.time == 0


def test_the_panel_is_drawn_at_once_and_can_be_hidden() -> None:
    stage = Stage((840, 544), "test", offscreen=True)
    live = Live(stage, MAPS, Settings())
    panel = stage.pictures(live, 1)[:, :296]
    assert (panel.max(2) > 200).sum() > 1000  # text, in the first frame already
    live.key("p")
    assert live.area((840, 544), 1.0)[0] < 296


@pytest.mark.parametrize(
    ("window", "ratio"), [((840, 544), 1.0), ((90, 300), 1.0), ((2000, 400), 2.0), ((1, 1), 1.0), ((300, 5), 1.5)]
)
def test_the_picture_keeps_inside_any_window(window: tuple[int, int], ratio: float) -> None:
    live = Live(Stage((840, 544), "test", offscreen=True), MAPS, Settings())
    for live.panel in (True, False):
        x, y, width, height = live.area(window, ratio)
        assert x >= 0 and y >= 0 and width >= 1 and height >= 1
        assert x + width <= window[0] and y + height <= window[1]


def test_the_command_writes_the_picture_and_says_what_it_took(tmp_path: Path) -> None:
    out = tmp_path / "demo.png"
    result = CliRunner().invoke(main, ["demo", "--offscreen", "--frames", "3", "--map", "256x192", "--screenshot", str(out)])
    assert result.exit_code == 0, result.output
    assert "3 frames of 16 x 192 x 256 scores" in result.output
    with Image.open(out) as image:
        assert image.size == (840, 544)
        assert len(image.getcolors(1 << 20)) > 1000


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--screenshot", "a.png"], "needs --offscreen"),
        (["--offscreen", "--screenshot", "a.jpg"], "must end in .png"),
        (["--offscreen", "--screenshot", "no/such/folder/a.png"], "there is no directory"),
        (["--map", "130x128"], "multiple of 4"),
        (["--map", "1000"], "not a size"),
        (["--window", "10x10"], "64 to 4096"),
        (["--classes", "33"], "33"),
        (["-k", "513"], "513"),
    ],
)
def test_bad_options_are_refused_before_anything_is_drawn(arguments: list[str], complaint: str) -> None:
    result = CliRunner().invoke(main, ["demo", *arguments])
    assert result.exit_code == 2
    assert complaint in result.output


def test_what_goes_wrong_in_a_frame_is_raised_and_a_cancelled_frame_is_not() -> None:
    stage = Stage(MAPS, "test", offscreen=True)
    live = Live(stage, MAPS, Settings(), panel=False)

    def raising(problem: Exception) -> Callable[..., None]:
        def record(*args: object) -> None:
            raise problem

        return record

    before = stage.pictures(live, 1)
    live.record = raising(wgpu.DrawCancelled("the window just changed its size"))
    assert np.array_equal(stage.pictures(live, 1), before)
    live.record = raising(ZeroDivisionError("a defect"))
    with pytest.raises(ZeroDivisionError, match="a defect"):
        stage.pictures(live, 1)


def test_maps_that_the_adapter_has_no_room_for_are_refused() -> None:
    result = CliRunner().invoke(main, ["demo", "--offscreen", "--frames", "1", "--map", "4096x4096", "--classes", "32"])
    assert result.exit_code == 2
    assert "room for" in result.output


def test_without_its_packages_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.startswith("wgdml.demo.") and n != "wgdml.demo.command"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "imgui_bundle", None)
    result = CliRunner().invoke(main, ["demo", "--offscreen"])
    assert result.exit_code == 1
    assert 'pip install "wgdml[demo]"' in result.output


# --- In a window ---


def until(condition: Callable[[], bool], what: str, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.1)


@pytest.mark.skipif(sys.platform != "linux", reason="needs Xvfb, which only Linux has")
def test_the_steps_have_a_window_too(display: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "WAYLAND_DISPLAY"} | {"DISPLAY": display}
    command = [sys.executable, str(STEPS), "delegates", "--frames", "5"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


# Xvfb is Linux's; elsewhere the same code runs without a display, above.
@pytest.mark.skipif(sys.platform != "linux", reason="needs Xvfb, which only Linux has")
def test_the_window_obeys_real_keys_and_the_mouse_and_closes_cleanly(display: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "WAYLAND_DISPLAY"} | {"DISPLAY": display}
    command = [sys.executable, "-m", "wgdml", "demo", "--map", "256x256", "--classes", "6", "-k", "16"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as demo:
        try:

            def do(*words: object) -> str:
                result = subprocess.run(["xdotool", *map(str, words)], env=environment, capture_output=True, text=True, timeout=20)
                return result.stdout.strip()

            def title() -> str:
                assert demo.poll() is None, demo.communicate()
                return do("search", "--name", "^wgdml demo: ", "getwindowname")

            def screen() -> np.ndarray:
                return np.asarray(ImageGrab.grab(xdisplay=display))[:544, :840, :3].astype(int)

            until(lambda: title() == "wgdml demo: 6 classes, 16 largest, first index wins ties", "the window")
            window = do("search", "--name", "^wgdml demo: ")
            do("mousemove", "--window", window, 560, 280)
            do("key", "Up", "Right", "l", "t", "space")
            until(lambda: title() == "wgdml demo: 7 classes, 32 smallest, last index wins ties, paused", "the keys")

            # Paused, only the dragged source can change the map, under the mouse first of all.
            before = screen()
            assert len(np.unique(before[20:520, 320:820].reshape(-1, 3), axis=0)) > 500
            do("mousemove", "--window", window, 400, 400, "mousedown", 1, "mousemove", "--window", window, 420, 380)
            do("mousemove", "--window", window, 700, 120)
            until(lambda: bool((np.abs(screen() - before)[20:520, 320:820].max(2) > 30).mean() > 0.02), "the drag")
            do("mouseup", 1)

            # The panel's button goes on, and the picture moves.
            do("mousemove", "--window", window, 100, 421, "click", 1)
            until(lambda: not title().endswith("paused"), "the panel's button")

            do("windowsize", window, 500, 420)
            do("windowmove", window, 30, 40)
            until(lambda: bool(screen()[440:, 560:].max() == 0), "the smaller window")
            do("windowminimize", window)
            do("windowmap", window)
            assert re.match(r"wgdml demo: 7 classes", title())
            do("key", "--window", window, "q")
            out, errors = demo.communicate(timeout=30)
            assert (demo.returncode, out, errors) == (0, "", "")
        finally:
            if demo.poll() is None:
                demo.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux runs without a display")
def test_without_a_display_it_says_what_to_do() -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = [sys.executable, "-m", "wgdml", "demo", "--frames", "1"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1 and "--offscreen" in result.stderr
