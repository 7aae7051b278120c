"""The plugin ServiceAccount: gives pods a service account, its pull secrets, and a volume with its token."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from listwatch.errors import ForbiddenError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.server.json_tree import copied, ensure_object, list_at, object_at, objects_at, text_at
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.requests import APIRequest

__all__ = ["SERVICE_ACCOUNT", "ServiceAccounts"]

SERVICE_ACCOUNT = "ServiceAccount"
"""The name of the plugin."""

_ENFORCE = "kubernetes.io/enforce-mountable-secrets"
_MIRROR = "kubernetes.io/config.mirror"
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_VOLUME = "kube-api-access-"
_MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
_TOKEN_SECONDS = 3607
_MODE = 0o644
_CONTAINERS = (("initContainers", "init container"), ("containers", "container"))


class ServiceAccounts:
    """Adds to new pods what their service accounts have, and checks the secrets that they may use."""

    def __init__(self, objects: ObjectStore, name_suffix: Callable[[], str]) -> None:
        self._objects = objects
        self._name_suffix = name_suffix

    def add(self, request: APIRequest, pod: JSONObject) -> None:
        """Change a new pod in place; raises ForbiddenError."""
        spec = ensure_object(pod, "spec")
        if _MIRROR in object_at(pod, "metadata", "annotations"):
            self._check_mirror(request, pod)
            return
        name = text_at(spec, "serviceAccountName") or "default"
        # The older name of the field has the same value.
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        account = self._account(request, pod)
        if _mounts_token(account, spec):
            suffix = self._name_suffix()
            if request.replay:
                suffix = request.replay.values.setdefault("token volume", suffix)
            _mount_token(spec, suffix)
        secrets: list[JSON] = [{"name": text_at(each, "name")} for each in objects_at(account, "imagePullSecrets")]
        if secrets and not list_at(spec, "imagePullSecrets"):
            spec["imagePullSecrets"] = secrets
        if _limits_secrets(account):
            for why in _unreferenced(account, spec):
                raise _forbidden(pod, why)

    def check_ephemeral(self, request: APIRequest, pod: JSONObject) -> None:
        """Check the ephemeral containers of a pod; raises ForbiddenError."""
        account = self._account(request, pod)
        if _limits_secrets(account):
            kinds = (("ephemeralContainers", "ephemeral container"),)
            for why in _unreferenced_variables(account, object_at(pod, "spec"), kinds):
                raise _forbidden(pod, why)

    def _account(self, request: APIRequest, pod: JSONObject) -> JSONObject:
        name, namespace = text_at(pod, "spec", "serviceAccountName"), request.namespace
        if not name:
            raise _forbidden(
                pod, f"no service account specified for pod {namespace}/{text_at(pod, 'metadata', 'name')}"
            )
        account = self._objects.find("/serviceaccounts", ObjectKey(namespace, name))
        if account is None:
            why = f'serviceaccount "{name}" not found'
            raise _forbidden(pod, f"error looking up service account {namespace}/{name}: {why}")
        return account

    def _check_mirror(self, request: APIRequest, pod: JSONObject) -> None:
        """A mirror pod is the image of a static pod of a node; it has no service account."""
        spec = object_at(pod, "spec")
        if text_at(spec, "serviceAccountName"):
            raise _forbidden(pod, "a mirror pod may not reference service accounts")
        if any(_unreferenced({}, spec)):
            raise _forbidden(pod, "a mirror pod may not reference secrets")
        for volume in objects_at(spec, "volumes"):
            if any("serviceAccountToken" in each for each in objects_at(volume, "projected", "sources")):
                raise _forbidden(pod, "a mirror pod may not use ServiceAccountToken volume projections")


def _mounts_token(account: JSONObject, spec: JSONObject) -> bool:
    """The pod decides, then the service account."""
    for tree in (spec, account):
        if isinstance(choice := tree.get("automountServiceAccountToken"), bool):
            return choice
    return True


def _mount_token(spec: JSONObject, suffix: str) -> None:
    """Mount a volume with the token, the CA certificate and the namespace in all containers."""
    volumes = objects_at(spec, "volumes")
    present = next((name for each in volumes if (name := text_at(each, "name")).startswith(_VOLUME)), "")
    mount: JSONObject = {"name": present or _VOLUME + suffix, "readOnly": True, "mountPath": _MOUNT_PATH}
    is_needed = False
    for kind, _ in _CONTAINERS:
        for container in objects_at(spec, kind):
            mounts = objects_at(container, "volumeMounts")
            if not any(each.get("mountPath") == _MOUNT_PATH for each in mounts):
                container["volumeMounts"] = [*mounts, copied(mount)]
                is_needed = True
    if is_needed and not present:
        spec["volumes"] = [*volumes, {"name": mount["name"], "projected": _token_volume()}]


def _token_volume() -> JSONObject:
    namespace: JSONObject = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    certificate: JSONObject = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    sources: list[JSON] = [
        {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
        {"configMap": certificate},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"sources": sources, "defaultMode": _MODE}


# --- Secrets ----------------------------------------------------------------------------------------------------------


def _limits_secrets(account: JSONObject) -> bool:
    return text_at(account, "metadata", "annotations", _ENFORCE) in _TRUE


def _names(account: JSONObject, field: str) -> set[str]:
    return {text_at(each, "name") for each in objects_at(account, field)}


def _unreferenced(account: JSONObject, spec: JSONObject) -> Iterator[str]:
    """Yield the uses of secrets that the service account does not reference."""
    secrets, name = _names(account, "secrets"), text_at(account, "metadata", "name")
    for volume in objects_at(spec, "volumes"):
        if "secret" in volume and (secret := text_at(volume, "secret", "secretName")) not in secrets:
            what = f'volume with secret.secretName="{secret}"'
            yield f"{what} is not allowed because service account {name} does not reference that secret"
    yield from _unreferenced_variables(account, spec, _CONTAINERS)
    pulled = _names(account, "imagePullSecrets")
    for index, each in enumerate(objects_at(spec, "imagePullSecrets")):
        if (secret := text_at(each, "name")) not in pulled:
            what = f'imagePullSecrets[{index}].name="{secret}"'
            yield f"{what} is not allowed because service account {name} does not reference that imagePullSecret"


def _unreferenced_variables(account: JSONObject, spec: JSONObject, kinds: tuple[tuple[str, str], ...]) -> Iterator[str]:
    secrets, account_name = _names(account, "secrets"), text_at(account, "metadata", "name")
    for kind, shown in kinds:
        for container in objects_at(spec, kind):
            uses = [
                (f"envVar {text_at(each, 'name')}", text_at(reference, "name"))
                for each in objects_at(container, "env")
                if isinstance(reference := object_at(each, "valueFrom").get("secretKeyRef"), dict)
            ]
            uses += [
                ("envFrom", text_at(reference, "name"))
                for each in objects_at(container, "envFrom")
                if isinstance(reference := each.get("secretRef"), dict)
            ]
            for where, secret in uses:
                if secret not in secrets:
                    what = f'{shown} {text_at(container, "name")} with {where} referencing secret.secretName="{secret}"'
                    yield f"{what} is not allowed because service account {account_name} does not reference that secret"


def _forbidden(pod: JSONObject, why: str) -> ForbiddenError:
    return ForbiddenError.of("pods", text_at(pod, "metadata", "name"), why)
