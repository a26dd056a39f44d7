"""Workgroup memory of which nothing moves across a barrier, for Metal."""

from __future__ import annotations

import re

#: More bytes that a kernel's workgroup memory may take: a word, and what its members are padded by.
FENCE_BYTES = 64

_DECLARED = re.compile(r"^var<workgroup> (\w+): ([^;]+);", re.MULTILINE)
_UNIFORM = re.compile(r"workgroupUniformLoad\(&(\w+)(\[0\])?\)")
_ELEMENT = re.compile(r"array<(.+), [^,]+>")


def _uniform_load(name: str, kind: str, element: str) -> str:
    """A function that reads a variable, or its first element, for all invocations."""
    of_array = _ELEMENT.fullmatch(kind)
    result = of_array[1] if element and of_array else kind
    return f"fn uniform_{name}() -> {result} {{ fenced(); let for_all = {name}{element}; fenced(); return for_all; }}\n"


def fenced(text: str) -> str:
    """A kernel whose workgroup memory is one variable, with a fence on either side of each barrier.

    Naga has each variable of a workgroup as an argument of Metal's kernel. Metal's compiler takes
    it that only what the program does by an argument's name changes what it holds, and a barrier
    does nothing by that name. So a load behind a barrier becomes one before it, or a value that is
    known from before, and what others have stored is lost (gfx-rs/wgpu#4500). A fence stores an
    atomic member of the one variable, which may change any other for all that a compiler knows.
    """
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
