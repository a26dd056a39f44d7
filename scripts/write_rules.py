"""Writes the planner's rules into docs/how-it-works.md. ``--check`` fails where they differ."""

import sys
from pathlib import Path

from wgdml.plan import ALGORITHMS, GPU_RULES, SOFTWARE_RULES, Rule

PAGE = Path(__file__).parent.parent / "docs" / "how-it-works.md"
BEGIN, END = "<!-- rules -->", "<!-- /rules -->"


def rules_table(rules: tuple[Rule, ...]) -> str:
    rows = [f"| {n} | `{r.algorithm}` | {r.condition} | {r.why} |" for n, r in enumerate(rules, 1)]
    return "\n".join(["| # | algorithm | where | why |", "|---|---|---|---|", *rows])


def tables() -> str:
    """The rules of each kind of machine, and the algorithms."""
    algorithms = "\n".join(f"| `{name}` | {kind.summary} |" for name, kind in ALGORITHMS.items())
    return "\n\n".join(
        [
            "The first rule that holds is taken, if its algorithm serves the problem. On a GPU:",
            rules_table(GPU_RULES),
            "On a software adapter:",
            rules_table(SOFTWARE_RULES),
            "The algorithms:",
            f"| algorithm | what it does |\n|---|---|\n{algorithms}",
        ]
    )


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    wanted = f"{head}{BEGIN}\n\n{tables()}\n\n{END}{tail}"
    if "--check" in sys.argv:
        return int(wanted != text)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
