"""The rules for where a pod may run: selectors, tolerations, affinity, spreading. `pods` applies them."""

from __future__ import annotations

from listwatch.server.field_errors import invalid, not_supported, required
from listwatch.server.json_tree import Tree
from listwatch.server.rules.checks import Causes, all_of, at, at_least, each, formatted, needs, one_of
from listwatch.server.rules.formats import label_value, qualified_name
from listwatch.server.rules.metadata import labels, selector

__all__ = ["SCHEDULING", "taint"]

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _toleration(toleration: Tree, path: str) -> Causes:
    key, operator, effect = (toleration.get(name, "") for name in ("key", "operator", "effect"))
    if key:
        yield from (invalid(f"{path}.key", key, said) for said in qualified_name(key))
    elif operator != "Exists":
        yield invalid(
            f"{path}.operator",
            operator,
            'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        )
    if "tolerationSeconds" in toleration and effect != "NoExecute":
        yield invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    yield from _toleration_value(toleration, path)
    if effect and effect not in _EFFECTS:
        yield not_supported(f"{path}.effect", effect, _EFFECTS)


def _toleration_value(toleration: Tree, path: str) -> Causes:
    operator, value = toleration.get("operator", ""), toleration.get("value", "")
    if operator in ("", "Equal"):
        yield from (invalid(f"{path}.operator", value, said) for said in label_value(value))
    elif operator == "Exists":
        if value:
            yield invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    else:
        yield not_supported(f"{path}.operator", operator, ("Equal", "Exists"))


taint = all_of(
    lambda value, path: formatted(qualified_name)(value.get("key", ""), f"{path}.key"),
    needs("effect"),
    at("value", formatted(label_value)),
    at("effect", one_of(*_EFFECTS)),
)


def _node_requirement(requirement: Tree, path: str) -> Causes:
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    elif operator not in ("Exists", "DoesNotExist"):
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from (invalid(f"{path}.key", requirement["key"], said) for said in qualified_name(requirement["key"]))


def _weight(term: Tree, path: str) -> Causes:
    if not 1 <= term.get("weight", 0) <= 100:
        yield invalid(f"{path}.weight", term.get("weight", 0), "must be in the range 1-100")


_NODE_TERM = each("matchExpressions", _node_requirement)
_NODE_AFFINITY = all_of(
    at(
        _REQUIRED,
        needs("nodeSelectorTerms", detail="must have at least one node selector term"),
        each("nodeSelectorTerms", _NODE_TERM),
    ),
    each(_PREFERRED, _weight, at("preference", _NODE_TERM)),
)
_POD_TERM = all_of(
    needs("topologyKey", detail="can not be empty"),
    at("topologyKey", formatted(qualified_name)),
    at("labelSelector", selector),
)
_POD_AFFINITY = all_of(
    each(_REQUIRED, _POD_TERM),
    each(_PREFERRED, _weight, at("podAffinityTerm", _POD_TERM)),
)
_SPREADING = all_of(
    at("maxSkew", at_least(1, "must be greater than zero")),
    needs("topologyKey", detail="can not be empty"),
    at("whenUnsatisfiable", one_of("DoNotSchedule", "ScheduleAnyway")),
    at("labelSelector", selector),
)
SCHEDULING = all_of(
    at("nodeSelector", labels),
    each("tolerations", _toleration),
    at("affinity.nodeAffinity", _NODE_AFFINITY),
    at("affinity.podAffinity", _POD_AFFINITY),
    at("affinity.podAntiAffinity", _POD_AFFINITY),
    each("topologySpreadConstraints", _SPREADING),
)
