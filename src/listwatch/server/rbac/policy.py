"""The roles and bindings of a storage, and the rules that they give to users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from listwatch.errors import NotFoundError
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey
from listwatch.server.json_tree import objects_at, quoted, text_at
from listwatch.server.lifecycle.object_store import decode_stored
from listwatch.server.rbac.policy_rules import PolicyRule
from listwatch.server.requests import User
from listwatch.server.storage.storage import Storage

__all__ = ["GROUP", "Grant", "Policy", "RoleReference"]

GROUP = "rbac.authorization.k8s.io"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RoleReference:
    """The role that a binding refers to; the namespace is empty for a ClusterRole."""

    kind: str
    name: str
    namespace: str = ""

    @property
    def resource(self) -> str:
        return "roles" if self.kind == "Role" else "clusterroles"


@dataclass(frozen=True, slots=True)
class Grant:
    """The rules of a role, and the binding that gives them to a user; `error` if the role does not exist."""

    rules: tuple[PolicyRule, ...]
    source: str
    error: NotFoundError | None = None


@dataclass(frozen=True, slots=True)
class _Subject:
    is_group: bool
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class _Binding:
    description: str
    role: RoleReference
    subjects: tuple[_Subject, ...]

    def subject_of(self, user: User) -> _Subject | None:
        for subject in self.subjects:
            if subject.name in user.groups if subject.is_group else subject.name == user.name:
                return subject
        return None


class Policy:
    """Finds the rules of users. Roles and bindings are decoded when they have changed."""

    def __init__(self, storage: Storage) -> None:
        self._roles = _Table(storage, "roles", _rules)
        self._cluster_roles = _Table(storage, "clusterroles", _rules)
        self._bindings = _Table(storage, "rolebindings", _binding)
        self._cluster_bindings = _Table(storage, "clusterrolebindings", _binding)

    def grants(self, user: User, namespace: str) -> Iterator[Grant]:
        """Yield what a user is granted in all namespaces, and then, if one is given, in that namespace."""
        yield from self._grants(user, self._cluster_bindings.in_namespace(""))
        if namespace:
            yield from self._grants(user, self._bindings.in_namespace(namespace))

    def rules_of(self, user: User, namespace: str) -> list[PolicyRule]:
        """Return all rules of a user; a ClusterRoleBinding gives them in all namespaces."""
        return [rule for grant in self.grants(user, namespace) for rule in grant.rules]

    def rules_of_role(self, role: RoleReference) -> tuple[PolicyRule, ...]:
        """Return the rules of a role; raises NotFoundError."""
        table = self._roles if role.kind == "Role" else self._cluster_roles
        rules = table.get(ObjectKey(role.namespace if role.kind == "Role" else "", role.name))
        if rules is None:
            raise NotFoundError.of(role.kind.lower(), role.name, group=GROUP)  # kube-apiserver names the singular
        return rules

    def _grants(self, user: User, bindings: Iterable[_Binding]) -> Iterator[Grant]:
        for binding in bindings:
            subject = binding.subject_of(user)
            if subject is None:
                continue
            source = f"{binding.description} to {subject.description}"
            try:
                yield Grant(self.rules_of_role(binding.role), source)
            except NotFoundError as error:
                yield Grant((), source, error)


class _Table(Generic[T]):
    """The decoded objects of one resource, read again after a change."""

    def __init__(self, storage: Storage, plural: str, read: Callable[[JSONObject], T]) -> None:
        self._storage = storage
        self._storage_id = f"{GROUP}/{plural}"
        self._read = read
        self._objects: dict[ObjectKey, T] | None = None
        self._namespaces: dict[str, list[T]] = {}
        self._rollbacks = storage.rollbacks
        storage.subscribe(self._invalidate, resource=self._storage_id)

    def get(self, key: ObjectKey) -> T | None:
        return self._loaded().get(key)

    def in_namespace(self, namespace: str) -> list[T]:
        self._loaded()
        return self._namespaces.get(namespace, [])

    def _invalidate(self, _event: object) -> None:
        self._objects = None

    def _loaded(self) -> dict[ObjectKey, T]:
        if self._objects is None or self._rollbacks != self._storage.rollbacks:
            self._rollbacks = self._storage.rollbacks
            self._objects, self._namespaces = {}, {}
            for stored in self._storage.scan(self._storage_id):
                read = self._objects[stored.key] = self._read(decode_stored(stored))
                self._namespaces.setdefault(stored.key.namespace, []).append(read)
        return self._objects


def _rules(role: JSONObject) -> tuple[PolicyRule, ...]:
    return tuple(PolicyRule.of(rule) for rule in objects_at(role, "rules"))


def _binding(tree: JSONObject) -> _Binding:
    name, namespace = text_at(tree, "metadata", "name"), text_at(tree, "metadata", "namespace")
    kind, role = text_at(tree, "roleRef", "kind"), text_at(tree, "roleRef", "name")
    own = f"{name}/{namespace}" if namespace else name
    return _Binding(
        description=f"{tree['kind']} {quoted(own)} of {kind} {quoted(role)}",
        role=RoleReference(kind, role, namespace),
        subjects=tuple(_subject(each, namespace) for each in objects_at(tree, "subjects")),
    )


def _subject(subject: JSONObject, binding_namespace: str) -> _Subject:
    kind, name = text_at(subject, "kind"), text_at(subject, "name")
    if kind != "ServiceAccount":
        return _Subject(kind == "Group", name, f"{kind} {quoted(name)}")
    namespace = text_at(subject, "namespace") or binding_namespace
    return _Subject(False, f"system:serviceaccount:{namespace}:{name}", f"{kind} {quoted(f'{name}/{namespace}')}")
