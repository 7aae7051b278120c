"""Identifiers: object keys, kinds, resources and versions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Self
from urllib.parse import quote

from listwatch.errors import BadKeyError, BadNameError, RequestError, ResourceVersionError

# --- Objects ----------------------------------------------------------------------------------------------------------


class ObjectKey(NamedTuple):
    """The key of an object among objects of its kind; the namespace is empty for cluster-scoped objects."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `name` or `namespace/name`."""
        parts = text.split("/")
        if len(parts) > 2:
            raise BadKeyError(f"{text!r} is not a valid key: expected 'name' or 'namespace/name'", text=text)
        return cls("" if len(parts) == 1 else parts[0], parts[-1])

    @property
    def cluster(self) -> str:
        """The name of the object's cluster in a manager of several clusters; empty in all other programs."""
        return ""

    def in_cluster(self, cluster: str) -> ClusterKey:
        """The key of the object with the same namespace and name in a cluster."""
        return ClusterKey(self.namespace, self.name, cluster)


class ClusterKey(ObjectKey):
    """The key of an object in one of several clusters: a tuple of namespace, name and cluster.

    Keys of different clusters are never equal, nor equal to a key without a cluster. Caches, which have the objects of
    one cluster, ignore the cluster of a key. Prints as `cluster/namespace/name`, or `cluster//name` without namespace.
    """

    __slots__ = ()
    __match_args__ = ("namespace", "name", "cluster")
    _fields = ("namespace", "name", "cluster")  # type: ignore[assignment]  # as above

    def __new__(cls, namespace: str, name: str, cluster: str) -> Self:
        _check_cluster_name(cluster)
        return tuple.__new__(cls, (namespace, name, cluster))

    def __repr__(self) -> str:
        return f"ClusterKey(namespace={self.namespace!r}, name={self.name!r}, cluster={self.cluster!r})"

    def __str__(self) -> str:
        return f"{self.cluster}/{self.namespace}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `cluster/namespace/name` or `cluster//name`; the name of the cluster may contain slashes."""
        cluster, *parts = text.rsplit("/", 2)
        if len(parts) != 2 or not cluster:
            raise BadKeyError(
                f"{text!r} is not the key of an object in a cluster: expected 'cluster/namespace/name'", text=text
            )
        return cls(parts[0], parts[1], cluster)

    @property
    def cluster(self) -> str:
        """The name of the cluster."""
        name: str = tuple.__getitem__(self, 2)
        return name

    @classmethod
    def _make(cls, iterable: Iterable[str]) -> Self:  # type: ignore[override]  # of three values
        return cls(*iterable)

    def _replace(self, **values: str) -> Self:
        return type(self)(**{"namespace": self.namespace, "name": self.name, "cluster": self.cluster, **values})

    __replace__ = _replace


def _check_cluster_name(name: object) -> None:
    """Raise BadKeyError unless this is a non-empty text of printable characters."""
    if not isinstance(name, str) or not name or not name.isprintable() or name != name.strip():
        raise BadKeyError(f"{name!r} is not the name of a cluster: expected a text such as 'eu-west'", text=str(name))


def compare_resource_versions(left: str, right: str) -> int:
    """Negative, zero or positive if `left` is older than, equal to or newer than `right`, both of one resource.

    Both must be positive decimal numbers of any length without leading zeros; "" and "0" are errors.
    """
    _check_resource_version(left)
    _check_resource_version(right)
    ours, theirs = (len(left), left), (len(right), right)
    return (ours > theirs) - (ours < theirs)


def is_newer(left: str, right: str) -> bool:
    """True if `left` is newer than `right`."""
    return compare_resource_versions(left, right) > 0


def is_known_older(left: str, right: str) -> bool:
    """True if `left` is older than `right`; False if they cannot be compared, because they are not numbers."""
    try:
        return compare_resource_versions(left, right) < 0
    except ResourceVersionError:
        return False


def _check_resource_version(text: object) -> None:
    if not (isinstance(text, str) and text.isascii() and text.isdigit()):
        raise ResourceVersionError(f"{text!r} cannot be compared: expected a string of digits", text=str(text))
    if text[0] == "0":
        raise ResourceVersionError(f"{text!r} cannot be compared: it must not start with 0", text=text)


# --- Kinds and resources ----------------------------------------------------------------------------------------------


class GroupVersion(NamedTuple):
    """One version of one API group; the core group's name is empty."""

    group: str
    version: str

    @property
    def api_version(self) -> str:
        return join_api_version(self.group, self.version)

    @property
    def attribute(self) -> str:
        """The name of this group-version in Python: `core_v1`, `apps_v1`, `rbac_v1`."""
        label = self.group.partition(".")[0] or "core"
        return f"{label}_{self.version}".replace("-", "_")

    def __str__(self) -> str:
        return self.api_version

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `apps/v1` or `v1`."""
        return cls(*split_api_version(text))


class GroupKind(NamedTuple):
    """A kind in any version; prints as `Deployment.apps`."""

    group: str
    kind: str

    def __str__(self) -> str:
        return _dotted(self.kind, self.group)

    @classmethod
    def parse(cls, text: str) -> Self:
        kind, group = _split_dotted(text, "Kind.group")
        return cls(group, kind)


class GroupResource(NamedTuple):
    """A resource in any version; prints as `deployments.apps`."""

    group: str
    resource: str

    def __str__(self) -> str:
        return _dotted(self.resource, self.group)

    @classmethod
    def parse(cls, text: str) -> Self:
        resource, group = _split_dotted(text, "resource.group")
        return cls(group, resource)


class GroupVersionKind(NamedTuple):
    """The type of an object; prints as `apps/v1, Kind=Deployment`."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return join_api_version(self.group, self.version)

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)

    def __str__(self) -> str:
        return f"{self.api_version}, Kind={self.kind}"

    @classmethod
    def of(cls, api_version: str, kind: str) -> Self:
        """Return the GroupVersionKind for the fields `apiVersion` and `kind`."""
        return cls(*split_api_version(api_version), kind)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the output of `str`, or `Deployment.v1.apps`."""
        return cls(*_split_versioned(text, "Kind"))


class GroupVersionResource(NamedTuple):
    """The path under which objects of a kind are served; prints as `apps/v1, Resource=deployments`."""

    group: str
    version: str
    resource: str

    @property
    def api_version(self) -> str:
        return join_api_version(self.group, self.version)

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    @property
    def group_resource(self) -> GroupResource:
        return GroupResource(self.group, self.resource)

    def __str__(self) -> str:
        return f"{self.api_version}, Resource={self.resource}"

    @classmethod
    def of(cls, api_version: str, resource: str) -> Self:
        return cls(*split_api_version(api_version), resource)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the output of `str`, or `deployments.v1.apps`."""
        return cls(*_split_versioned(text, "Resource"))


def split_api_version(text: str) -> tuple[str, str]:
    """`apps/v1` is `("apps", "v1")`; `v1` is `("", "v1")`."""
    group, slash, version = text.rpartition("/")
    if not version or "/" in group or (slash and not group):
        raise BadNameError(f"{text!r} is not an API version: expected 'version' or 'group/version'", text=text)
    return group, version


def join_api_version(group: str, version: str) -> str:
    """`("apps", "v1")` is `apps/v1`; `("", "v1")` is `v1`."""
    return f"{group}/{version}" if group else version


def _dotted(name: str, group: str) -> str:
    return f"{name}.{group}" if group else name


def _split_dotted(text: str, form: str) -> tuple[str, str]:
    name, _, group = text.partition(".")
    if not name:
        raise BadNameError(f"{text!r} is not of the form {form!r}", text=text)
    return name, group


def _split_versioned(text: str, label: str) -> tuple[str, str, str]:
    api_version, printed, name = text.partition(f", {label}=")
    if printed and name:
        return *split_api_version(api_version), name
    # The core group may be missing or empty: "Pod.v1" and "Pod.v1.".
    name, _, rest = text.partition(".")
    version, _, group = rest.partition(".")
    if not name or not version or printed:
        form = f"group/version, {label}=name"
        raise BadNameError(f"{text!r} is neither of the form {form!r} nor of the form 'name.version.group'", text=text)
    return group, version, name


_KUBE_VERSION = re.compile(r"v([0-9]{1,18})(?:(alpha|beta)([0-9]{1,18}))?")
_STABILITY = {None: 0, "beta": 1, "alpha": 2}


def version_priority(version: str) -> tuple[int, int, int, str]:
    """A sort key that puts the preferred version first: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name."""
    matched = _KUBE_VERSION.fullmatch(version)
    if not matched:
        return len(_STABILITY), 0, 0, version
    major, stability, minor = matched.groups()
    return _STABILITY[stability], -int(major), -int(minor or 0), version


# --- Served resources -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Subresource:
    """A subresource such as `status` or `scale`, and the kind of its body."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...] = ()

    @property
    def gvk(self) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, self.kind)


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource that an API server serves: its names, its scope and its paths."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str = ""
    namespaced: bool = True
    verbs: tuple[str, ...] = ()
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()
    list_kind: str = ""

    def __post_init__(self) -> None:
        # Defaults that depend on another field; a frozen dataclass has no other way to set them.
        if not self.singular:
            object.__setattr__(self, "singular", self.kind.lower())
        if not self.list_kind:
            object.__setattr__(self, "list_kind", f"{self.kind}List")

    def __hash__(self) -> int:
        # These fields identify a resource. Hashing all of them takes ten times as long, and resources are dict keys.
        return hash((self.group, self.version, self.plural))

    @property
    def api_version(self) -> str:
        return join_api_version(self.group, self.version)

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    @property
    def gvk(self) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, self.kind)

    @property
    def gvr(self) -> GroupVersionResource:
        return GroupVersionResource(self.group, self.version, self.plural)

    @property
    def group_resource(self) -> GroupResource:
        return GroupResource(self.group, self.plural)

    @property
    def attribute(self) -> str:
        return self.group_version.attribute

    def subresource(self, name: str) -> Subresource | None:
        for each in self.subresources:
            if each.name == name:
                return each
        return None

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """The percent-encoded URL path of the collection, of an object, or of a subresource.

        Without a namespace it is the collection of all namespaces.
        """
        self._check_place(namespace, name, subresource)
        parts = ["/apis", self.group] if self.group else ["/api"]
        parts.append(self.version)
        if namespace:
            parts += ["namespaces", path_segment(namespace, "namespace")]
        parts.append(self.plural)
        if name is not None:
            parts.append(path_segment(name, "name"))
        if subresource is not None:
            parts += [path_segment(part, "subresource") for part in subresource.split("/")]
        return "/".join(parts)

    def _check_place(self, namespace: str | None, name: str | None, subresource: str | None) -> None:
        if namespace and not self.namespaced:
            raise RequestError(f"{self.group_resource} are cluster-scoped, but the namespace {namespace!r} was given")
        if name is not None and self.namespaced and not namespace:
            raise RequestError(f"{self.group_resource} {name!r}: the namespace is missing")
        if subresource is not None and name is None:
            raise RequestError(f"{self.group_resource}/{subresource}: the name of the object is missing")


# Nearly every name matches; the check takes a fifth of the time of quoting.
_PLAIN_SEGMENT = re.compile(r"[A-Za-z0-9][-A-Za-z0-9._:]*")


def path_segment(text: str, what: str) -> str:
    """`text` as one percent-encoded segment of a URL path; segments that could lead to another path are rejected."""
    if _PLAIN_SEGMENT.fullmatch(text):
        return text
    if not text:
        raise RequestError(f"the {what} is empty")
    if text in (".", "..") or "/" in text or "%" in text:
        raise RequestError(f"{text!r} is not a valid {what}: it must not be '.' or '..' nor contain '/' or '%'")
    try:
        return quote(text, safe=":@!$&'()*+,;=~")
    except UnicodeEncodeError:
        raise RequestError(f"{text!r} is not a valid {what}: it contains a lone surrogate") from None
