# pyright: strict
"""Each statement in here is a mistake that type checkers see."""

from collections.abc import Awaitable, Callable

import listwatch as lw
from listwatch.controller import set_condition
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import Pod


async def of_key(key: lw.ObjectKey) -> None: ...
async def of_text(key: str) -> None: ...
async def of_nothing() -> None: ...
async def of_three(key: lw.ObjectKey, context: lw.ReconcileContext[Pod], more: int) -> None: ...
async def of_pods(key: lw.ObjectKey, context: lw.ReconcileContext[Pod]) -> None: ...


def controllers(client: lw.ClientSet, controller: lw.Controller[Deployment]) -> None:
    lw.Controller(of_key, for_=3)
    lw.Controller(of_key, for_=int)
    lw.Controller(of_key, for_=Deployment, owns=[3])
    lw.Controller(of_key, for_=Deployment, watches=[Pod])
    lw.Controller(of_text, for_=Deployment)
    lw.Controller(of_nothing, for_=Deployment)
    lw.Controller(of_three, for_=Pod)
    lw.Controller(of_pods, for_=Deployment)
    print(controller.get("default/web").spec)
    controller.lister(3)
    lw.Manager(client, leader_election=lw.LeaderElector(client, name="op"))
    lw.Manager({"eu": client.rest})
    lw.Manager([client])
    lw.Watch(Pod, clusters=3)
    lw.Watch(Pod, cluster_keys=lambda pod, cluster: pod.specs)


def results(text: Callable[[lw.ObjectKey], Awaitable[str]], tree: Callable[[lw.ObjectKey], bytes]) -> None:
    lw.Controller(text, for_=Deployment)
    lw.Controller(tree, for_=Deployment)


def contexts(context: lw.ReconcileContext[Deployment], pod: Pod) -> None:
    print(context.get().spec)
    print(context.client.core_v1.podz)
    context.record_event(pod, "Sometimes", "Scaled", "no such type of event")


def watches(pod: Pod) -> None:
    lw.Watch(Pod, keys=lambda pod: [pod.nmae])
    lw.Watch(Pod, when=lambda pod: True)
    set_condition(3, "Ready", True, reason="AllSet")
