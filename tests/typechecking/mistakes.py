# pyright: strict
"""Each statement is a type error that checkers must report."""

import listwatch as lw
from listwatch import blocking
from listwatch.models.core_v1 import ConfigMap, Pod


async def asynchronous(client: lw.ClientSet) -> None:
    client.core_v1.podz("default")  # no such resource
    client.core_v2.pods("default")  # no such group-version
    client.core_v1.nodes("default")  # cluster-scoped
    await client.core_v1.pods("default").get(7)
    await client.core_v1.pods("default").delete("a", propagation_policy="Sideways")
    await client.core_v1.pods("default").list(label_selectr="a=b")
    await client.core_v1.pods("default").patch("a", {}, type="smart")
    await client.core_v1.pods("default").patch("a", 7)
    await client.core_v1.pods("default").create(ConfigMap())
    await client.core_v1.pods("default").apply(Pod())  # no field_manager
    await client.core_v1.pods("default").logs("a", tail=5)
    await client.core_v1.pods("default").logs("a", since_time="yesterday")
    await client.core_v1.pods("default").subresource("status", Pod).get("a", names=["x"])
    await client.apps_v1.deployments("default").update_scale("a", Pod())
    client.core_v1.pods("default").watch(allow_bookmarks=True)
    client.dynamic.resource(7)
    print((await client.dynamic.resource("pods").get("a")).spec)
    print((await client.core_v1.pods("default").get("a")).spec.node)
    print(lw.SharedInformerFactory(client).core_v1.podz)


def synchronous(client: blocking.ClientSet) -> None:
    client.core_v1.podz("default")
    client.core_v1.nodes("default")
    client.core_v1.pods("default").get(7)
    client.core_v1.pods("default").list(label_selectr="a=b")
    print(client.core_v1.pods("default").get("a").spec.node)
    client.source(Pod)  # for informers only
    print(blocking.SharedInformerFactory(client).core_v1.podz)
    blocking.SharedIndexInformer(client.core_v1.pods(), ConfigMap)
    blocking.Controller(print, for_=3)
    blocking.WorkQueue[str]().add(3)
    blocking.Manager(client).add(client)
    blocking.SharedInformerFactory(lw.ClientSet(client.rest.config))  # asynchronous
