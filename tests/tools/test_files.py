"""Files that are written whole: what lies in their place stays until then."""

from __future__ import annotations

import json
import os

import pytest

import wgdml.files
from wgdml.files import write_json


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    write_json(str(link), {"a": 1})
    assert link.is_symlink() and json.loads(target.read_text()) == {"a": 1}
    assert sorted(os.listdir(tmp_path)) == ["link.json", "target.json"]


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    with pytest.raises(ValueError):
        write_json(path, {"a": float("nan")})
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["out.json"]


def test_ctrl_c_right_after_the_file_is_made_leaves_none(tmp_path, monkeypatch):

    def interrupted(*arguments, **options):
        with open(*arguments, **options):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(wgdml.files, "open", interrupted, raising=False)
        write_json(tmp_path / "out.json", {"a": 1})
    assert not os.listdir(tmp_path)


def test_a_name_of_255_bytes(tmp_path):
    name = "\N{BLACK CHESS KNIGHT}" * 85
    write_json(tmp_path / name, {"a": 1})
    assert os.listdir(tmp_path) == [name]


@pytest.mark.skipif(os.name != "posix", reason="devices as POSIX has them")
def test_a_device_is_written_to_and_not_replaced():
    write_json("/dev/null", {"a": 1})
    assert not os.path.isfile("/dev/null")


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_permissions_are_those_of_the_file_replaced_or_as_open_gives_them(tmp_path):
    new, old, opened = tmp_path / "new.json", tmp_path / "old.json", tmp_path / "opened"
    old.write_text("old")
    old.chmod(0o640)
    opened.write_text("")
    for path in (new, old):
        write_json(path, {"a": 1})
    assert new.stat().st_mode == opened.stat().st_mode and old.stat().st_mode & 0o777 == 0o640
