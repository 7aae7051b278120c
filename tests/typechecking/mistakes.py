# pyright: strict
"""Each statement in here is a mistake that type checkers see."""

import listwatch as lw
from listwatch import blocking


async def asynchronous(client: lw.ClientSet) -> None:
    client.core_v1.podz("default")  # no such resource
    client.core_v2.pods("default")  # no such group-version
    client.core_v1.nodes("default")  # live in no namespace
    await client.core_v1.pods("default").get(7)
    await client.core_v1.pods("default").delete("a", propagation_policy="Sideways")
    await client.core_v1.pods("default").list(label_selectr="a=b")
    print((await client.core_v1.pods("default").get("a")).spec.node)
    print(lw.SharedInformerFactory(client).core_v1.podz)


def synchronous(client: blocking.ClientSet) -> None:
    client.core_v1.podz("default")
    client.core_v1.nodes("default")
    client.core_v1.pods("default").get(7)
    client.core_v1.pods("default").list(label_selectr="a=b")
    print(client.core_v1.pods("default").get("a").spec.node)
