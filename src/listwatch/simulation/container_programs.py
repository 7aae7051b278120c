"""Knows when the containers of pods exit by themselves, and with which codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from listwatch.clock import Clock
from listwatch.controller.object_fields.owners import controller_of
from listwatch.models.core_v1 import Container, Pod
from listwatch.simulation.container_state import has_ended, is_running
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_finished, restart_delay
from listwatch.simulation.programs import FOREVER, Program, program_of, run_command

__all__ = ["ContainerPrograms", "NextExits"]


@dataclass(frozen=True, slots=True)
class NextExits:
    """The containers of a pod that exit next, with their codes, after so many seconds."""

    seconds: float
    codes: Mapping[str, int]


class ContainerPrograms:
    """The programs of all containers: those of the options, then those of commands, then the default."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._given = options.program
        self._job_program = Program(seconds=options.job_duration)
        self._clock = clock
        self._started: dict[str, dict[tuple[str, int], float]] = {}

    def next_exits(self, pod: Pod) -> NextExits | None:
        """What exits next of a pod that is running; None if nothing does."""
        if pod.status.phase != "Running" or pod.metadata.deletion_timestamp is not None:
            return None
        now = self._clock.monotonic()
        left = {container.name: (seconds, code) for container, seconds, code in self._running(pod, now)}
        if not left:
            return None
        first = min(seconds for seconds, _ in left.values())
        return NextExits(first, {name: code for name, (seconds, code) in left.items() if seconds <= first})

    def _running(self, pod: Pod, now: float) -> Iterator[tuple[Container, float, int]]:
        """The running containers that will exit, with the seconds until then and their codes."""
        statuses = {each.name: each for each in pod.status.container_statuses}
        for container in pod.spec.containers:
            status = statuses.get(container.name)
            if status is None or not is_running(status):
                continue
            program = self._program(pod, container)
            if program.seconds == FOREVER.seconds:
                continue
            known = self._started.setdefault(pod.uid, {})
            started = known.setdefault((container.name, status.restart_count), now)
            yield container, max(0.0, started + program.seconds - now), program.exit_code

    def _program(self, pod: Pod, container: Container) -> Program:
        given = self._given(pod, container) if self._given else None
        found = given or program_of(container)
        if found is None:
            owner = controller_of(pod)
            return self._job_program if owner is not None and owner.kind == "Job" else FOREVER
        return found

    def output(self, pod: Pod, container: str) -> str:
        """What a container of a pod prints."""
        containers = (*pod.spec.containers, *pod.spec.init_containers)
        return next((self._program(pod, each).output for each in containers if each.name == container), "")

    def forget(self, uid: str) -> None:
        """Drop what is known about a pod that does not exist any more."""
        self._started.pop(uid, None)

    # --- init containers and probes ----------------------------------------------------------------------------------

    def initialization_codes(self, pod: Pod) -> dict[str, int]:
        """The exit codes of the init containers that are still to be run."""
        return {container.name: program.exit_code for container, program in self._init_programs(pod)}

    def seconds_to_initialize(self, pod: Pod, default: float) -> float:
        """How long the init containers run: until all have exited, or one has failed. After a failure, the backoff."""
        total, known = 0.0, False
        for _, program in self._init_programs(pod):
            known = True
            total += program.seconds
            if program.exit_code:
                break
        failed_before = any(each.last_state.terminated for each in pod.status.init_container_statuses)
        return (total if known else default) + (restart_delay(pod) if failed_before else 0.0)

    def _init_programs(self, pod: Pod) -> Iterator[tuple[Container, Program]]:
        ended = {each.name for each in pod.status.init_container_statuses if has_ended(each)}
        for container in pod.spec.init_containers:
            if container.restart_policy == "Always" or container.name in ended:
                continue
            found = (self._given(pod, container) if self._given else None) or program_of(container)
            if found is not None:
                yield container, found

    def pass_probes(self, pod: Pod) -> bool:
        """Whether all containers run and pass their readiness probes: a command that is understood may fail."""
        if is_finished(pod) or any(has_ended(each) for each in pod.status.container_statuses):
            return False
        for container in pod.spec.containers:
            probe = container.readiness_probe
            if probe is not None and probe.exec is not None:
                found = run_command(probe.exec.command)
                if found is not None and found.exit_code:
                    return False
        return True
