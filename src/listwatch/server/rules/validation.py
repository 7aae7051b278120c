"""Is an object in order, and may it become so? The rules are in `rules`; what they find are causes of an InvalidError.

Objects come here decoded and with their defaults, so what a rule looks at is of the right type.
"""

from __future__ import annotations

from functools import lru_cache

from listwatch.errors import StatusCause
from listwatch.meta import Resource
from listwatch.server.json_tree import Tree
from listwatch.server.rules.checks import Check
from listwatch.server.rules.metadata import metadata_rules, new_finalizers
from listwatch.server.rules.table import NO_RULES, RULES, KindRules
from listwatch.server.schema.registry import builtin_traits
from listwatch.server.schema.schema import builtin_schema

__all__ = ["validate_create", "validate_update"]

# An update through one of these is an update of the object; the others change one part of it, by rules of their own.
_WHOLE_OBJECT = ("", "scale")


def validate_create(tree: Tree, resource: Resource) -> list[StatusCause]:
    """What is wrong with an object that is about to be stored for the first time, with its name made."""
    metadata, rules = _rules(resource)
    return _distinct([*metadata(tree, ""), *rules.always(tree, ""), *rules.created(tree, "")])


def validate_update(tree: Tree, old: Tree, resource: Resource, *, subresource: str = "") -> list[StatusCause]:
    """What is wrong with an object that is about to take the place of the old one."""
    metadata, rules = _rules(resource)
    found = [*metadata(tree, ""), *new_finalizers(tree, old, "")]
    if subresource in _WHOLE_OBJECT:
        found += [*rules.always(tree, ""), *rules.change(tree, old, "")]
    elif subresource == "status":
        found += rules.status(tree, "")
    return _distinct(found)


def _distinct(causes: list[StatusCause]) -> list[StatusCause]:
    return list(dict.fromkeys(causes))


@lru_cache(maxsize=1024)
def _rules(resource: Resource) -> tuple[Check, KindRules]:
    """Those for the metadata, and those for the rest."""
    return _metadata(resource), RULES.get(str(resource.gvk.group_kind), NO_RULES)


def _metadata(resource: Resource) -> Check:
    built_in = builtin_schema().type_of(resource.api_version, resource.kind) is not None
    rule: str = builtin_traits(resource).name_rule if built_in else "dns_subdomain"
    if resource.gvk.group_kind == ("batch", "CronJob"):
        rule = "cron_job"
    return metadata_rules(name_rule=rule, namespaced=resource.namespaced, built_in=built_in)
