# pyright: strict
"""Mistakes in the use of models."""

from listwatch.models.core_v1 import Pod, PodSpec


def mistakes() -> None:
    Pod(spek=PodSpec())
    Pod().spec.containers[0].image = 3
    _ = Pod().spec.containers[0].picture
