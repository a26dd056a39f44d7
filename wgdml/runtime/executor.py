"""Plans made, kept, bound, recorded and run on one device."""

from __future__ import annotations

import itertools
import textwrap
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import wgpu
from numpy.typing import NDArray

from ..plan import Machine, Plan, Planner, Rejected
from ..selection import Selection
from ..shaders import ShaderError
from .bindings import BindGroups, Resources, Steps
from .buffers import Buffers
from .context import Context, Kept
from .pipelines import KernelError, Pipelines
from .process import locked, use_gpu
from .transfers import Span, Transfers

KEPT = 1024  #: Plans, and pipelines, that a device keeps.
#: What wgpu says of an encoder that cannot be recorded into, and what that means.
_ENCODERS = {
    "must not have ended": "it has ended already",
    "is locked": "a pass of it has not ended: record into the pass, or end it first",
}
_ALIGNED = 256  # bytes: a multiple of every alignment of uniforms that WebGPU allows


_numbers = itertools.count(1)


class PreparedPlan:
    """A plan with its pipelines and parameters on the device, bound once to each set of buffers."""

    def __init__(self, executor: Executor, plan: Plan) -> None:
        self.plan = plan
        # Not the executor itself, which keeps its plans: a device that nobody uses goes at once,
        # and its kernels with it.
        self._context, self._buffers, self._groups = executor.context, executor.buffers, executor.groups
        self._number = -next(_numbers)  # buffers have positive ones
        self._pipelines = [executor.pipelines.get(d) for d in plan.dispatches]
        longest = max((len(d.params) for d in plan.dispatches), default=1)
        self._slot = -(-longest // _ALIGNED) * _ALIGNED  # bytes of one dispatch's parameters
        params = b"".join(d.params.ljust(self._slot, b"\0") for d in plan.dispatches) or bytes(self._slot)
        self._params = executor.buffers.create(len(params), wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)
        executor.context.gpu_device.queue.write_buffer(self._params, 0, params)

    def steps(self, resources: Resources) -> Steps:
        """(pipeline, bind group, grid) of each dispatch."""
        scratch = self._buffers.scratch(self.plan.scratch_size) if self.plan.scratch_size else None
        # Numbers at even places, see BindGroups.
        parts: list[Hashable] = [self._number, 0] if scratch is None else [self._number, 0, scratch.uid, 0]
        for name, (buffer, offset) in resources.items():
            parts += buffer.uid, (name, offset)
        key = tuple(parts)
        steps = self._groups.get(key)
        if steps is None:
            steps = self._bind(resources, scratch)
            owners = {buffer.uid: buffer for buffer, _ in resources.values()}
            if scratch is not None:
                owners[scratch.uid] = scratch
            owners[self._number] = self
            self._groups.put(key, steps, owners)
        return steps

    def _bind(self, resources: Resources, scratch: Any) -> Steps:
        context = self._context
        steps = []
        for i, (d, (pipeline, layout)) in enumerate(zip(self.plan.dispatches, self._pipelines, strict=True)):
            entries = [{"binding": 0, "resource": {"buffer": self._params, "offset": i * self._slot, "size": len(d.params)}}]
            for b in d.bindings:
                buffer, base = (scratch, 0) if b.resource == "scratch" else resources[b.resource]
                offset = base + b.offset
                size = min(b.size, (buffer.size - offset) // 4 * 4)
                entries.append({"binding": b.slot, "resource": {"buffer": buffer, "offset": offset, "size": size}})
            group = context.gpu_device.create_bind_group(layout=layout, entries=entries)
            context.counters["bind_groups"] += 1
            steps.append((pipeline, group, d.grid))
        return steps


def record_steps(compute_pass: Any, steps: Steps) -> None:
    current = None
    for pipeline, group, grid in steps:
        if pipeline is not current:
            compute_pass.set_pipeline(pipeline)
            current = pipeline
        compute_pass.set_bind_group(0, group)
        compute_pass.dispatch_workgroups(*grid)


def _names(errors: Iterable[KernelError]) -> str:
    return ", ".join(dict.fromkeys(f"{error.kernel}.wgsl" for error in errors))


class Executor:
    """All that is kept on a GPU device, and what runs there.

    ``planner`` makes what plans, for a machine. ``kept``: the most plans, and the most pipelines.
    """

    def __init__(
        self,
        gpu_device: Any,
        planner: Callable[[Machine], Planner],
        kept: int,
    ) -> None:
        self.context = Context(gpu_device)
        self.machine = self.context.machine()
        self.planner = planner(self.machine)
        if not callable(getattr(self.planner, "plan", None)):
            raise TypeError(f"planner must return a wgdml.plan.Planner, or what plans as one, not {self.planner!r}")
        self.buffers = Buffers(self.context)
        self.transfers = Transfers(self.context, self.buffers)
        self.pipelines = Pipelines(self.context, kept)
        self.groups = BindGroups(2 * kept)
        self.kept = Kept(self.context.lock, kept)
        use_gpu(self)

    def forked(self) -> None:
        self.context.forked()

    def idle(self) -> bool:
        return self.context.idle()

    def prepare(self, selection: Selection, **options: Any) -> PreparedPlan:
        """The plan of a selection with its pipelines, made once. ``options``: the planner's."""
        key = selection, tuple(sorted(options.items()))
        return self.prepare_plan(key, lambda: self.planner.plan(selection, **options))

    def prepare_plan(self, key: Hashable, make: Callable[[], Plan]) -> PreparedPlan:
        """A plan with its pipelines, kept under ``key``; ``make`` is called once."""
        context = self.context
        context.check()
        prepared: PreparedPlan | None = self.kept.get(key)
        if prepared is None:
            prepared = locked(context.lock, self._prepare, key, make)
        return prepared

    def _prepare(self, key: Hashable, make: Callable[[], Plan]) -> PreparedPlan:
        prepared: PreparedPlan | None = self.kept.get(key)
        if prepared is None:
            self.context.counters["plans"] += 1
            prepared = self.compiled(make, key)
        return prepared

    def compiled(self, make: Callable[[], Plan], key: Hashable = None) -> PreparedPlan:
        """The plan that ``make`` returns, with its pipelines, kept under ``key`` if that is given.

        Where the driver does not compile a kernel, ``make`` is called again, and the planner does
        without that kernel from then on, with a warning. Raises ``ShaderError`` where nothing can
        replace it. After an error the planner is as before.
        """
        rejected: set[str] | None = getattr(self.planner, "rejected", None)
        before = frozenset(rejected or ())
        refused: list[KernelError] = []
        try:
            prepared = self._compiled(make, rejected, refused)
        except Exception as error:
            if rejected is not None:
                rejected.clear()
                rejected |= before
            if refused and not isinstance(error, ShaderError):
                error.add_note(f"The adapter's driver does not compile {_names(refused)}.")
            raise
        if key is not None:
            self.kept.put(key, prepared)
        if rejected is not None:
            rejected |= before
        if refused:
            why = textwrap.shorten(str(refused[-1].__cause__), 400)
            warnings.warn(
                f"the driver of {self!r} does not compile {_names(refused)}; other kernels serve instead: {why}",
                RuntimeWarning,
                stacklevel=2,
            )
        return prepared

    def _compiled(self, make: Callable[[], Plan], rejected: set[str] | None, refused: list[KernelError]) -> PreparedPlan:
        """``compiled``; adds what the driver rejects to both."""
        asked_again = False
        while True:
            try:
                plan = make()
                with self.context.doing("preparing a plan"):
                    return PreparedPlan(self, plan)
            except KernelError as error:
                refused.append(error)
                if rejected is None or error.kernel in rejected:
                    raise
                rejected.add(error.kernel)
            except Rejected as error:
                if asked_again or rejected is None:
                    if refused:
                        raise refused[-1] from refused[-1].__cause__
                    raise ShaderError(str(error)) from error
                # Names are rejected for one text each: the driver may take the others.
                asked_again = True
                rejected.clear()

    def encode(self, prepared: PreparedPlan, resources: Resources) -> Any:
        """A command encoder with one plan. ``wgpu.GPUError`` as it comes."""
        encoder = self.context.gpu_device.create_command_encoder()
        compute_pass = encoder.begin_compute_pass()
        record_steps(compute_pass, prepared.steps(resources))
        compute_pass.end()
        return encoder

    def check_encoder(self, encoder: Any) -> None:
        """``TypeError`` for what is no encoder, ``ValueError`` for one of another GPU device."""
        if not isinstance(encoder, wgpu.GPUCommandEncoder | wgpu.GPUComputePassEncoder):
            raise TypeError(f"encoder must be a wgpu.GPUCommandEncoder or GPUComputePassEncoder, not {type(encoder).__name__}")
        if encoder._device is not self.context.gpu_device:
            raise ValueError(f"encoder belongs to another GPU device than that of {self!r}")

    def record(self, encoder: Any, work: Iterable[tuple[PreparedPlan, Resources]]) -> None:
        """Records plans into a pass, or into a command encoder as a pass of their own.

        ``ValueError`` for an encoder that has ended, or that a pass has locked.
        """
        with self.context.doing("binding tensors"):
            steps = [step for prepared, resources in work for step in prepared.steps(resources)]
        try:
            if isinstance(encoder, wgpu.GPUComputePassEncoder):
                record_steps(encoder, steps)
                return
            compute_pass = encoder.begin_compute_pass()
            record_steps(compute_pass, steps)
            compute_pass.end()
        except wgpu.GPUValidationError as error:
            said = " ".join(str(error).split())
            why = next((meaning for words, meaning in _ENCODERS.items() if words in said), said)
            raise ValueError(f"encoder cannot be recorded into: {why}") from error

    def run(self, prepared: PreparedPlan, resources: Resources) -> None:
        """Records and submits one plan; does not wait."""
        context = self.context
        if context.gone is not None:
            context.check()
        try:
            context.submit(self.encode(prepared, resources))
        except wgpu.GPUError as error:
            context.fail(error, "running a plan")

    def run_and_read(self, prepared: PreparedPlan, resources: Resources, spans: Sequence[Span]) -> list[NDArray[Any]]:
        """Runs one plan and waits for arrays that it left in buffers."""
        self.context.check()
        with self.context.doing("running a plan"):
            encoder = self.encode(prepared, resources)
        return self.transfers.read(spans, encoder, "running a plan")
