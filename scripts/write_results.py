"""Writes docs/results.md from benchmarks/results/*.json, after a check of each file.

``--check`` writes nothing and fails where the page differs. ``--add OUT.json`` first takes what
``wgdml bench --json OUT.json`` or ``wgdml tune --json OUT.json`` wrote into the folder. Such files
that lie in the folder themselves are taken too, and give place to the folder's own.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "results.md"
BEGIN, END = "<!-- results -->", "<!-- /results -->"

Result = dict[str, Any]

#: What a file must have and may have, in the order in which they are written.
TEXTS = ("date", "commit", "adapter", "driver", "what", "command", "notes", "unit")
OPTIONAL = {"command", "notes"}
UNITS = ("ns", "us", "ms", "s", "GB/s", "numbers")


# ----------------------------------------------------------------------------
# A file


def read(path: Path) -> Result:
    """A file's measurement. ``ValueError`` names the file and the rule that it breaks."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        check(path.name, result)
    except ValueError as problem:
        raise ValueError(f"{path.name}: {problem}") from None
    return result


def check(name: str, result: Any) -> None:
    """``ValueError`` where a measurement, in a file of this name, breaks a rule of the folder."""
    if not isinstance(result, dict):
        raise ValueError("must be one object")
    if unknown := sorted(set(result) - {*TEXTS, "rows"}):
        raise ValueError(f"{unknown[0]} is no field of a result; these are: {', '.join((*TEXTS, 'rows'))}")
    for field in TEXTS:
        given = result.get(field)
        if not (isinstance(given, str) and given.strip()) and not (given is None and field in OPTIONAL):
            raise ValueError(f"{field} must be a text, not {given!r}")
    datetime.date.fromisoformat(result["date"])
    if not re.fullmatch(rf"{result['date']}(-[a-z0-9]+)+\.json", name):
        raise ValueError(f"its name must be {result['date']}-WORDS.json, of small letters, digits and hyphens")
    if not re.fullmatch(r"[0-9a-f]{7,40}", result["commit"]):
        raise ValueError(f"commit must be 7 to 40 hexadecimal digits, not {result['commit']!r}")
    if result["unit"] not in UNITS:
        raise ValueError(f"unit must be one of {', '.join(UNITS)}, not {result['unit']!r}")
    rows = result.get("rows")
    if not isinstance(rows, list) or not rows:
        raise ValueError("rows must be a list of at least one row")
    for number, row in enumerate(rows, 1):
        check_row(f"row {number}", row)


def check_row(name: str, row: Any) -> None:
    """``ValueError`` where a row is not a text or more with a figure or more, by names."""
    if not isinstance(row, dict):
        raise ValueError(f"{name} must be an object, not {row!r}")
    for key, value in row.items():
        if not re.fullmatch(r"[a-z][a-z0-9_]*", key):
            raise ValueError(f"{name}: the name {key!r} must be of small letters, digits and underscores")
        if not (isinstance(value, bool | str) or is_figure(value) or is_names(value)):
            raise ValueError(f"{name}: {key} must be a figure, [least, most], a text or yes or no, not {value!r}")
    if not any(isinstance(value, str) for value in row.values()) or not any(map(is_figure, row.values())):
        raise ValueError(f"{name} must have a text that says what it is, and a figure")


def is_figure(value: Any) -> bool:
    """A number, or the least and the most of several runs."""
    if isinstance(value, list):
        return len(value) == 2 and all(map(is_number, value))
    return is_number(value)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def text_of(result: Result) -> str:
    """A measurement as the folder's files have it: a line for each row."""
    head = [f' "{field}": {json.dumps(result[field])}' for field in TEXTS if field in result]
    rows = ",\n".join(f"  {json.dumps(row)}" for row in result["rows"])
    return "{\n" + ",\n".join([*head, f' "rows": [\n{rows}\n ]']) + "\n}\n"


# ----------------------------------------------------------------------------
# A run of the benchmark as such a file


def taken(document: Any, commit: str) -> tuple[str, Result]:
    """The name of a file, and the measurement of a run that ``wgdml`` wrote with ``--json``."""
    if not isinstance(document, dict) or document.get("schema") != 1:
        raise ValueError("this is not what wgdml bench --json writes (schema 1), nor wgdml tune --json")
    own = of_tune(document) if document.get("command") == "tune" else of_bench(document)
    adapter = document["adapter"]
    device = adapter["device"].partition(" (")[0]
    driver = [text for text in (adapter["backend_type"], adapter["description"]) if text]
    date = document["when"][:10]
    words = re.findall(r"[a-z0-9]+", f"{document.get('preset', 'tune')} {device}".lower())
    result = {"date": date, "commit": commit, "adapter": device, "driver": ", ".join(driver)} | own
    name = "-".join([date, *words]) + ".json"
    check(name, result)
    return name, result


def of_tune(document: Result) -> Result:
    """What ``wgdml tune`` measured and changed."""
    if document["wrong"]:
        raise ValueError(f"two plans had two answers: {', '.join(document['wrong'])}")
    facts, judged = document["facts"], document["judged"]
    names = {"empty_dispatch_us": "a dispatch, us", "dependent_dispatch_us": "a dispatch that depends on one, us"}
    names |= {"barrier_ns": "a barrier, ns", "atomic_ns": "an atomic addition of a workgroup, ns"}
    names |= {"workgroups_at_once": "workgroups at once"}
    rows: list[Result] = [{"number": name, "here": rounded(facts[field])} for field, name in names.items()]
    rate = max(rate for rates in facts["reads"].values() for rate in rates.values()) / 1e9
    rows.insert(0, {"number": "reads, GB/s", "here": rounded(rate)})
    rows += [{"number": name, "default": document["default"][name], "here": n} for name, n in document["numbers"].items()]
    unseen = f"{judged['problems']} problems that it was not tuned by are {judged['gain']:.2f} times as fast (geometric mean)"
    notes = f"{unseen}. Timed by {document['timer']}." if judged["problems"] else "Nothing is faster than the default."
    what = "What wgdml tune measured, and the numbers that differ from the default"
    return {"what": what, "command": "wgdml tune", "notes": notes, "unit": "numbers", "rows": rows}


def of_bench(document: Result) -> Result:
    """A run of the benchmark that came to its end, every answer exact."""
    if not document["complete"]:
        raise ValueError("this run did not come to its end")
    for case in document["cases"]:
        if not case["exact"]:
            raise ValueError(f"{case['case']} {case['data']} failed or was wrong: {case.get('error') or case['problem']}")
    ceiling = document["ceiling"]["bytes_per_second"] / 1e9
    return {
        "what": f"The benchmark's table {document['preset']!r}; every answer exact",
        "command": f"wgdml bench --preset {document['preset']}",
        "notes": f"Device times by {document['timer']}. Read ceiling {rounded(ceiling)} GB/s.",
        "unit": "us",
        "rows": [row_of(case, document["preset"] == "any") for case in document["cases"]],
    }


def row_of(case: Result, drawn: bool) -> Result:
    """A case's own time, the time to read its input once, and those of others in the same run.

    Of a case that was drawn, how many times its floor it takes.
    """
    row = {"case": case["case"], "data": case["data"], "wgdml": rounded(case["device_us"])}
    if drawn:
        row["times_floor"] = rounded(case["times_floor"])
    elif case.get("floor_us"):
        row["floor"] = rounded(case["floor_us"])
    for name, peer in case["peers"].items():
        if "us" in peer and peer.get("correct", True):
            row[re.sub(r"\W", "_", name.lower())] = rounded(peer["us"])
    return row


def rounded(number: float) -> float:
    """A number to three figures, whole from 100 on."""
    return round(number, max(0, 2 - math.floor(math.log10(number)))) if number > 0 else 0.0


def commit_here() -> str:
    """The commit of this checkout, to seven digits."""
    done = subprocess.run(["git", "rev-parse", "--short=7", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"the commit is not known; this must be a Git checkout: {done.stderr.strip()}")
    return done.stdout.strip()


def add(source: Path, commit: str) -> Path:
    """Puts a run's file into the folder. ``ValueError`` where it is none, or one is there."""
    name, result = taken(json.loads(source.read_text(encoding="utf-8")), commit)
    if (FOLDER / name).exists():
        raise ValueError(f"benchmarks/results/{name} is there already: give it, or this one, another name")
    (FOLDER / name).write_text(text_of(result), encoding="utf-8")
    return FOLDER / name


def is_run(path: Path) -> bool:
    """Is a file what ``wgdml`` wrote, and not yet the folder's own?"""
    return '"schema":' in path.read_text(encoding="utf-8")[:200]


# ----------------------------------------------------------------------------
# The page


def overview(results: dict[str, Result]) -> str:
    """Each adapter's newest random problems: how far from the floor, and beside PyTorch."""
    lines = [
        "| adapter | driver | problems | times the floor: mean | 90% | worst | PyTorch takes |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    newest: dict[str, Result] = {}
    for name in sorted(results):
        if all(is_number(row.get("times_floor")) and is_number(row.get("wgdml")) for row in results[name]["rows"]):
            newest[results[name]["adapter"]] = results[name]
    for adapter in sorted(newest, key=str.lower):
        rows = newest[adapter]["rows"]
        far = sorted(row["times_floor"] for row in rows)
        beside = [
            row[peer] / row["wgdml"]
            for row in rows
            for peer in ("pytorch", "torch")
            if is_number(row.get(peer)) and row["wgdml"] > 0
        ]
        torch = f"{rounded(mean(beside))} times as long" if beside else ""
        figures = (rounded(n) for n in (mean(far), far[len(far) * 9 // 10], far[-1]))
        driver = newest[adapter]["driver"]
        lines.append(f"| {plain(adapter)} | {plain(driver)} | {len(far)} | {' | '.join(map(str, figures))} | {torch} |")
    return "\n".join(lines)


def mean(figures: list[float]) -> float:
    """Geometric."""
    return math.exp(sum(math.log(max(figure, 1e-9)) for figure in figures) / len(figures))


def sections(results: dict[str, Result]) -> str:
    """All measurements by adapter, the newest first."""
    parts = []
    for adapter in sorted({result["adapter"] for result in results.values()}, key=str.lower):
        parts.append(f"## {adapter}")
        parts += [section(name, results[name]) for name in sorted(results, reverse=True) if results[name]["adapter"] == adapter]
    return "\n\n".join(parts)


def section(name: str, result: Result) -> str:
    """One measurement: what it is, where it is from, its table."""
    columns = list(dict.fromkeys(key for row in result["rows"] for key in row))
    figures = [any(is_figure(row.get(key)) for row in result["rows"]) for key in columns]
    table = [
        "| " + " | ".join(key.replace("_", " ").strip() for key in columns) + " |",
        "|" + "|".join("---:" if figure else "---" for figure in figures) + "|",
        *("| " + " | ".join(cell(row.get(key)) for key in columns) + " |" for row in result["rows"]),
    ]
    origin = f"{plain(result['driver'])}, commit `{result['commit']}`."
    if "command" in result:
        origin += f" `{result['command']}`"
    text = [plain(f"{result['what'].rstrip('.')}. In {result['unit']}."), origin, plain(result.get("notes", ""))]
    paragraphs = [textwrap.fill(t, 100, break_long_words=False, break_on_hyphens=False) for t in text if t]
    return "\n\n".join([f"### {name.removesuffix('.json')}", *paragraphs, "\n".join(table)])


def cell(value: Any) -> str:
    """A value of a row as a table shows it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case str():
            return plain(value)
        case [str(), *_]:
            return plain(", ".join(value))
        case list():
            least, most = sorted(value)
            return f"{cell(least)} to {cell(most)}"
        case _:
            return f"{int(value):,}" if value == int(value) else str(value)


def plain(text: str) -> str:
    """Text without a meaning in Markdown, but for code."""
    return re.sub(r"([|<>*\[\]])", r"\\\1", text)


def page(text: str, results: dict[str, Result]) -> str:
    """The page's text with these results between its marks."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{overview(results)}\n\n{sections(results)}\n\n{END}{tail}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the page differs")
    parser.add_argument("--add", type=Path, metavar="OUT.json", help="take a run of wgdml bench or wgdml tune")
    options = parser.parse_args()
    try:
        if options.add:
            print(add(options.add, commit_here()).relative_to(ROOT))
        for path in filter(is_run, FOLDER.glob("*.json")):
            if options.check:
                raise ValueError(f"{path.name} is a run as wgdml wrote it: scripts/write_results.py takes it into the folder")
            print(add(path, commit_here()).relative_to(ROOT))
            path.unlink()
        results = {path.name: read(path) for path in FOLDER.glob("*.json")}
    except (OSError, ValueError) as problem:
        print(problem, file=sys.stderr)
        return 1
    text = PAGE.read_text(encoding="utf-8")
    wanted = page(text, results)
    if options.check:
        if wanted != text:
            print("docs/results.md differs from benchmarks/results: run scripts/write_results.py", file=sys.stderr)
        return int(wanted != text)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
