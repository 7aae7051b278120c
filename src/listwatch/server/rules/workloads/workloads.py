"""The rules for kinds that keep pods running: Deployment and its like. `pods` has those for their pods."""

from __future__ import annotations

from listwatch.server.field_errors import forbidden, invalid, not_supported, required
from listwatch.server.json_tree import Tree, child
from listwatch.server.rules.checks import (
    Causes,
    Check,
    all_of,
    at,
    at_least,
    changed,
    dns_label,
    formatted,
    inside,
    needs,
    one_of,
    percent,
    percentage,
    when,
)
from listwatch.server.rules.metadata import selector, selects
from listwatch.server.rules.workloads.pods import POD_TEMPLATE

__all__ = [
    "DAEMON_SET",
    "DEPLOYMENT",
    "REPLICATION_CONTROLLER",
    "REPLICA_SET",
    "STATEFUL_SET",
    "stateful_set_change",
    "template_selector",
]

_NOT_NEGATIVE = at_least(0)


# --- selectors and templates -----------------------------------------------------------------------------------------


def template_selector(kind: str, *, must_be: bool = True) -> Check:
    """There is one, it is not empty, and it finds the pods of the template."""

    def check(spec: Tree, path: str) -> Causes:
        where, value = f"{path}.selector", spec.get("selector")
        if value is None and must_be:
            yield required(where)
        wrong = list(selector(value or {}, where))
        yield from wrong
        if value == {}:
            yield invalid(where, value, f"empty selector is invalid for {kind}")
        elif wrong:
            yield invalid(where, value, "invalid label selector")
        elif value is None or not selects(value, _template_labels(spec) or {}):
            yield _mismatch(spec, path)

    return check


def _mismatch(spec: Tree, path: str) -> Tree:
    return invalid(
        f"{path}.template.metadata.labels", _template_labels(spec), "`selector` does not match template `labels`"
    )


def _template_labels(spec: Tree) -> Tree:
    return child(spec, "template", "metadata", "labels")


def _runs_for_ever(spec: Tree, path: str) -> Causes:
    policy = child(spec, "template", "spec", "restartPolicy")
    if policy in ("OnFailure", "Never"):
        yield not_supported(f"{path}.template.spec.restartPolicy", policy, ["Always"])
    if child(spec, "template", "spec", "activeDeadlineSeconds") is not None:
        yield forbidden(
            f"{path}.template.spec.activeDeadlineSeconds", "activeDeadlineSeconds in ReplicaSet is not Supported"
        )


_SERVICE_PODS = all_of(at("template", POD_TEMPLATE), _runs_for_ever)


# --- rolling updates -------------------------------------------------------------------------------------------------


def _share(value: Tree, path: str) -> Causes:
    """So many pods, or so many of a hundred."""
    if isinstance(value, str):
        yield from formatted(percent)(value, path)
    else:
        yield from _NOT_NEGATIVE(value, path)


def _whole_share(value: Tree, path: str) -> Causes:
    yield from _share(value, path)
    if (percentage(value) or 0) > 100:
        yield invalid(path, value, "must not be greater than 100%")


def _is_nothing(value: Tree) -> bool:
    return value == 0 or percentage(value) == 0


def _deployment_strategy(strategy: Tree, path: str) -> Causes:
    rolling = strategy.get("rollingUpdate")
    match strategy.get("type"):
        case "Recreate":
            if rolling is not None:
                yield forbidden(f"{path}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
        case "RollingUpdate":
            yield from _ROLLING(rolling or {}, f"{path}.rollingUpdate")
            if rolling and _is_nothing(rolling["maxUnavailable"]) and _is_nothing(rolling["maxSurge"]):
                where = f"{path}.rollingUpdate.maxUnavailable"
                yield invalid(where, rolling["maxUnavailable"], "may not be 0 when `maxSurge` is 0")
        case _:
            yield not_supported(path, strategy, ("Recreate", "RollingUpdate"))


def _daemon_set_strategy(strategy: Tree, path: str) -> Causes:
    if strategy.get("type") not in ("RollingUpdate", "OnDelete"):
        yield not_supported(path, strategy, ("RollingUpdate", "OnDelete"))
    elif (rolling := strategy.get("rollingUpdate")) is not None:
        where = f"{path}.rollingUpdate"
        yield from _ROLLING(rolling, where)
        unavailable, surge = _is_nothing(rolling["maxUnavailable"]), _is_nothing(rolling["maxSurge"])
        if unavailable and surge:
            yield required(f"{where}.maxUnavailable", "cannot be 0 when maxSurge is 0")
        elif not unavailable and not surge:
            yield invalid(f"{where}.maxSurge", rolling["maxSurge"], "may not be set when maxUnavailable is non-zero")


_ROLLING = all_of(at("maxUnavailable", _whole_share), at("maxSurge", _share))


def _stateful_set_strategy(strategy: Tree, path: str) -> Causes:
    rolling = strategy.get("rollingUpdate")
    match strategy.get("type"):
        case "OnDelete":
            if rolling is not None:
                said = "only allowed for updateStrategy 'RollingUpdate'"
                yield invalid(f"{path}.rollingUpdate", rolling, said)
        case "RollingUpdate":
            yield from at("partition", _NOT_NEGATIVE)(rolling or {}, f"{path}.rollingUpdate")
        case _:
            yield invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")


# --- services that run for ever --------------------------------------------------------------------------------------


def _deadline(spec: Tree, path: str) -> Causes:
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= spec.get("minReadySeconds", 0):
        yield invalid(f"{path}.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


DEPLOYMENT = at(
    "spec",
    at("replicas", _NOT_NEGATIVE),
    template_selector("deployment"),
    _SERVICE_PODS,
    at("strategy", _deployment_strategy),
    at("minReadySeconds", _NOT_NEGATIVE),
    at("revisionHistoryLimit", _NOT_NEGATIVE),
    at("progressDeadlineSeconds", _NOT_NEGATIVE),
    _deadline,
)
REPLICA_SET = at(
    "spec",
    at("replicas", _NOT_NEGATIVE),
    at("minReadySeconds", _NOT_NEGATIVE),
    template_selector("deployment"),
    _SERVICE_PODS,
)
DAEMON_SET = at(
    "spec",
    template_selector("daemonset", must_be=False),
    _SERVICE_PODS,
    at("minReadySeconds", _NOT_NEGATIVE),
    at("updateStrategy", _daemon_set_strategy),
    at("revisionHistoryLimit", _NOT_NEGATIVE),
)


def _pod_management(policy: Tree, path: str) -> Causes:
    if policy not in ("OrderedReady", "Parallel"):
        yield invalid(path, policy, "must be 'OrderedReady' or 'Parallel'")


_KEPT = one_of("Retain", "Delete")
STATEFUL_SET = at(
    "spec",
    at("podManagementPolicy", _pod_management),
    at("updateStrategy", _stateful_set_strategy),
    at("persistentVolumeClaimRetentionPolicy", at("whenDeleted", _KEPT), at("whenScaled", _KEPT)),
    at("replicas", _NOT_NEGATIVE),
    at("minReadySeconds", _NOT_NEGATIVE),
    at("ordinals.start", _NOT_NEGATIVE),
    when(lambda spec: bool(spec.get("serviceName")), at("serviceName", formatted(dns_label))),
    template_selector("statefulset"),
    _SERVICE_PODS,
)


def _plain_selector(spec: Tree, path: str) -> Causes:
    labels, wanted = _template_labels(spec) or {}, spec.get("selector", {})
    if wanted and "template" in spec and not wanted.items() <= labels.items():
        yield _mismatch(spec, path)


REPLICATION_CONTROLLER = at(
    "spec",
    at("minReadySeconds", _NOT_NEGATIVE),
    needs("selector"),
    at("replicas", _NOT_NEGATIVE),
    needs("template"),
    _plain_selector,
    at("template", POD_TEMPLATE),
    _runs_for_ever,
)

_MUTABLE = {
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
}


def stateful_set_change(new: Tree, old: Tree, path: str) -> Causes:
    names = {*new["spec"], *old["spec"]} - _MUTABLE
    if any(changed(new["spec"], old["spec"], name) for name in names):
        yield forbidden(
            inside(path, "spec"),
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
            "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        )
