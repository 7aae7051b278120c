"""A custom resource in clients, informers and controllers: the blocking and the asynchronous ones."""

import asyncio
from collections.abc import Iterator
from queue import SimpleQueue

import pytest

import listwatch as lw
from listwatch import blocking
from listwatch.models.apiextensions_v1 import CustomResourceDefinition
from listwatch.models.meta_v1 import Condition
from listwatch.testing.api_server_thread import APIServerThread

TIMEOUT = 30.0

DEFINITION = CustomResourceDefinition.from_yaml("""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: geese.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: geese, kind: Goose}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [pond]
            properties:
              pond: {type: string}
              eggs: {type: integer}
              weight: {x-kubernetes-int-or-string: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
""")


class GooseSpec(lw.Model):
    pond: str
    eggs: int = 0
    weight: lw.Quantity | None = None


class GooseStatus(lw.Model):
    hatched: int = 0
    conditions: list[Condition] = lw.field(default_factory=list)


class Goose(lw.CustomResource, group="example.com", version="v1", kind="Goose"):
    spec: GooseSpec
    status: GooseStatus = GooseStatus()


def goose(name: str, **spec: object) -> Goose:
    return Goose(metadata=lw.ObjectMeta(name=name, namespace="default"), spec=GooseSpec(pond="north", **spec))


@pytest.fixture
def client(api_server: APIServerThread) -> Iterator[blocking.ClientSet]:
    with blocking.ClientSet(api_server.config) as client:
        definitions = client.apiextensions_v1.customresourcedefinitions()
        definitions.create(DEFINITION)
        blocking.wait_for(definitions, "geese.example.com", "condition=Established", timeout=TIMEOUT)
        yield client
        definitions.delete("geese.example.com")
        blocking.wait_for(definitions, "geese.example.com", "deleted", timeout=TIMEOUT)


def test_a_blocking_client_finds_the_plural_and_the_scope_by_discovery(client: blocking.ClientSet):
    geese = client.resource(Goose, namespace="default")
    created = geese.create(goose("a", eggs=3, weight=lw.Quantity("4500m")))
    assert (created.spec.eggs, created.spec.weight, type(created)) == (3, lw.Quantity("4.5"), Goose)
    created.spec.eggs = 0
    assert geese.update(created).to_dict()["spec"] == {"pond": "north", "eggs": 0, "weight": "4500m"}
    created = geese.get("a")
    created.status.hatched = 2
    assert geese.update_status(created).status.hatched == 2
    assert [each.name for each in client.resource(Goose).list()] == ["a"]


def test_a_blocking_informer_caches_a_custom_resource(client: blocking.ClientSet):
    client.resource(Goose, namespace="default").create(goose("a", eggs=1))
    with blocking.SharedInformerFactory(client) as factory:
        handle = factory.informer(Goose, indexers={"pond": lambda each: [each.spec.pond]})
        factory.wait_for_sync(TIMEOUT)
        assert [each.spec.eggs for each in handle.informer.indexer.by_index("pond", "north")] == [1]


def test_a_blocking_controller_reconciles_a_custom_resource(client: blocking.ClientSet):
    geese = client.resource(Goose, namespace="default")
    done: SimpleQueue[int] = SimpleQueue()

    def reconcile(key: lw.ObjectKey, context: blocking.ReconcileContext[Goose]) -> None:
        found = context.get()
        if found is not None and found.status.hatched != found.spec.eggs:
            changed = found.copy()
            changed.status.hatched = found.spec.eggs
            done.put(geese.update_status(changed).status.hatched)

    with blocking.Controller(reconcile, for_=Goose, client=client):
        geese.create(goose("a", eggs=5))
        assert done.get(timeout=TIMEOUT) == 5


def test_an_asynchronous_informer_and_controller_take_the_class(
    client: blocking.ClientSet, api_server: APIServerThread
):
    async def main() -> None:
        hatched: asyncio.Queue[Goose] = asyncio.Queue()

        async def reconcile(key: lw.ObjectKey, context: lw.ReconcileContext[Goose]) -> None:
            if (found := context.get()) is not None:
                hatched.put_nowait(found)

        async with lw.ClientSet(api_server.config) as asynchronous:
            geese = asynchronous.resource(Goose, namespace="default")
            async with lw.SharedIndexInformer(geese, Goose) as informer:
                await informer.wait_for_sync(timeout=TIMEOUT)
                manager = lw.Manager(asynchronous)
                manager.add(lw.Controller(reconcile, for_=Goose))
                async with manager:
                    created = await geese.create(goose("b", eggs=2))
                    found = await asyncio.wait_for(hatched.get(), TIMEOUT)
                    assert (type(found), found.spec.eggs) == (Goose, 2)
                    await informer.wait_until(created.resource_version)
                    assert informer.lister.get("default/b").spec.pond == "north"

    asyncio.run(main())
