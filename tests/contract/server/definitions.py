"""CustomResourceDefinitions for tests. Each test has its own group, so that tests do not affect each other."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.contract.server.api import API, Tree

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

_TRIES = 20_000
"""How often a request is repeated while a server applies a change asynchronously."""


def spec_of(**properties: Tree) -> Tree:
    """A schema of objects whose spec has these properties."""
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}


def version(name: str = "v1", schema: Tree = ANYTHING, *, storage: bool = True, **more: Tree) -> Tree:
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}, **more}


def definition(group: str, *versions: Tree, scope: str = "Namespaced", **names: Tree) -> Tree:
    """A definition of widgets, unless other names are given."""
    names = {"plural": "widgets", "kind": "Widget", **names}
    spec = {"group": group, "scope": scope, "names": names, "versions": list(versions) or [version()]}
    return {"metadata": {"name": f"{names['plural']}.{group}"}, "spec": spec}


def wait_until(holds: Callable[[], object]) -> None:
    assert any(holds() for _ in range(_TRIES)), "the server did not apply the change"


@dataclass
class Widgets:
    """A custom resource of one group, as one server serves it."""

    api: API
    group: str

    @property
    def definition(self) -> str:
        return f"{DEFINITIONS}/widgets.{self.group}"

    def path(self, name: str = "", *rest: str, version: str = "v1") -> str:
        return self.api.path("widgets", name, *rest, version=f"{self.group}/{version}")

    def define(self, *versions: Tree, **names: Tree) -> Tree:
        """Create the definition, and return it when the server serves it and reports that."""
        defined = definition(self.group, *versions, **names)
        self.api.post(DEFINITIONS, defined).ok(201)
        self.wait_until_served(*(each["name"] for each in defined["spec"]["versions"] if each["served"]))
        # A real server serves objects once it has accepted the names, and marks the definition as established later.
        wait_until(self.established)
        return self.api.get(self.definition).ok()

    def redefine(self, change: Callable[[Tree], object], *served: str) -> Tree:
        """Change the definition, and return the response when these versions are served."""
        found = self.api.get(self.definition).ok()
        change(found["spec"])
        response = self.api.put(self.definition, found).ok()
        self.wait_until_served(*served)
        return response

    def wait_until_served(self, *versions: str) -> None:
        for each in versions:
            wait_until(lambda each=each: self.api.get(self.path(version=each)).status == 200)
        wait_until(lambda: self.discovered() >= set(versions))

    def established(self) -> bool:
        conditions = self.api.get(self.definition).ok()["status"]["conditions"] or []
        return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)

    def discovered(self) -> set[str]:
        response = self.api.get(f"/apis/{self.group}")
        return {each["version"] for each in response.json["versions"]} if response.status == 200 else set()

    def body(self, name: str, *, version: str = "v1", **fields: Tree) -> Tree:
        metadata = {"name": name, **fields.pop("metadata", {})}
        return {"apiVersion": f"{self.group}/{version}", "kind": "Widget", "metadata": metadata, **fields}

    def create(self, name: str, *, version: str = "v1", **fields: Tree) -> Tree:
        return self.api.post(self.path(version=version), self.body(name, version=version, **fields)).ok(201)

    def remove(self) -> None:
        self.api.delete(self.definition)
        wait_until(lambda: self.api.get(self.definition).status == 404)
