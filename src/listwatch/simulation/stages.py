"""Stages: what happens to a simulated pod or node, and when.

    Stage("crash", when="ready", label_selector="app=flaky", delay=5.0, next="crash", times=3)

A pod is always in one state, which its status shows. The first stage that matches the state is applied after its
delay, and changes the status; then the next stage is looked for. Stages of the user come before the default ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from typing import Literal, get_args

import yaml

from listwatch.errors import ConfigError, UsageError
from listwatch.json_value import JSON
from listwatch.models.core_v1 import Node, Pod
from listwatch.selectors import LabelSelector, parse_label_selector

__all__ = ["DEFAULT_STAGES", "NodeTransition", "PodTransition", "Stage", "State", "StatusFunction", "read_stages"]

PodTransition = Literal[
    "create",
    "initialize",
    "start",
    "ready",
    "unready",
    "crash",
    "restart",
    "complete",
    "fail",
    "evict",
    "deadline",
    "image-error",
]
"""What a stage can do to a pod:

- `create`: the kubelet accepts the pod, whose containers are then waiting
- `initialize`: the init containers complete
- `start`: all containers run; the pod is ready, unless it has a readiness probe or readiness gates
- `ready`, `unready`: the readiness changes
- `crash`: all containers exit with the `exit_code` of the stage; they are restarted, unless the restart policy is Never
- `restart`: containers that crashed run again
- `complete`: all containers exit with 0
- `fail`: the pod fails, whatever its restart policy
- `evict`: the node evicts the pod, which fails
- `deadline`: the pod fails as at the end of its `activeDeadlineSeconds`
- `image-error`: the image cannot be pulled; `start` is still possible
"""

NodeTransition = Literal["stop", "start"]
"""What a stage can do to a node: its kubelet stops, as if the machine was lost, or starts again."""

State = Literal[
    "scheduled",
    "initializing",
    "waiting",
    "running",
    "ready",
    "crashed",
    "succeeded",
    "failed",
    "terminating",
    "stopped",
    "any",
]
"""The state of a pod:

- `scheduled`: bound to a node whose kubelet has not accepted it yet
- `initializing`: its init containers run
- `waiting`: its containers wait to be created, or for their images
- `running`: its containers run, and it is not ready
- `ready`
- `crashed`: its containers have exited and are to be restarted
- `succeeded`, `failed`
- `terminating`: deleted, and not stopped yet

A node is `ready`, or `stopped`.
"""

StatusFunction = Callable[[Pod], Mapping[str, JSON]]
"""Returns the changes of the status, as a merge patch of it."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Changes each matching pod or node after a delay.

    It matches objects of `kind` in the state `when` that the label selector and the namespace select, and with `image`
    only pods with a container of that image, which can have wildcards: `"shop/*:1.?"`. `next` is the
    name of a transition, a merge patch of the status, or a function of the pod that returns one; "delete" removes the
    object. The delay is in seconds of the cluster's clock; up to `jitter` seconds are added at random. With `times`,
    the stage is applied to one object at most so often. `exit_code` is that of the containers, for `crash` and `fail`.
    """

    name: str
    when: State
    next: PodTransition | NodeTransition | Literal["delete"] | Mapping[str, JSON] | StatusFunction
    kind: Literal["Pod", "Node"] = "Pod"
    label_selector: str = ""
    namespace: str = ""
    image: str = ""
    delay: float = 0.0
    jitter: float = 0.0
    times: int | None = None
    exit_code: int = 1
    _selector: LabelSelector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.kind not in ("Pod", "Node"):
            raise UsageError(f"stage {self.name!r}: kind is 'Pod' or 'Node', not {self.kind!r}")
        if self.when not in get_args(State):
            raise UsageError(f"stage {self.name!r}: {self.when!r} is no state: use one of {', '.join(get_args(State))}")
        transitions = (*get_args(PodTransition if self.kind == "Pod" else NodeTransition), "delete")
        if isinstance(self.next, str) and self.next not in transitions:
            raise UsageError(
                f"stage {self.name!r}: {self.next!r} is no transition: use one of {', '.join(transitions)}"
            )
        if self.delay < 0 or self.jitter < 0:
            raise UsageError(f"stage {self.name!r}: delay and jitter cannot be negative")
        if not 1 <= self.exit_code <= 255:
            raise UsageError(f"stage {self.name!r}: exit_code is from 1 to 255, not {self.exit_code}")
        object.__setattr__(self, "_selector", parse_label_selector(self.label_selector))

    def matches(self, item: Pod | Node, state: State, applied: int) -> bool:
        """Whether the stage is next for an object in this state, to which it was applied so often."""
        return (
            self.when in (state, "any")
            and item.kind == self.kind
            and (not self.namespace or self.namespace == item.namespace)
            and (self.times is None or applied < self.times)
            and self._selector.matches(item.labels)
            and (not self.image or (isinstance(item, Pod) and self._has_image(item)))
        )

    def _has_image(self, pod: Pod) -> bool:
        return any(fnmatchcase(each.image or "", self.image) for each in pod.spec.containers)

    def seconds(self, fraction: float) -> float:
        """The delay of one application; `fraction`, from 0 to 1, is the part of the jitter that is added."""
        return self.delay + fraction * self.jitter


DEFAULT_STAGES = (
    Stage("accept the pod", "scheduled", "create"),
    Stage("run init containers", "initializing", "initialize", delay=1.0),
    Stage("start containers", "waiting", "start", delay=1.0),
    Stage("pass the readiness probe", "running", "ready", delay=1.0),
    Stage("stop the pod", "terminating", "delete", delay=1.0),
)
"""The stages of every pod. Also, containers exit when their `Program` ends, and are restarted with backoff."""


def read_stages(text: str | bytes, *, file: str = "") -> tuple[Stage, ...]:
    """Read stages from YAML: a list of mappings with the fields of `Stage`; ConfigError if they are not valid."""
    try:
        tree = yaml.safe_load(text)
        return tuple(_stage(each) for each in _listed(tree))
    except (yaml.YAMLError, UsageError, TypeError) as error:
        raise ConfigError(f"the stages cannot be read: {error}", file=file) from None


def _listed(tree: object) -> Iterable[object]:
    if isinstance(tree, list):
        return tree
    raise UsageError("expected a list of stages, each with name, when and next")


def _stage(tree: object) -> Stage:
    known = {each.name for each in fields(Stage) if each.init}
    if not isinstance(tree, dict) or not {"name", "when", "next"} <= tree.keys() <= known:
        raise UsageError(f"a stage has name, when and next, and can have {', '.join(sorted(known))}; found {tree!r}")
    return Stage(**tree)
