"""Many objects, failing reconciles, and a server that rejects requests and cuts watches: all objects converge."""

from collections import Counter
from dataclasses import replace
from random import Random

from tests.controller.worlds import Failures, HastyClock, config_map, world

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.controller.controller import Controller
from listwatch.controller.manager import Manager
from listwatch.controller.object_fields.owners import set_controller
from listwatch.controller.watching.watches import Watch
from listwatch.errors import AlreadyExistsError, TooManyRequestsError
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap, Secret
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer, CutStream, Fail, Fault
from listwatch.workqueue.rate_limiters import ExponentialLimiter

OBJECTS = 120


class Copying:
    """Keeps a Secret with the data of every ConfigMap; fails at random."""

    def __init__(self, client: ClientSet, random: Random) -> None:
        self._client = client
        self._random = random
        self.running: Counter[ObjectKey] = Counter()
        self.ran_twice_at_once = False
        self.controller: Controller[ConfigMap]

    async def __call__(self, key: ObjectKey) -> None:
        self.running[key] += 1
        self.ran_twice_at_once |= self.running[key] > 1
        try:
            await self._copy(key)
        finally:
            self.running[key] -= 1

    async def _copy(self, key: ObjectKey) -> None:
        wanted = self.controller.get(key)
        if wanted is None:
            return  # its Secret is deleted with it
        self._stumble()
        present = self.controller.informer(Secret).indexer.get(key)
        secrets = self._client.core_v1.secrets(key.namespace)
        if present is None:
            copy = Secret(metadata=ObjectMeta(name=key.name, namespace=key.namespace), string_data=dict(wanted.data))
            set_controller(copy, wanted)
            try:
                await secrets.create(copy)
            except AlreadyExistsError as error:
                raise OSError("the Secret of the deleted object still exists") from error
        elif {name: bytes(value).decode() for name, value in present.data.items()} != wanted.data:
            await secrets.patch(key.name, {"data": None, "stringData": wanted.data}, type="merge")
        self._stumble()

    def _stumble(self) -> None:
        if self._random.random() < 0.025:
            raise OSError("stumbled")


async def is_copied(client: ClientSet) -> bool:
    maps = {each.name: each.data for each in await client.core_v1.configmaps("default").list()}
    secrets = {
        each.name: {name: bytes(value).decode() for name, value in each.data.items()}
        for each in await client.core_v1.secrets("default").list()
    }
    return maps == secrets


async def change_things(client: ClientSet, random: Random) -> None:
    maps = client.core_v1.configmaps("default")
    for turn in range(OBJECTS):
        name = f"m-{random.randrange(OBJECTS):04}"
        if turn % 10 == 0:
            await maps.delete(name)
            await maps.create(config_map(name, turn=str(turn)))
        else:
            await maps.patch(name, {"data": {"turn": str(turn)}})


def troubled(server: APIServer) -> ClientConfig:
    return replace(server.config, user_agent="controller")


def disturb(server: APIServer) -> None:
    # Without Retry-After, the client does not retry, and the controller has to.
    server.faults.add(Fault(Fail(TooManyRequestsError("slow down")), probability=0.05, user_agent="controller*"))
    server.faults.add(Fault(CutStream(after_events=40), verb="watch", times=10))


async def test_all_objects_converge_and_no_key_is_reconciled_concurrently():
    random = Random(11)
    async with world(seed=7) as (server, client), ClientSet(troubled(server)) as troubled_client:
        for number in range(OBJECTS):
            await client.core_v1.configmaps("default").create(config_map(f"m-{number:04}", turn="-"))
        disturb(server)
        copying, failures = Copying(troubled_client, random), Failures()
        clock = HastyClock()
        manager = Manager(troubled_client, clock=clock)
        copying.controller = manager.add(
            Controller(
                copying,
                for_=Watch(ConfigMap, namespace="default"),
                owns=[Secret],
                concurrency=8,
                limiter=ExponentialLimiter(initial=0.001, cap=0.05),
                on_failure=failures,
                clock=clock,
            )
        )
        async with manager:
            await change_things(client, random)
            while not await is_copied(client):
                pass
        now = copying.controller.statistics()
        assert not copying.ran_twice_at_once
        assert now.failed > 5
        assert now.stale == 0
        assert len(failures.seen) == now.failed
        assert {type(each.error) for each in failures.seen} >= {OSError, TooManyRequestsError}
        assert now.running == 0
