"""The state of one cluster of a manager, also as samples for metrics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from listwatch.client.rest.client_statistics import ClientStatistics
from listwatch.informer.informer_statistics import InformerStatistics
from listwatch.metrics.samples import Sample, samples_of
from listwatch.workqueue.queue_state import WorkQueueStatistics

__all__ = ["ClusterStatistics"]


@dataclass(frozen=True, slots=True)
class ClusterStatistics:
    """One cluster of a manager, its informers and its client."""

    name: str
    is_synced: bool
    """Whether the caches of all controllers have synced, so that its objects are reconciled."""
    informers: tuple[InformerStatistics, ...]
    client: ClientStatistics
    server: str
    """The URL of the API server."""
    queues: tuple[WorkQueueStatistics, ...] = ()
    """The queue of each controller for the keys of this cluster."""

    def samples(self) -> Iterator[Sample]:
        """The same as samples for metrics: those of informers and clients, with the label `cluster`."""
        cluster = ("cluster", self.name)
        help_text = "1 once the caches of all controllers have synced with the cluster."
        yield Sample("listwatch_cluster_synced", help_text, (cluster,), int(self.is_synced))
        for queue in self.queues:
            labels = (cluster, ("controller", queue.name))
            yield Sample("listwatch_cluster_queue_depth", "Keys of the cluster in the queue.", labels, queue.depth)
            help_text = "Sum of the times so far of the running reconciles of the cluster."
            yield Sample("listwatch_cluster_unfinished_work_seconds", help_text, labels, queue.unfinished)
        for sample in (*samples_of(self.informers), *samples_of(self.client, host=self.server)):
            plain = tuple((name, self._without_prefix(name, value)) for name, value in sample.labels)
            yield sample._replace(labels=(cluster, *plain))

    def _without_prefix(self, label: str, value: str) -> str:
        return value.removeprefix(f"{self.name}/") if label == "name" else value
