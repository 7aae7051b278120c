"""The rules for kinds that have few: Event, Node, RuntimeClass, ControllerRevision, CSIDriver, the webhooks."""

from __future__ import annotations

from listwatch.server.field_errors import forbidden, invalid, not_supported, required
from listwatch.server.json_tree import Tree, child
from listwatch.server.rules.checks import (
    Causes,
    all_of,
    at,
    at_least,
    changed,
    cidr,
    dns_label,
    dns_subdomain,
    each,
    formatted,
    immutable,
    inside,
    needs,
    one_of,
    qualified_name,
)
from listwatch.server.rules.workloads.pods import taint

__all__ = [
    "CONTROLLER_REVISION",
    "EVENT",
    "NODE",
    "RUNTIME_CLASS",
    "VOLUME_DRIVER",
    "WEBHOOKS",
    "node_change",
    "revision_change",
    "runtime_class_change",
]

_LONGEST = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024, "note": 1024}


def _event(event: Tree, path: str) -> Causes:
    """It is where the object is that it tells of; those of cluster objects are in the default namespace."""
    where = "involvedObject" if "involvedObject" in event else "regarding"
    namespace, home = child(event, where, "namespace") or "", child(event, "metadata", "namespace") or ""
    if event.get("eventTime"):
        misplaced = not namespace and home not in ("default", "kube-system")
        yield from _reported(event, path)
    else:
        misplaced = namespace != home and (bool(namespace) or home != "default")
    if misplaced:
        yield invalid(inside(path, "involvedObject.namespace"), namespace, "does not match event.namespace")


def _reported(event: Tree, path: str) -> Causes:
    """What is asked of those who say when it happened, which is the newer way."""
    reporter = "reportingController" if "reportingController" in event else "reportingComponent"
    yield from needs(reporter, "reportingInstance", "action", "reason")(event, path)
    if name := event.get(reporter):
        yield from formatted(qualified_name)(name, inside(path, reporter))
    for field, longest in _LONGEST.items():
        if len(event.get(field, "").encode()) > longest:
            yield invalid(inside(path, field), "", f"can have at most {longest} characters")


EVENT = _event


def _taints(taints: Tree, _path: str) -> Causes:
    for index, each_taint in enumerate(taints):
        yield from taint(each_taint, f"metadata.taints[{index}]")


def _pod_cidr(value: Tree, path: str) -> Causes:
    yield from formatted(cidr)(value, f"{path}s[0]")


NODE = at("spec", at("taints", _taints), at("podCIDR", _pod_cidr))


def node_change(new: Tree, old: Tree, path: str) -> Causes:
    for name, where in (("podCIDR", "podCIDRs"), ("providerID", "providerID")):
        if child(old, "spec", name) and changed(new, old, f"spec.{name}"):
            said = f'node updates may not change {name} except from "" to valid'
            yield forbidden(inside(path, f"spec.{where}"), said)


RUNTIME_CLASS = at("handler", formatted(dns_label))
runtime_class_change = immutable("handler")

CONTROLLER_REVISION = all_of(at("revision", at_least(0)), needs("data", detail="data is mandatory"))
revision_change = immutable("data")

VOLUME_DRIVER = at(
    "spec",
    at("fsGroupPolicy", one_of("File", "None", "ReadWriteOnceWithFSType")),
    lambda spec, path: (
        not_supported(f"{path}.volumeLifecycleModes", mode, ("Persistent", "Ephemeral"))
        for mode in spec.get("volumeLifecycleModes", ())
        if mode not in ("Persistent", "Ephemeral")
    ),
)


# --- webhooks --------------------------------------------------------------------------------------------------------


def _webhook_name(name: Tree, path: str) -> Causes:
    if name.count(".") < 2:
        yield invalid(path, name, "should be a domain with at least three segments separated by dots")
    else:
        yield from formatted(dns_subdomain)(name, path)


def _client(config: Tree, path: str) -> Causes:
    if ("url" in config) == ("service" in config):
        yield required(path, "exactly one of url or service is required")
    elif "url" in config and not config["url"].startswith("https://"):
        scheme = config["url"].partition(":")[0]
        said = "'https' is the only allowed URL scheme; desired format: https://host[/path]"
        yield invalid(f"{path}.url", scheme, said)


def _patience(seconds: Tree, path: str) -> Causes:
    if not 1 <= seconds <= 30:
        yield invalid(path, seconds, "the timeout value must be between 1 and 30 seconds")


WEBHOOKS = each(
    "webhooks",
    at("name", _webhook_name),
    each("rules", needs("operations", "apiGroups", "apiVersions", "resources")),
    at("failurePolicy", one_of("Fail", "Ignore")),
    at("matchPolicy", one_of("Equivalent", "Exact")),
    at("sideEffects", one_of("None", "NoneOnDryRun")),
    at("timeoutSeconds", _patience),
    at("clientConfig", _client),
    needs("admissionReviewVersions", detail="must specify one of v1, v1beta1"),
)
