# pyright: strict
"""Mistakes with informers: every statement of the functions is an error for mypy and pyright in strict mode."""

import listwatch as lw
from listwatch.informer import HandlerFunctions
from listwatch.models.core_v1 import ConfigMap, Pod, Secret


def on_secret(secret: Secret) -> None: ...
async def on_two_secrets(old: Secret, new: Secret) -> None: ...
def on_two_pods(old: Pod, new: Pod) -> None: ...


SECRETS = HandlerFunctions(on_add=on_secret)


def wrong_handlers(informer: lw.SharedIndexInformer[Pod]) -> None:
    informer.add_handler(on_add=on_secret)
    informer.add_handler(on_update=on_two_secrets)
    informer.add_handler(on_add=on_two_pods)
    informer.add_handler(on_update=lambda pod: None)
    informer.add_handler(on_add=lambda pod: pod.nmae)
    informer.add_handler(on_update=lambda old, new: new.spec.node_nmae)
    informer.add_handler(SECRETS)
    informer.add_handler("on_add")
    informer.add_handler(on_add=print, filter=lambda pod: pod.nmae == "web")
    informer.add_handler(on_add=print, overflow="drop")
    informer.on_delete(on_secret)


def wrong_stores(client: lw.ClientSet) -> None:
    lw.SharedIndexInformer(client.core_v1.secrets(), Pod)
    lw.SharedIndexInformer(client.core_v1.pods(), Pod, indexers={"node": lambda pod: [pod.spec.node_nmae]})
    lw.SharedIndexInformer(client.core_v1.pods(), Pod, resync="60")
    lw.Informer(client.core_v1.pods(), Pod, SECRETS)


def wrong_factories(factory: lw.SharedInformerFactory) -> None:
    print(factory.corev1)
    print(factory.core_v1.pod)
    factory.informer(3)
    factory.core_v1.configmaps.informer.add_handler(on_add=on_secret)
    factory.informer(ConfigMap).informer.add_handler(on_delete=on_secret)


def wrong_options(client: lw.ClientSet) -> None:
    lw.ListOptions(labels="app=web")
    lw.ListWatch.from_client(client.rest, "pods", modify_options=lambda options: None)
