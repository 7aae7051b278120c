"""Outages of parts of a cluster."""

from typing import NamedTuple

from listwatch.testing import RealAPIServer


class Outage(NamedTuple):
    """A part of a cluster that is killed and started again."""

    of_api_server: bool
    of_etcd: bool

    def __str__(self) -> str:
        return " and ".join(["kube-apiserver"] * self.of_api_server + ["etcd"] * self.of_etcd)

    async def begin(self, cluster: RealAPIServer) -> None:
        if self.of_etcd:
            await cluster.kill_etcd()
        if self.of_api_server:
            await cluster.kill_api_server()

    async def end(self, cluster: RealAPIServer) -> None:
        if self.of_etcd:
            await cluster.start_etcd()
        if self.of_api_server:
            await cluster.start_api_server()


OUTAGES = Outage(True, False), Outage(False, True), Outage(True, True)
