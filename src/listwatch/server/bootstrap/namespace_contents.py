"""What every namespace has: the service account `default` and, with TLS, a ConfigMap with the CA certificate.

In a real cluster, kube-controller-manager creates them a moment after the namespace. Here they follow each write at
once: they exist when the response to the creation of a namespace is sent. One that is deleted or changed is restored.
"""

from __future__ import annotations

from collections.abc import Container

import msgspec

from listwatch.meta import ObjectKey
from listwatch.server.bootstrap.initial_objects import create_missing, create_or_restore
from listwatch.server.controllers.enabled_controllers import CONTROLLERS, ROOT_CA, SERVICE_ACCOUNT
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.lifecycle.strategy import NAMESPACES, Environment
from listwatch.server.storage.values import Event

__all__ = ["NamespaceContents"]

_SERVICE_ACCOUNTS, _CONFIG_MAPS = "/serviceaccounts", "/configmaps"
_ACCOUNT = "default"
_ROOT_CA = "kube-root-ca.crt"
_DELETED = b'"deletionTimestamp":'

_ACCOUNT_DATA = rb"""
> /serviceaccounts ServiceAccount v1
=
$namespace$/default
"""
_ROOT_CA_DATA = rb"""
> /configmaps ConfigMap v1
= "annotations":{"kubernetes.io/description":"The CA certificate with which pods verify the API server."},"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"$time$","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:ca.crt":{}},"f:metadata":{"f:annotations":{".":{},"f:kubernetes.io/description":{}}}}}]
$namespace$/kube-root-ca.crt "data":{"ca.crt":$certificate$}
"""  # noqa: E501  # a line has the metadata of an object
# From this ConfigMap, other API servers learn which client certificates to accept.
_AUTHENTICATION_DATA = rb"""
> /configmaps ConfigMap v1
= "managedFields":[{"manager":"kube-apiserver","operation":"Update","apiVersion":"v1","time":"$time$","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:client-ca-file":{}}}}]
kube-system/extension-apiserver-authentication "data":{"client-ca-file":$certificate$}
"""  # noqa: E501  # a line has the metadata of an object


class NamespaceContents:
    """Creates and restores the objects that every namespace has; `certificate` is the CA's, in PEM, or empty.

    In a cluster, each of the two has a controller; `enabled` has the names of those that run.
    """

    def __init__(
        self,
        objects: ObjectStore,
        environment: Environment,
        certificate: bytes = b"",
        enabled: Container[str] = CONTROLLERS,
    ) -> None:
        self._objects = objects
        self._storage = objects.storage
        self._environment = environment
        self._certificate = msgspec.json.encode(certificate.decode()).decode() if certificate else ""
        self._creates_accounts = SERVICE_ACCOUNT in enabled
        self._publishes_certificate = bool(certificate) and ROOT_CA in enabled
        self._pending: dict[str, None] = {}
        self._storage.subscribe(self._on_namespace, resource=NAMESPACES)
        if self._creates_accounts:
            self._storage.subscribe(self._on_account, resource=_SERVICE_ACCOUNTS)
        if self._publishes_certificate:
            self._storage.subscribe(self._on_config_map, resource=_CONFIG_MAPS)

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    def recover(self) -> None:
        """Schedule all namespaces of a storage that was used before."""
        for stored in self._storage.scan(NAMESPACES):
            self._pending[stored.key.name] = None
        if self._certificate:
            self._create_or_restore(_AUTHENTICATION_DATA)

    def run_pending(self) -> None:
        """Create and restore the objects of the namespaces that events concern."""
        while self._pending:
            namespace = next(iter(self._pending))
            stored = self._storage.get(NAMESPACES, ObjectKey("", namespace))
            if stored and _DELETED not in stored.value:
                if self._creates_accounts:
                    create_missing(self._objects, self._environment, _ACCOUNT_DATA, {"namespace": namespace})
                if self._publishes_certificate:
                    self._create_or_restore(_ROOT_CA_DATA, namespace)
            self._pending.pop(namespace, None)  # its own writes have been published

    def _create_or_restore(self, data: bytes, namespace: str = "") -> None:
        values = {"namespace": namespace, "certificate": self._certificate}
        create_or_restore(self._objects, self._environment, data, values)

    def _on_namespace(self, event: Event) -> None:
        if event.type != "DELETED":
            self._pending[event.key.name] = None

    def _on_account(self, event: Event) -> None:
        if event.type == "DELETED" and event.key.name == _ACCOUNT:
            self._pending[event.key.namespace] = None

    def _on_config_map(self, event: Event) -> None:
        if event.type != "ADDED" and event.key.name == _ROOT_CA:
            self._pending[event.key.namespace] = None
