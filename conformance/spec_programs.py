"""What the scripts of specs do, where the simulation does not understand them."""

from __future__ import annotations

import re

from listwatch.models.core_v1 import Container, Pod
from listwatch.simulation import Program

__all__ = ["SpecPrograms"]

_INDEX = "batch.kubernetes.io/job-completion-index"
_MARKED = re.compile(
    r"if \[\[ -r (/data/\S+) \]\]\s+then\s+exit 0\s+else\s+touch \S+\s+(exit (\d+)|sleep 1000000)\s+fi"
)


class SpecPrograms:
    """The programs of containers. A container has the same one until it is restarted."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int], Program | None] = {}
        self._files: set[tuple[str, str]] = set()

    def __call__(self, pod: Pod, container: Container) -> Program | None:
        statuses = (*pod.status.container_statuses, *pod.status.init_container_statuses)
        count = next((each.restart_count for each in statuses if each.name == container.name), 0)
        key = pod.uid, container.name, count
        if key not in self._known:
            self._known[key] = self._program(pod, container, count)
        return self._known[key]

    def _program(self, pod: Pod, container: Container, count: int) -> Program | None:
        script = " ".join([*container.command, *container.args])
        if "JOB_COMPLETION_INDEX} % 2" in script:
            return Program(seconds=1.0, exit_code=int(pod.metadata.annotations.get(_INDEX, "0")) % 2)
        if "wc -l $f" in script:  # fails, then succeeds, then runs forever
            return (Program(seconds=1.0, exit_code=1), Program(seconds=1.0), Program())[min(count, 2)]
        if found := _MARKED.search(script):
            return self._marked(pod, found[1], found[3])
        return None

    def _marked(self, pod: Pod, path: str, code: str | None) -> Program:
        """A script that creates a file in a volume, and succeeds if the file exists already."""
        volumes = [each.host_path.path for each in pod.spec.volumes if each.host_path is not None]
        file = volumes[0] if volumes else pod.uid, path.replace("$JOB_COMPLETION_INDEX", _index(pod))
        if file in self._files:
            return Program(seconds=1.0)
        self._files.add(file)
        return Program() if code is None else Program(seconds=1.0, exit_code=int(code))


def _index(pod: Pod) -> str:
    return pod.metadata.annotations.get(_INDEX, "")
