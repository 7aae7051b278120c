"""Pods in many states."""

from __future__ import annotations

from typing import Any

from tests.real.tables.sample import CONTAINERS, LATER, LONG_AGO, Sample, Tree, condition, local


def ended(code: int, **more: Any) -> Tree:
    return {"terminated": {"exitCode": code, "startedAt": LONG_AGO, "finishedAt": LATER, **more}}


def state(name: str, now: Tree | None = None, last: Tree | None = None, **more: Any) -> Tree:
    found = {"name": name, "image": "i", "imageID": "", "ready": False, "restartCount": 0, **more}
    return {**found, "state": now or {}, "lastState": last or {}}


RUNNING = {"running": {"startedAt": LONG_AGO}}
WAITING = {"waiting": {"reason": "CrashLoopBackOff"}}


def pod(
    name: str,
    *statuses: Tree,
    phase: str = "Running",
    init: list[Tree] | None = None,
    spec: Tree | None = None,
    deleted: bool = False,
    **status: Any,
) -> Sample:
    """A pod with two containers and two init containers, the second of which may be a sidecar."""
    given = {"phase": phase, "containerStatuses": list(statuses), **status}
    if init is not None:
        given["initContainerStatuses"] = init
    initial = [{"name": "first", "image": "i"}, {"name": "side", "image": "i", "restartPolicy": "Always"}]
    containers = {"containers": CONTAINERS, "initContainers": initial if init is not None else []}
    return local("v1", "pods", name, given, spec={**containers, **(spec or {})}, deleted=deleted)


DONE = state("first", ended(0))
SIDE = state("side", RUNNING, started=True, ready=True, restartCount=3, last=None)
READY = [state("web", RUNNING, ready=True), state("log", RUNNING, ready=True)]

PODS = [
    pod("pending", phase="Pending"),
    pod("running", *READY, podIPs=[{"ip": "10.1.2.3"}, {"ip": "fd00::1"}], podIP="10.1.2.3", spec={"nodeName": "n1"}),
    pod("half", state("web", RUNNING, ready=True), state("log", RUNNING)),
    pod("nominated", phase="Pending", nominatedNodeName="n2"),
    pod("reason", phase="Failed", reason="Evicted"),
    pod("succeeded", state("web", ended(0, reason="Completed")), phase="Succeeded"),
    pod("completed-failed", state("web", ended(0, reason="Completed")), state("log", ended(1, reason="Error"))),
    pod("failed", state("web", ended(2)), state("log", ended(0)), phase="Failed"),
    pod("signal", state("web", ended(0, signal=9))),
    pod("signal-and-code", state("web", ended(137, signal=9))),
    pod("waiting", state("web", WAITING, ended(1), restartCount=5), state("log", RUNNING, ready=True, restartCount=1)),
    pod("restarted", state("web", RUNNING, ended(1), restartCount=2, ready=True), READY[1]),
    pod("restarted-without-date", state("web", RUNNING, restartCount=2, ready=True), READY[1]),
    pod(
        "completed-and-ready",
        state("web", ended(0, reason="Completed")),
        READY[1],
        conditions=[condition("Ready")],
    ),
    pod("completed-not-ready", state("web", ended(0, reason="Completed")), READY[1]),
    pod(
        "completed-failed-running",
        state("web", ended(0, reason="Completed")),
        state("log", ended(3, reason="Error")),
        READY[1] | {"name": "other"},
    ),
    pod("init-zero", init=[state("first", {"waiting": {"reason": "PodInitializing"}})], phase="Pending"),
    pod("init-empty", init=[state("first")], phase="Pending"),
    pod("init-running", init=[state("first", RUNNING, restartCount=1)], phase="Pending"),
    pod("init-waiting", init=[state("first", WAITING, ended(1), restartCount=4)], phase="Pending"),
    pod("init-failed", init=[state("first", ended(1, reason="Error"))], phase="Pending"),
    pod("init-code", init=[state("first", ended(3))], phase="Pending"),
    pod("init-signal", init=[state("first", ended(3, signal=15))], phase="Pending"),
    pod("init-second", init=[DONE, state("side")], phase="Pending"),
    pod("sidecar", *READY, init=[DONE, SIDE]),
    pod("sidecar-unready", *READY, init=[DONE, SIDE | {"ready": False}]),
    pod("sidecar-restarted", *READY, init=[DONE, SIDE | {"lastState": ended(1)}]),
    pod("sidecar-crashed", *READY, init=[DONE, state("side", WAITING, ended(1), restartCount=2)]),
    pod(
        "initialized-anyway",
        *READY,
        init=[state("first", RUNNING, restartCount=1)],
        conditions=[condition("Initialized")],
    ),
    pod("unknown-init", *READY, init=[state("other", RUNNING, started=True, ready=True)]),
    pod("gated", phase="Pending", conditions=[condition("PodScheduled", "False", reason="SchedulingGated")]),
    pod(
        "gates",
        *READY,
        spec={"readinessGates": [{"conditionType": "example.com/a"}, {"conditionType": "example.com/b"}]},
        conditions=[condition("example.com/a"), condition("example.com/b", "False")],
    ),
    pod("terminating", *READY, deleted=True, spec={"nodeName": "n1"}),
    pod("terminating-lost", *READY, deleted=True, reason="NodeLost", spec={"nodeName": "n1"}),
    pod("terminating-done", state("web", ended(0, reason="Completed")), phase="Succeeded", deleted=True),
    pod("unknown", phase="Unknown"),
]
