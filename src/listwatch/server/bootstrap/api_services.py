"""The APIServices of the group versions that this server serves itself, also of those that definitions add."""

from __future__ import annotations

from collections.abc import Iterable

from listwatch.meta import GroupVersion, ObjectKey
from listwatch.server.bootstrap.bootstrap_data import API_PRIORITIES, API_SERVICE
from listwatch.server.bootstrap.initial_objects import create_missing
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.lifecycle.strategy import Environment
from listwatch.server.storage.values import Event

__all__ = ["APIServices"]

API_SERVICES = "apiregistration.k8s.io/apiservices"
"""The storage id of APIServices."""

_OWN_GROUP = "apiregistration.k8s.io"  # as in kube-apiserver, it has no APIService
# Those of built-in versions are created when the server starts, those of definitions exist as long as they are served.
_ON_START, _ALWAYS = "onstart", "true"
_IS_MANAGED = b'"kube-aggregator.kubernetes.io/automanaged":"true"'

_CUSTOM = (1000, 100)
# Of group versions that are newer than the table: the last group, and by the stability of the version.
_LAST_GROUP = 15000
_STABLE, _BETA, _ALPHA = 15, 9, 1


class APIServices:
    """Creates the missing APIServices, and deletes those of definitions that are no longer served.

    It is made before any definition is served: the group versions of the registry are then built-in ones.
    """

    def __init__(self, objects: ObjectStore, environment: Environment) -> None:
        self._objects = objects
        self._environment = environment
        self._built_in = frozenset(self._served())
        self._seen_generation = objects.registry.generation
        self._custom: set[str] = set()
        """The names of APIServices of definitions."""
        self._is_changed = False
        objects.storage.subscribe(self._on_event, resource=API_SERVICES)

    @property
    def has_pending(self) -> bool:
        return self._is_changed or self._seen_generation != self._objects.registry.generation

    def recover(self) -> None:
        """Create the APIServices of built-in versions, and find those of definitions."""
        self._create_missing(sorted(self._built_in), _ON_START)
        present = self._objects.storage.scan(API_SERVICES)
        self._custom = {stored.key.name for stored in present if _IS_MANAGED in stored.value}
        self._is_changed = True

    def run_pending(self) -> None:
        """Create and delete the APIServices of definitions."""
        self._is_changed, self._seen_generation = False, self._objects.registry.generation
        wanted = {_name(each): each for each in self._served() if each not in self._built_in}
        self._create_missing(wanted.values(), _ALWAYS)
        for name in self._custom - wanted.keys():
            if stored := self._objects.storage.get(API_SERVICES, ObjectKey("", name)):
                self._objects.remove(API_SERVICES, stored)
        self._custom = set(wanted)
        self._is_changed = False  # its own deletions change nothing

    def _served(self) -> list[GroupVersion]:
        registry = self._objects.registry
        groups = (group for group in registry.groups() if group != _OWN_GROUP)
        return [GroupVersion(group, version) for group in groups for version in registry.versions(group)]

    def _on_event(self, event: Event) -> None:
        if event.type == "DELETED":
            self._is_changed = self._is_changed or event.key.name in self._custom

    def _create_missing(self, versions: Iterable[GroupVersion], managed: str) -> None:
        missing = (each for each in versions if not self._objects.storage.get(API_SERVICES, ObjectKey("", _name(each))))
        if texts := [_text(each, managed) for each in missing]:
            create_missing(self._objects, self._environment, b"".join(texts))


def _text(version: GroupVersion, managed: str) -> bytes:
    """Return the text of an APIService."""
    group_priority, version_priority = _priorities(version, is_custom=managed == _ALWAYS)
    values = {
        "name": _name(version),
        "managed": managed,
        "f_group": '"f:group":{},' if version.group else "",
        "group": f'"group":"{version.group}",' if version.group else "",
        "version": version.version,
        "group_priority": str(group_priority),
        "version_priority": str(version_priority),
    }
    text = API_SERVICE
    for placeholder, value in values.items():
        text = text.replace(b"$%b$" % placeholder.encode(), value.encode())
    return text


def _name(version: GroupVersion) -> str:
    return f"{version.version}.{version.group}"


def _priorities(version: GroupVersion, *, is_custom: bool) -> tuple[int, int]:
    """Return the priority of the group among groups, and that of the version in it."""
    if is_custom:
        return _CUSTOM
    if known := API_PRIORITIES.get(str(version)):
        return known
    prefix = f"{version.group}/"
    group = max((row[0] for name, row in API_PRIORITIES.items() if name.startswith(prefix)), default=_LAST_GROUP)
    return group, _ALPHA if "alpha" in version.version else _BETA if "beta" in version.version else _STABLE
