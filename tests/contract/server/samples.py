"""Specs that a real server accepts, and other objects for tests."""

from tests.contract.server.api import API, Tree

POD = {"containers": [{"name": "web", "image": "web:1"}]}
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": POD}
DEPLOYMENT = {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE}


def create_event(api: API, name: str, **fields: Tree) -> Tree:
    """Create an event of any object."""
    about = {"kind": "Namespace", "namespace": api.namespace, "name": api.namespace}
    return api.create("events", name, involvedObject=about, **fields)


def owner(tree: Tree, **more: Tree) -> Tree:
    """A reference to an object as the owner of another."""
    metadata = tree["metadata"]
    identity = {name: metadata[name] for name in ("name", "uid")}
    return {"apiVersion": tree["apiVersion"], "kind": tree["kind"], **identity, **more}
