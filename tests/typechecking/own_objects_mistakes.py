# pyright: strict
"""Mistakes with informers of a user's own classes: every statement of the functions is an error."""

import listwatch as lw
from listwatch.cache import Keyed


def on_text(text: str) -> None: ...


def wrong_handlers(informer: lw.SharedIndexInformer[Keyed], source: lw.ListWatch[Keyed]) -> None:
    informer.add_handler(on_add=lambda item: item.adress)
    informer.add_handler(on_add=on_text)
    print(informer.lister.get("web/1").adress)
    lw.SharedIndexInformer(source, int)
    lw.SharedIndexInformer(source, Keyed, indexers={"region": lambda item: [item.region]})
