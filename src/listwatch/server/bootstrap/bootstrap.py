"""Gives a server what a new cluster has, and keeps the part of it that follows other objects.

    start      namespaces; system roles, bindings, priorities and flow schemas; the APIServices of what is served
    listen     the Service `default/kubernetes`, with the address of the server
    writes     contents of new namespaces, APIServices of custom resources

What exists already is left as it is, so that a server can start with the objects of another.
"""

from __future__ import annotations

from collections.abc import Container

from listwatch.server.bootstrap.api_services import APIServices
from listwatch.server.bootstrap.bootstrap_data import INITIAL_OBJECTS, NAMESPACES
from listwatch.server.bootstrap.initial_objects import create_missing
from listwatch.server.bootstrap.namespace_contents import NamespaceContents
from listwatch.server.bootstrap.own_service import publish_own_service
from listwatch.server.controllers.enabled_controllers import CONTROLLERS
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.lifecycle.strategy import Environment

__all__ = ["Bootstrap", "create_namespaces"]


def create_namespaces(objects: ObjectStore, environment: Environment) -> None:
    """Create the namespaces that every server has, if they are missing."""
    create_missing(objects, environment, NAMESPACES)


class Bootstrap:
    """The initial objects of one server, and the controllers that belong to them.

    It is made before definitions are served. `certificate` is that of the server's CA, in PEM; empty without TLS.
    `enabled` has the names of the controllers that run.
    """

    def __init__(
        self,
        objects: ObjectStore,
        environment: Environment,
        certificate: bytes = b"",
        enabled: Container[str] = CONTROLLERS,
    ) -> None:
        self._objects = objects
        self._environment = environment
        self._api_services = APIServices(objects, environment)
        self._namespace_contents = NamespaceContents(objects, environment, certificate, enabled)
        self.controllers = (self._api_services, self._namespace_contents)

    def create(self) -> None:
        """Create what is missing; the namespaces exist."""
        create_missing(self._objects, self._environment, INITIAL_OBJECTS)
        for controller in self.controllers:
            controller.recover()

    def publish(self, address: str, port: int) -> None:
        """Create or update the Service of the server, which listens at this address."""
        publish_own_service(self._objects, self._environment, address, port)
