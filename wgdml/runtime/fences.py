"""Kernels for Metal: no load or store of what invocations share moves across a barrier."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: More bytes that a kernel's workgroup memory may take: a word, and what its members are padded by.
FENCE_BYTES = 64

_DECLARED = re.compile(r"^var<workgroup> (\w+): ([^;]+);", re.MULTILINE)
_UNIFORM = re.compile(r"workgroupUniformLoad\(&(\w+)(\[0\])?\)")
_ELEMENT = re.compile(r"array<(.+), [^,]+>")
_STORAGE = re.compile(r"^(@group.*var<storage, read_write> (\w+)): array<(\w+(?:<\w+>)?)>;", re.MULTILINE)
_WORDS = {"u32": 1, "vec2<u32>": 2, "vec4<u32>": 4}  # one of three has the room of four
_STORED = re.compile(r" = ([^=;][^;]*);")


def _uniform_load(name: str, kind: str, element: str) -> str:
    """A function that reads a variable, or its first element, for all invocations."""
    of_array = _ELEMENT.fullmatch(kind)
    result = of_array[1] if element and of_array else kind
    return f"fn uniform_{name}() -> {result} {{ fenced(); let for_all = {name}{element}; fenced(); return for_all; }}\n"


def _uses(text: str, name: str) -> Iterator[tuple[int, str, int]]:
    """Where an element of a buffer is read or written: the place, the index and the end of each."""
    for found in re.finditer(rf"(?<![\w.]){name}\[", text):
        end, depth = found.end(), 1
        while depth:
            depth += {"[": 1, "]": -1}.get(text[end], 0)
            end += 1
        yield found.start(), text[found.end() : end - 1], end


def _by_atomics(text: str, name: str, kind: str, words: int) -> str:
    """A kernel that reads and writes a buffer's elements by two functions, a word at a time."""
    while uses := list(_uses(text, name)):
        start, index, end = uses[-1]  # which holds no other use
        stored = _STORED.match(text, end)
        if stored:
            text = f"{text[:start]}store_{name}({index}, {stored[1]});{text[stored.end() :]}"
        else:
            text = f"{text[:start]}load_{name}({index}){text[end:]}"
    places = [f"{name}[at]" + (f"[{word}]" if words > 1 else "") for word in range(words)]
    loads = ", ".join(f"atomicLoad(&{place})" for place in places)
    values = [f"value[{word}]" if words > 1 else "value" for word in range(words)]
    stores = " ".join(f"atomicStore(&{place}, {value});" for place, value in zip(places, values, strict=True))
    return (
        f"{text}fn load_{name}(at: u32) -> {kind} {{ return {kind}({loads}); }}\n"
        f"fn store_{name}(at: u32, value: {kind}) {{ {stores} }}\n"
    )


def _shared_storage(text: str) -> str:
    """A kernel that reads by atomics what others of a workgroup write to a buffer."""
    if "storageBarrier();" not in text:
        return text
    aliases = dict(re.findall(r"^alias (\w+) = ([^;]+);", text, re.MULTILINE))
    for declaration, name, kind in _STORAGE.findall(text):
        words = _WORDS.get(aliases.get(kind, kind), 0)
        written = [bool(_STORED.match(text, end)) for _, _, end in _uses(text, name)]
        if not words or all(written) or not any(written):
            continue
        element = "atomic<u32>" if words == 1 else f"array<atomic<u32>, {words}>"
        text = text.replace(f"{declaration}: array<{kind}>;", f"{declaration}: array<{element}>;")
        text = _by_atomics(text, name, kind, words)
    return text


def fenced(text: str) -> str:
    """A kernel in which neither workgroup memory nor a buffer is read on a barrier's wrong side.

    Naga has each variable of a workgroup, and each buffer, as an argument of Metal's kernel.
    Metal's compiler takes it that only what the program does by an argument's name changes what it
    holds, and a barrier does nothing by that name. So a load behind a barrier becomes one before
    it, or a value that is known from before, and what others have stored is lost
    (gfx-rs/wgpu#4500); and one before a barrier may move behind it. So all workgroup memory is one
    variable with an atomic member, and a fence stores that, which may change any other member for
    all that a compiler knows. A buffer that a workgroup reads and writes around a storageBarrier
    is of atomic words, as it may be the caller's and has no room for such a member.
    """
    text = _shared_storage(text)
    kinds: dict[str, str] = dict(_DECLARED.findall(text))
    if not kinds:
        return text
    text = _DECLARED.sub("", text).replace("workgroupBarrier();", "fenced();")
    text = text.replace("storageBarrier();", "fence(); storageBarrier(); fence();")
    loads = sorted(set(_UNIFORM.findall(text)))
    text = _UNIFORM.sub(r"uniform_\1()", text)
    text += "".join(_uniform_load(name, kinds[name], element) for name, element in loads)
    text = re.sub(rf"(?<![\w.])({'|'.join(kinds)})\b(?!\s*:)", r"workgroup_memory.\1", text)
    members = "".join(f"  {name}: {kind},\n" for name, kind in kinds.items())
    return (
        f"{text}struct WorkgroupMemory {{\n  fence: atomic<u32>,\n{members}}}\n"
        "var<workgroup> workgroup_memory: WorkgroupMemory;\n"
        "fn fence() { atomicStore(&workgroup_memory.fence, 0u); }\n"
        "fn fenced() { fence(); workgroupBarrier(); fence(); }\n"
    )
