"""What shaders keep to so that they run on any driver: rules of the files, and of what is planned.

``make check-shaders`` has two compilers judge all variants; here a few hundred of each kernel do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path

import pytest
from planning import GPU, MAX_STORAGE_BUFFERS, check_plan, make_plan
from variants import LIMITS, Variant, as_shader, judged_by_naga, plans, problems, texts_of, uses_subgroups

from wgdml import shaders
from wgdml.plan import Machine, Plan
from wgdml.selection import Layout, Order, make_selection

FOLDER = Path(__file__).resolve().parents[2] / "shaders"
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.wgsl"))


NO_CODE = re.compile(r"^[ \t]*#.*\n|//.*", re.MULTILINE)


def code_of(text: str) -> str:
    """The text without comments and directives."""
    return NO_CODE.sub("", text)


# The files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", FILES)
def test_each_file_says_what_it_computes(file):
    first = (FOLDER / file).read_text(encoding="utf-8").splitlines()[0]
    assert re.match(r"// \S.{20,}", first), f"shaders/{file} must open with a comment that says what it computes, not {first!r}"


FLOATS = re.compile(
    r"""\b(
        f16 | f32 | f64 | vec[234][fh] | mat\dx\d\w*           # types
        | (?:0x)?[0-9]+\.[0-9]* | [0-9]+[eE][+-]?[0-9]+ | [0-9]+[fh]  # literals
        | sqrt | exp2? | log2? | pow | floor | ceil | round | trunc | fract | mix | fma | ldexp
        | quantizeToF16 | (?:un)?pack[24]x\w+
    )\b""",
    re.VERBOSE,
)


@pytest.mark.parametrize("file", FILES)
def test_no_float_anywhere(file):
    # A driver may assume that NaN and infinity do not occur and may flush denormals: only integers
    # are safe for exact order.
    found = FLOATS.search(code_of((FOLDER / file).read_text(encoding="utf-8")))
    assert found is None, f"shaders/{file} uses {found[0]!r}: elements are ordered as integers only"


@pytest.mark.parametrize("file", ["lib/order/compare.wgsl", "lib/order/held.wgsl", "lib/order/pair.wgsl", "lib/order/words.wgsl"])
def test_comparisons_have_no_short_circuits(file):
    # Kernels have one for each of many items, and a driver took over 8 GB to compile their branches
    # (docs/driver-bugs.md).
    found = re.search(r"&&|\|\|", code_of((FOLDER / file).read_text(encoding="utf-8")))
    assert found is None, f"shaders/{file} uses {found[0]!r}, which is a branch: `&` and `|` are none"


@pytest.mark.parametrize(
    "line",
    [
        "let x = 1.0;",
        "var<private> y: f32;",
        "let v = vec4f(a);",
        "let z = bitcast<f32>(bits);",
        "let e = 1e5;",
        "let h = pack2x16float(a);",
    ],
)
def test_the_float_rule_sees_floats(line):
    assert FLOATS.search(line)


@pytest.mark.parametrize("file", FILES)
def test_no_compare_and_swap(file):
    # Its only use is to try until it succeeds, which relies on other invocations' progress.
    text = code_of((FOLDER / file).read_text(encoding="utf-8"))
    swaps = (
        r"\batomicCompareExchangeWeak\b" if file == "lib/workgroup/last_block.wgsl" else r"\batomic(CompareExchangeWeak|Exchange)\b"
    )
    assert not re.search(swaps, text), f"shaders/{file}"


MIXED = re.compile(r"[/*%+-] [\w.]+ (?:\^|\||&)(?![&|]) |(?<![&|])(?:\^|\||&) [\w.]+ [/*%+-] ")


@pytest.mark.parametrize("file", FILES)
def test_arithmetic_and_bitwise_operators_do_not_mix(file):
    # WGSL wants parentheses there, which Naga does not ask for and Tint does.
    text = re.sub(r"\$\[[^]]*\]", "x", code_of((FOLDER / file).read_text(encoding="utf-8")))
    assert not (found := MIXED.search(text)), f"shaders/{file}: {found[0] if found else ''!r}"


def test_the_rule_sees_mixed_operators():
    assert MIXED.search("let x = (at / run ^ 1u) * run;") and MIXED.search("let x = 1u | a * b;")
    assert not MIXED.search("let x = ((at / run) ^ 1u) * run && a / b || c % d;")


# Every variant -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planned() -> tuple[tuple[Variant, ...], list[str]]:
    """Every text, and what plans break: one pass for both, as it takes long."""
    broken: list[str] = []

    def checked() -> Iterator[tuple[str, Machine, Plan]]:
        seen: set[tuple[object, ...]] = set()
        for origin, limits, plan in plans(quick=True):
            try:
                check_plan(plan, limits, origin)
                for dispatch in plan.dispatches:
                    if (key := (dispatch.kernel, dispatch.constants, dispatch.bindings)) not in seen:
                        seen.add(key)
                        check_overlaps(origin, dispatch)
            except AssertionError as error:
                broken.append(str(error))
            yield origin, limits, plan

    return texts_of(checked()), broken


@pytest.fixture(scope="module")
def every(planned) -> tuple[Variant, ...]:
    found, _ = planned
    assert {v.kernel for v in found} == set(shaders.names())
    return found


@pytest.fixture(scope="module")
def codes(every) -> list[tuple[Variant, str]]:
    """Every variant with its code."""
    return [(variant, code_of(variant.text)) for variant in every]


BRACES = re.compile(r"[{}]")


def blocks(code: str, opening: str) -> list[str]:
    """The head and the braces' contents of each statement that starts so."""
    found = []
    for match in re.finditer(rf"\b{opening}\b", code):
        depth = 0
        for brace in BRACES.finditer(code, match.start()):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                found.append(code[match.start() : brace.end()])
                break
    return found


@cache
def spins_in(function: str, touches: re.Pattern[str], calls: re.Pattern[str] | None) -> str | None:
    """The function's loop that may wait; most texts have most functions alike."""
    for opening in ("loop", "while"):
        for block in blocks(function, opening):
            if touches.search(block) or (calls and calls.search(block)):
                return block
    for block in blocks(function, "for"):
        head = block[: block.index("{")]
        exits = "\n".join(line for line in block.splitlines() if "break" in line or "return" in line)
        if touches.search(head) or touches.search(exits):
            return block
    return None


def spins(code: str) -> str | None:
    """A loop that may wait for another workgroup: one whose end depends on an atomic in storage."""
    storage = re.findall(r"var<storage[^>]*>\s*(\w+)\s*:[^;]*atomic", code)
    if not storage:
        return None
    touches = re.compile(rf"atomic\w+\(\s*&\s*(?:{'|'.join(storage)})\b")
    functions = blocks(code, r"fn \w+")
    touching = [function.split("(")[0].removeprefix("fn ") for function in functions if touches.search(function)]
    calls = re.compile(rf"\b(?:{'|'.join(touching)})\s*\(") if touching else None
    return next((found for function in functions if (found := spins_in(function, touches, calls))), None)


def published(code: str) -> list[str]:
    """The words that ``publish`` of lib/workgroup/last_block.wgsl leaves, counted as it counts."""
    (publish,), (arrive,) = blocks(code, r"fn publish\("), blocks(code, r"fn arrive\(")
    counts = re.findall(r"\w+\s*\|?=\s*atomic\w+", publish)
    assert set(counts) == {"was |= atomicExchange"} and publish.count("atomic") == len(counts), publish
    assert "return was;" in publish, publish
    assert re.search(r"= atomicAdd\(.*, 1u \+ was\b", arrive) and arrive.count("atomic") == 1, arrive
    # What publishing returned is what the arrival is counted with.
    pooled = "atomicOr(&returned, publish(" in code and "arrive(number, atomicLoad(&returned), " in code
    assert pooled or re.search(r"\barrive\(sequence, publish\(", code), code
    return re.findall(r"atomicExchange\(&(meeting\[.*?\]),", publish)


def test_nothing_waits_for_another_workgroup(codes):
    # Constants alone do not change how a text flows.
    texts = {re.sub(r"^const .*$", "", code, flags=re.MULTILINE): variant for variant, code in codes}
    meetings = 0
    for text, variant in texts.items():
        if "fn publish(" in text:
            # What is consumed was published before its part's arrival was counted, so this looks
            # again without waiting for anyone.
            (consume,) = blocks(text, r"fn consume\(")
            looks = re.findall(r"while \((\w+) == 0u\) { \1 = atomicExchange\(&(meeting\[.*?\]), 0u\); }", consume)
            assert sorted(word for _, word in looks) == sorted(published(text)), consume
            text = text.replace(consume, "")
            assert re.search(r"if \((workgroupUniformLoad\(&shared_word\)|all_here) == 0u\) { return; }", text)
            meetings += 1
        assert (found := spins(text)) is None, f"{variant.kernel} ({variant.origin}) may spin:\n{found}"
    assert meetings


def test_the_rule_sees_an_arrival_that_is_counted_too_early():
    code = """
    fn publish(sequence: u32) -> u32 {
      was |= atomicExchange(&meeting[1u], 5u);
      return was;
    }
    fn arrive(sequence: u32, was: u32) -> bool {
      let before = atomicAdd(&meeting[0u], 1u + was);
      return before == params.parts - 1u;
    }
    fn main() { shared_word = u32(arrive(sequence, publish(sequence))); }
    """
    assert published(code) == ["meeting[1u]"]
    for right, early in (
        ("was |= atomicExchange(", "atomicStore("),
        (" + was", ""),
        ("return was;", "return 0u;"),
        ("arrive(sequence, publish(sequence))", "arrive(sequence, 0u)"),
    ):
        with pytest.raises(AssertionError):
            published(code.replace(right, early))


def test_the_rule_sees_a_spinning_loop():
    code = """
    @group(0) @binding(2) var<storage, read_write> flags: array<atomic<u32>>;
    fn main() { while (atomicLoad(&flags[0]) == 0u) { } }
    """
    assert spins(code)
    assert spins(code.replace("while (atomicLoad(&flags[0]) == 0u) { }", "loop { if (atomicLoad(&flags[0]) != 0u) { break; } }"))
    assert spins(code.replace("while (atomicLoad(&flags[0]) == 0u) { }", "for (; atomicLoad(&flags[0]) == 0u;) { }"))
    assert not spins(
        code.replace("while (atomicLoad(&flags[0]) == 0u) { }", "for (var i = 0u; i < 3u; i++) { atomicAdd(&flags[i], 1u); }")
    )


def number(expression: str, constants: dict[str, int]) -> int:
    """The value of an integer expression of WGSL."""
    python = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[ui]?\b", r"\1", expression).replace("/", "//")
    return int(eval(python, {"__builtins__": {"min": min, "max": max, "select": lambda f, t, c: t if c else f}}, dict(constants)))


@lru_cache(maxsize=1)
def constants_of(code: str) -> dict[str, int]:
    """The module's constants; those that are not integers of one word are of no interest here."""
    constants: dict[str, int] = {}
    for name, value in re.findall(r"^\s*const (\w+)\s*(?::\s*u32)?\s*=\s*([^;]+);", code, re.MULTILINE):
        constants[name] = number(value, constants)
    return constants


def size_of(kind: str, code: str, constants: dict[str, int]) -> int:
    """Bytes of a type in workgroup memory."""
    kind = kind.strip()
    if kind in ("u32", "i32", "bool", "atomic<u32>", "atomic<i32>"):
        return 4
    if match := re.fullmatch(r"vec([234])<[ui]32>|vec([234])[ui]", kind):
        return {2: 8, 3: 16, 4: 16}[int(match[1] or match[2])]
    if match := re.fullmatch(r"array<(.+),([^,]+)>", kind):
        return size_of(match[1], code, constants) * number(match[2], constants)
    if match := re.search(rf"\balias {kind}\s*=\s*([^;]+);", code):
        return size_of(match[1], code, constants)
    if match := re.search(rf"\bstruct {kind}\s*{{([^}}]*)}}", code):
        members = [member.split(":", 1)[1] for member in match[1].split(",") if ":" in member]
        return -(-sum(size_of(member, code, constants) for member in members) // 8) * 8
    raise AssertionError(f"no size is known for {kind!r}")


def workgroup_memory(code: str) -> int:
    """Bytes, each variable rounded up to 16 as Dawn counts them."""
    constants = constants_of(code)
    kinds = re.findall(r"var<workgroup>\s*\w+\s*:\s*([^;]+);", code)
    return sum(-(-size_of(kind, code, constants) // 16) * 16 for kind in kinds)


def invocations(code: str) -> int:
    sizes = re.search(r"@workgroup_size\(([^)]*)\)", code)
    assert sizes
    product = 1
    for size in sizes[1].split(","):
        product *= number(size, constants_of(code))
    return product


def test_workgroups_keep_to_the_limits_that_they_are_planned_for(codes):
    for variant, code in codes:
        memory, most = workgroup_memory(code), variant.limits.max_compute_workgroup_storage_size
        assert memory <= most, f"{variant.kernel} ({variant.origin}) takes {memory} bytes of workgroup memory, over {most}"
        wide, widest = invocations(code), variant.limits.max_compute_invocations_per_workgroup
        assert wide <= widest, f"{variant.kernel} ({variant.origin}) has {wide} invocations a workgroup, over {widest}"


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize("invocations", [128, 256, 512, 1024])
@pytest.mark.parametrize("memory", [16 << 10, 20992, 32 << 10, 34000, 48 << 10])
def test_long_rows_at_limits_between_the_usual_ones(invocations, memory, software):
    kind = "software" if software else "discrete"
    limits = Machine(max_compute_invocations_per_workgroup=invocations, max_compute_workgroup_storage_size=memory, kind=kind)
    for element in ("float32", "int64"):
        for k in (2, 100, 200, 1000):
            first_k = Layout((k,), (1,))
            row = make_selection(element, Layout((1 << 24,), (1,)), [0], k, Order.DESCENDING, values=first_k, indices=first_k)
            for dispatch in make_plan(row, limits).dispatches:
                constants = dict(dispatch.constants)
                code = code_of(shaders.assemble(dispatch.kernel, constants))
                assert workgroup_memory(code) <= memory, (dispatch.kernel, element, k)


def test_memory_is_counted_right():
    code = """
    const WORKGROUP: u32 = 64u;
    const TWICE = WORKGROUP * 2u;
    alias Key = vec2<u32>;
    var<workgroup> a: array<Key, WORKGROUP>;
    var<workgroup> b: array<atomic<u32>, TWICE / 2u>;
    var<workgroup> c: u32;
    @compute @workgroup_size(WORKGROUP) fn main() { }
    """
    assert workgroup_memory(code) == 64 * 8 + 64 * 4 + 16
    assert invocations(code) == 64


def test_storage_buffers(codes):
    for variant, code in codes:
        count = code.count("var<storage")
        assert count <= MAX_STORAGE_BUFFERS, f"{variant.kernel} ({variant.origin}) binds {count} storage buffers"
        assert "@group(1)" not in variant.text, f"{variant.kernel}: one bind group is enough everywhere"
        assert not re.search("[#$]", code), f"{variant.kernel} ({variant.origin}): a directive or an expression is left"


def zeros_by_several_names(code: str) -> list[set[str]]:
    """Names of one type of vectors by which a text has its zero (docs/driver-bugs.md)."""
    aliases = dict(re.findall(r"alias (\w+) = ([^;]+);", code))
    names: dict[str, set[str]] = {}
    for name in re.findall(r"\b([A-Z]\w*|vec\d<u32>)\(\)", code):
        of = name
        while of in aliases:
            of = aliases[of]
        if of.startswith("vec"):
            names.setdefault(of, set()).add(name)
    return [found for found in names.values() if len(found) > 1]


def test_a_type_has_its_zero_by_one_name(codes):
    for variant, code in codes:
        assert not zeros_by_several_names(code), f"{variant.kernel} ({variant.origin})"


def test_the_rule_sees_two_names_of_a_zero():
    code = "alias Key = vec2<u32>; alias Bits = vec2<u32>; alias Half = u32; const a = {}; const b = {};"
    assert zeros_by_several_names(code.format("Key()", "Bits()")) == [{"Key", "Bits"}]
    assert zeros_by_several_names(code.format("Key()", "vec2<u32>()")) == [{"Key", "vec2<u32>"}]
    assert not zeros_by_several_names(code.format("Key()", "Bits(0u, 0u) + Key() + vec3<u32>().xy"))


def types_written_out(code):
    """Arrays that have a name, and are written out elsewhere."""
    named = re.findall(r"alias \w+ = (array<[^;]+>);", code)
    return [kind for kind in named if code.count(kind) > named.count(kind)]


def test_an_array_that_has_a_name_goes_by_it(codes):
    """Naga makes a struct of each for Metal, and does not convert one into the other."""
    for variant, code in codes:
        assert not types_written_out(code), f"{variant.kernel} ({variant.origin})"


def test_the_rule_sees_an_array_that_is_written_out():
    code = "alias Load = array<u32, 1>; alias Words = array<u32, 2>; fn f() -> Load {{ return {}(1u); }}"
    assert types_written_out(code.format("array<u32, 1>")) == ["array<u32, 1>"]
    assert not types_written_out(code.format("Load"))


DECLARED = re.compile(r"struct \w+ \{[^}]*\}|var<workgroup> (\w+): [^;]*;|\b(?:let|var|const|fn) (\w+)|\b(\w+): ")


def names_of_workgroup_memory(code):
    """Those that something else has, too."""
    found = DECLARED.findall(code)
    return {own for own, *_ in found} & {other for _, *others in found for other in others} - {""}


def test_nothing_else_has_the_name_of_workgroup_memory(codes):
    """For Metal such names become members of one variable (wgdml/runtime/fences.py)."""
    for variant, code in codes:
        assert not names_of_workgroup_memory(code), f"{variant.kernel} ({variant.origin})"


def test_the_rule_sees_a_name_of_workgroup_memory():
    code = "struct Params { list: u32 } var<workgroup> list: array<u32, 2>; fn f({}: u32) { let a = list[0]; }"
    assert names_of_workgroup_memory(code.replace("{}", "list")) == {"list"}
    assert not names_of_workgroup_memory(code.replace("{}", "b"))


def test_subgroups_only_where_they_are_planned(codes):
    with_them = {variant.kernel.partition("/")[0] for variant, code in codes if uses_subgroups(code)}
    assert with_them == {"ranks", "reduce", "radix_sort", "row_sort", "select"}
    for variant, code in codes:
        if not variant.limits.subgroups:
            assert not uses_subgroups(code), f"{variant.kernel} ({variant.origin})"


def test_subgroups_change_no_more_of_a_plan_than_the_size_of_workgroups_and_tiles():
    planned = 0
    for asked in problems(quick=True):
        with_them, without = (make_plan(asked.problem, replace(GPU, subgroups=on), **asked.options) for on in (True, False))
        assert with_them.algorithms == without.algorithms
        if not any(d.kernel == "radix_sort/scatter" for d in without.dispatches):
            assert with_them.scratch_size == without.scratch_size
            assert [d.bindings for d in with_them.dispatches] == [d.bindings for d in without.dispatches]
        # Larger tiles are fewer, and a few need no dispatch that sums them up.
        pairs = zip(*([d for d in plan.dispatches if d.kernel != "radix_sort/scan"] for plan in (with_them, without)), strict=True)
        for one, other in pairs:
            if one.kernel.startswith("radix_sort/"):
                assert one.kernel.removesuffix("_subgroups") == other.kernel
                continue
            differing = {name for name, _ in {*one.constants} ^ {*other.constants}}
            assert one.kernel == other.kernel and one.params == other.params and differing <= {"SUBGROUPS", "WORKGROUP"}
            assert dict(other.constants).get("SUBGROUPS", 0) == 0
            planned += dict(one.constants).get("SUBGROUPS", 0)
    assert planned


@pytest.mark.parametrize("file", FILES)
def test_no_shader_asks_where_its_subgroup_lies(file):
    # No specification says how invocations map to subgroups, nor that drivers' sizes are what they
    # report.
    text = code_of((FOLDER / file).read_text(encoding="utf-8"))
    if file == "lib/workgroup/register_sort.wgsl":  # after lib/workgroup/lanes.wgsl has looked
        assert "if (mask < lanes) {" in text and text.count("subgroupShuffle") == 1
        text = text.replace("subgroupShuffleXor((*x)[$i], mask)", "")
    if file == "lib/workgroup/sums.wgsl":  # as above
        assert text.count("if (lanes >= TEAM) {") == text.count("subgroupShuffle") == 2
        for number in ("sum", "least"):
            text = text.replace(f"subgroupShuffleXor({number}, $[1 << bit]u)", "")
    if file == "lib/workgroup/lanes.wgsl":  # which looks whether each is found by its number
        assert "& (number$bit == (local ^ $[1 << bit]u))" in text and text.count("subgroupShuffle") == 1
        text = text.replace("subgroupShuffle", "")
    if file == "lib/subgroup/warps.wgsl":  # which asks a ballot whom it means
        assert text.count("subgroupShuffle(value, warp.bit + countTrailingZeros(peers))") == text.count("subgroupShuffle") == 1
        text = text.replace("subgroupShuffle", "")
    assert not re.search(r"\b(subgroup_(size|id|invocation_id)|num_subgroups|subgroupShuffle\w*|quad\w+)\b", text), (
        f"shaders/{file}"
    )
    assert "enable" not in text.split(), f"shaders/{file}: Naga of wgpu 0.32 refuses the directive"


def test_naga_takes_a_sample(device, every):
    sample = [as_shader(n, v) for n, v in enumerate(every) if n % 3 == 0]
    _, said = judged_by_naga(sample)
    assert not said, next(iter(said.items()))


# Every plan --------------------------------------------------------------------------------------


def test_dispatches_keep_to_the_limits_and_write_to_no_binding_of_another(planned):
    _, broken = planned
    assert not broken, broken[0]


def test_the_rule_sees_a_binding_over_its_limit():
    one = Layout((1,), (1,))
    plan = make_plan(make_selection("float32", Layout((100,), (1,)), [0], 1, Order.MAXIMUM, values=None, indices=one), GPU)
    check_plan(plan, GPU)
    with pytest.raises(AssertionError, match="input"):
        check_plan(plan, replace(GPU, max_storage_buffer_binding_size=256))


def check_overlaps(origin: str, dispatch) -> None:
    """WebGPU refuses bindings that overlap where one is written. wgpu-native does not look."""
    resources = shaders.specialised(dispatch.kernel, dict(dispatch.constants)).resources.values()
    written = {resource.slot for resource in resources if resource.access == "storage"}
    for one, other in combinations(dispatch.bindings, 2):
        apart = one.offset + one.size <= other.offset or other.offset + other.size <= one.offset
        shared = one.resource == other.resource and not apart
        assert not shared or not {one.slot, other.slot} & written, (origin, dispatch.kernel, one, other)


def test_the_minima_are_the_specifications():
    assert LIMITS["minimum"] == Machine(128 << 20, 256 << 20, 256, 16 << 10, 65535)
