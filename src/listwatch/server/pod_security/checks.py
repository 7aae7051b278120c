"""The checks of the baseline and restricted levels, by the versions of Kubernetes that have introduced them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from listwatch.json_value import JSON, JSONObject
from listwatch.server.json_tree import integer_at, object_at, objects_at, quoted, text_at, texts_at, value_at
from listwatch.server.pod_security.levels import LevelVersion

__all__ = ["Violation", "violations"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation: its short reason, and the fields that cause it."""

    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


PodCheck = Callable[[JSONObject, JSONObject], Violation | None]
"""Checks the metadata and the spec of a pod."""


@dataclass(frozen=True, slots=True)
class _Check:
    name: str
    versions: Mapping[int, PodCheck]
    """The check by the first minor version that has it."""
    replaces: str = ""
    """The name of a baseline check that it includes."""

    def at(self, minor: int) -> PodCheck | None:
        started = [each for each in self.versions if each <= minor]
        return self.versions[max(started)] if started else None


def violations(level: LevelVersion, metadata: JSONObject, spec: JSONObject) -> list[Violation]:
    """Return how a pod violates a level."""
    found = (check(metadata, spec) for check in _checks_of(level))
    return [each for each in found if each]


@lru_cache(maxsize=128)
def _checks_of(level: LevelVersion) -> list[PodCheck]:
    """Return the checks in the order of their violations: by name, those of the baseline first."""
    if level.level == "privileged":
        return []
    minor = _LATEST if level.minor is None else min(level.minor, _LATEST)
    stricter = sorted(_RESTRICTED, key=lambda each: each.name) if level.level == "restricted" else []
    stricter = [each for each in stricter if each.at(minor)]
    replaced = {each.replaces for each in stricter}
    baseline = sorted(_BASELINE, key=lambda each: each.name)
    chosen = [each.at(minor) for each in (*(one for one in baseline if one.name not in replaced), *stricter)]
    return [each for each in chosen if each]


# --- Parts of pods and of texts ---------------------------------------------------------------------------------------


def _containers(spec: JSONObject) -> Iterator[JSONObject]:
    for name in ("initContainers", "containers", "ephemeralContainers"):
        yield from objects_at(spec, name)


def _names(containers: Iterable[JSONObject]) -> list[str]:
    return [text_at(each, "name") for each in containers]


def _context(tree: JSONObject) -> JSONObject:
    """Return the security context of a pod or container."""
    return object_at(tree, "securityContext")


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _counted(singular: str, names: Collection[str]) -> str:
    return singular if len(names) == 1 else f"{singular}s"


def _named(singular: str, names: Collection[str]) -> str:
    return f"{_counted(singular, names)} {_quoted(names)}"


def _use(names: Collection[str]) -> str:
    return "uses" if len(names) == 1 else "use"


def _setters(containers: Collection[str], *, pod: bool) -> str:
    """Name the pod and the containers that set a field."""
    return " and ".join([*(["pod"] if pod else []), *([_named("container", containers)] if containers else [])])


def _unless_windows(check: PodCheck) -> PodCheck:
    def exempt(metadata: JSONObject, spec: JSONObject) -> Violation | None:
        return None if text_at(spec, "os", "name") == "windows" else check(metadata, spec)

    return exempt


def _unless_own_users(check: PodCheck) -> PodCheck:
    """Pods in a user namespace may run as root."""

    def exempt(metadata: JSONObject, spec: JSONObject) -> Violation | None:
        return None if spec.get("hostUsers") is False else check(metadata, spec)

    return exempt


# --- Baseline ---------------------------------------------------------------------------------------------------------

_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_CAPABILITIES = frozenset(
    [
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    ]
)
_PROFILE_TYPES = ("RuntimeDefault", "Localhost")
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"


def _app_armor(metadata: JSONObject, spec: JSONObject) -> Violation | None:
    def bad_type(tree: JSONObject) -> str | None:
        profile = _context(tree).get("appArmorProfile")
        type_ = text_at(profile, "type")
        return type_ if isinstance(profile, dict) and type_ not in _PROFILE_TYPES else None

    bad = [each for each in _containers(spec) if bad_type(each) is not None]
    setters = _setters(_names(bad), pod=bad_type(spec) is not None)
    values = sorted({type_ for each in (spec, *bad) if (type_ := bad_type(each)) is not None})
    annotations = sorted(
        f"{name}={quoted(str(value))}"
        for name, value in object_at(metadata, "annotations").items()
        if name.startswith(_APP_ARMOR) and not _is_allowed_app_armor(str(value))
    )
    if annotations:
        setters = " and ".join(filter(None, (setters, _counted("annotation", annotations))))
        values += annotations
    if not setters:
        return None
    reason = _counted("forbidden AppArmor profile", values)
    return Violation(reason, f"{setters} must not set AppArmor profile type to {_quoted(values)}")


def _is_allowed_app_armor(value: str) -> bool:
    return value in ("", "runtime/default") or value.startswith("localhost/")


def _added_capabilities(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    def added(container: JSONObject) -> set[str]:
        return {*texts_at(_context(container), "capabilities", "add")} - _CAPABILITIES

    bad = [each for each in _containers(spec) if added(each)]
    if not bad:
        return None
    values = _quoted(sorted(set[str]().union(*map(added, bad))))
    where = "in securityContext.capabilities.add"
    return Violation(
        "non-default capabilities", f"{_named('container', _names(bad))} must not include {values} {where}"
    )


def _host_namespaces(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    found = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return Violation("host namespaces", ", ".join(found)) if found else None


def _host_paths(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    found = _names(each for each in objects_at(spec, "volumes") if "hostPath" in each)
    return Violation("hostPath volumes", _named("volume", found)) if found else None


def _host_ports(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    def ports(container: JSONObject) -> set[str]:
        return {str(port) for each in objects_at(container, "ports") if (port := integer_at(each, "hostPort"))}

    bad = [each for each in _containers(spec) if ports(each)]
    if not bad:
        return None
    names, found = _names(bad), sorted(set[str]().union(*map(ports, bad)))
    detail = f"{_named('container', names)} {_use(names)} {_counted('hostPort', found)} {', '.join(found)}"
    return Violation("hostPort", detail)


def _host_probes(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    handlers = (
        *(("livenessProbe",), ("readinessProbe",), ("startupProbe",)),
        *(("lifecycle", "postStart"), ("lifecycle", "preStop")),
    )

    def hosts(container: JSONObject) -> set[str]:
        paths = ((*handler, action, "host") for handler in handlers for action in ("httpGet", "tcpSocket"))
        return {host for path in paths if (host := text_at(container, *path))}

    bad = [each for each in _containers(spec) if hosts(each)]
    if not bad:
        return None
    names, found = sorted({*_names(bad)}), sorted(set[str]().union(*map(hosts, bad)))
    reason = "probe or lifecycle host"
    return Violation(reason, f"{_named('container', names)} {_use(names)} {_named(reason, found)}")


def _privileged(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    bad = _names(each for each in _containers(spec) if _context(each).get("privileged"))
    detail = f"{_named('container', bad)} must not set securityContext.privileged=true"
    return Violation("privileged", detail) if bad else None


def _proc_mount(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    bad = [each for each in _containers(spec) if _context(each).get("procMount", "Default") != "Default"]
    values = sorted({text_at(_context(each), "procMount") for each in bad})
    detail = f"{_named('container', _names(bad))} must not set securityContext.procMount to {_quoted(values)}"
    return Violation("procMount", detail) if bad else None


def _selinux(*more_types: str) -> PodCheck:
    types = ("", "container_t", "container_init_t", "container_kvm_t", *more_types)

    def options(tree: JSONObject) -> JSONObject:
        return object_at(_context(tree), "seLinuxOptions")

    def is_bad(tree: JSONObject) -> bool:
        found = options(tree)
        return text_at(found, "type") not in types or bool(text_at(found, "user") or text_at(found, "role"))

    def check(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
        bad = [each for each in _containers(spec) if is_bad(each)]
        setters = _setters(_names(bad), pod=is_bad(spec))
        if not setters:
            return None
        found = [*map(options, (spec, *bad))]
        problems: list[str] = []
        if values := sorted({text_at(each, "type") for each in found} - {*types}):
            problems.append(_named("type", values))
        problems += [
            f"{name} may not be set" for name in ("user", "role") if any(text_at(each, name) for each in found)
        ]
        detail = f"{setters} set forbidden securityContext.seLinuxOptions: {'; '.join(problems)}"
        return Violation("seLinuxOptions", detail)

    return check


def _seccomp_annotations(metadata: JSONObject, spec: JSONObject) -> Violation | None:
    annotations = object_at(metadata, "annotations")
    names = [_SECCOMP_POD, *(f"{_SECCOMP_CONTAINER}{name}" for name in _names(_containers(spec)))]
    found = sorted(
        {
            f"{name}={quoted(str(annotations[name]))}"
            for name in names
            if name in annotations and not _is_allowed_seccomp(str(annotations[name]))
        }
    )
    detail = f"forbidden {_counted('annotation', found)} {', '.join(found)}"
    return Violation("seccompProfile", detail) if found else None


def _is_allowed_seccomp(value: str) -> bool:
    return value in ("runtime/default", "docker/default") or value.startswith("localhost/")


def _seccomp_type(tree: JSONObject) -> str | None:
    """Return the type of the profile that a pod or container sets; None if it sets none."""
    profile = _context(tree).get("seccompProfile")
    return text_at(profile, "type") if isinstance(profile, dict) else None


def _seccomp(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    bad = [each for each in _containers(spec) if _seccomp_type(each) not in (None, *_PROFILE_TYPES)]
    pod = _seccomp_type(spec) not in (None, *_PROFILE_TYPES)
    values = sorted({str(_seccomp_type(each)) for each in (*([spec] if pod else []), *bad)})
    if not values:
        return None
    setters = _setters(_names(bad), pod=pod)
    detail = f"{setters} must not set securityContext.seccompProfile.type to {_quoted(values)}"
    return Violation("seccompProfile", detail)


_SYSCTLS = {
    0: "kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.tcp_syncookies net.ipv4.ping_group_range "
    "net.ipv4.ip_unprivileged_port_start",
    27: "net.ipv4.ip_local_reserved_ports",
    29: "net.ipv4.tcp_keepalive_time net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl "
    "net.ipv4.tcp_keepalive_probes",
    32: "net.ipv4.tcp_rmem net.ipv4.tcp_wmem",
}


def _sysctls(minor: int) -> PodCheck:
    allowed = {name for since, names in _SYSCTLS.items() if since <= minor for name in names.split()}

    def check(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
        found = [name for name in _names(objects_at(_context(spec), "sysctls")) if name not in allowed]
        return Violation("forbidden sysctls", ", ".join(found)) if found else None

    return check


def _host_process(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    def is_set(tree: JSONObject) -> bool:
        return value_at(_context(tree), "windowsOptions", "hostProcess") is True

    setters = _setters(_names(filter(is_set, _containers(spec))), pod=is_set(spec))
    detail = f"{setters} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", detail) if setters else None


# --- Restricted -------------------------------------------------------------------------------------------------------

_SAFE_VOLUMES = frozenset(
    [
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    ]
)
_OTHER_VOLUMES = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
]


def _privilege_escalation(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    bad = _names(each for each in _containers(spec) if _context(each).get("allowPrivilegeEscalation") is not False)
    detail = f"{_named('container', bad)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail) if bad else None


def _dropped_capabilities(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    def changed(container: JSONObject, what: str) -> list[str]:
        return texts_at(_context(container), "capabilities", what)

    def added(container: JSONObject) -> set[str]:
        return {*changed(container, "add")} - {"NET_BIND_SERVICE"}

    details: list[str] = []
    if keeping := _names(each for each in _containers(spec) if "ALL" not in changed(each, "drop")):
        details.append(f'{_named("container", keeping)} must set securityContext.capabilities.drop=["ALL"]')
    if adding := [each for each in _containers(spec) if added(each)]:
        values = _quoted(sorted(set[str]().union(*map(added, adding))))
        where = "in securityContext.capabilities.add"
        details.append(f"{_named('container', _names(adding))} must not include {values} {where}")
    return Violation("unrestricted capabilities", "; ".join(details)) if details else None


def _restricted_volumes(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    bad = [each for each in objects_at(spec, "volumes") if _SAFE_VOLUMES.isdisjoint(each)]
    if not bad:
        return None
    kinds = sorted({next((name for name in _OTHER_VOLUMES if name in each), "unknown") for each in bad})
    names = _names(bad)
    detail = f"{_named('volume', names)} {_use(names)} {_named('restricted volume type', kinds)}"
    return Violation("restricted volume types", detail)


def _non_root(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    def setting(tree: JSONObject) -> JSON:
        return _context(tree).get("runAsNonRoot")

    reason = "runAsNonRoot != true"
    explicit = _names(each for each in _containers(spec) if setting(each) is False)
    if setters := _setters(explicit, pod=setting(spec) is False):
        return Violation(reason, f"{setters} must not set securityContext.runAsNonRoot=false")
    implicit = _names(each for each in _containers(spec) if setting(each) is None)
    if not implicit or setting(spec):
        return None
    return Violation(reason, f"pod or {_named('container', implicit)} must set securityContext.runAsNonRoot=true")


def _root_user(_metadata: JSONObject, spec: JSONObject) -> Violation | None:
    def is_root(tree: JSONObject) -> bool:
        user = _context(tree).get("runAsUser")
        return user == 0 and user is not None

    setters = _setters(_names(filter(is_root, _containers(spec))), pod=is_root(spec))
    return Violation("runAsUser=0", f"{setters} must not set runAsUser=0") if setters else None


def _seccomp_set(metadata: JSONObject, spec: JSONObject) -> Violation | None:
    if found := _seccomp(metadata, spec):
        return found
    implicit = _names(each for each in _containers(spec) if _seccomp_type(each) is None)
    if not implicit or _seccomp_type(spec) is not None:
        return None
    wanted = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", f"pod or {_named('container', implicit)} {wanted}")


_BASELINE = (
    _Check("appArmorProfile", {0: _app_armor}),
    _Check("capabilities_baseline", {0: _added_capabilities}),
    _Check("hostNamespaces", {0: _host_namespaces}),
    _Check("hostPathVolumes", {0: _host_paths}),
    _Check("hostPorts", {0: _host_ports}),
    _Check("hostProbesAndHostLifecycle", {34: _host_probes}),
    _Check("privileged", {0: _privileged}),
    _Check("procMount", {0: _proc_mount, 35: _unless_own_users(_proc_mount)}),
    _Check("seLinuxOptions", {0: _selinux(), 31: _selinux("container_engine_t")}),
    _Check("seccompProfile_baseline", {0: _seccomp_annotations, 19: _seccomp}),
    _Check("sysctls", {minor: _sysctls(minor) for minor in _SYSCTLS}),
    _Check("windowsHostProcess", {0: _host_process}),
)
_RESTRICTED = (
    _Check("allowPrivilegeEscalation", {8: _privilege_escalation, 25: _unless_windows(_privilege_escalation)}),
    _Check(
        "capabilities_restricted",
        {22: _dropped_capabilities, 25: _unless_windows(_dropped_capabilities)},
        replaces="capabilities_baseline",
    ),
    _Check("procMount_restricted", {35: _proc_mount}, replaces="procMount"),
    _Check("restrictedVolumes", {0: _restricted_volumes}, replaces="hostPathVolumes"),
    _Check("runAsNonRoot", {0: _non_root, 35: _unless_own_users(_non_root)}),
    _Check("runAsUser", {23: _root_user, 35: _unless_own_users(_root_user)}),
    _Check(
        "seccompProfile_restricted",
        {19: _seccomp_set, 25: _unless_windows(_seccomp_set)},
        replaces="seccompProfile_baseline",
    ),
)
_LATEST = max(minor for check in (*_BASELINE, *_RESTRICTED) for minor in check.versions)
