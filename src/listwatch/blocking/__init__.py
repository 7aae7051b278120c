"""The same for programs without an event loop: scripts, notebooks, threads.

    from listwatch import blocking

    with blocking.ClientSet(config) as client:
        for pod in client.core_v1.pods("default").list():
            print(pod.name)

Every name is that of its asynchronous twin and takes the same arguments. Behind all of them is one event loop in a
daemon thread; `face.py` says how. Type checkers read `__init__.pyi`, which `make blocking` writes.
"""

from listwatch.blocking.clients import (
    ClientSet,
    DiscoveryClient,
    DynamicClient,
    MetadataClient,
    MetadataResource,
    Request,
    ResourceClient,
    RESTClient,
    RESTMapper,
    SubresourceClient,
    apply_files,
)
from listwatch.blocking.controllers import Controller, Manager
from listwatch.blocking.electors import LeaderElector
from listwatch.blocking.finalizers import add_finalizer, finalize, remove_finalizer
from listwatch.blocking.informers import HandlerRegistration, InformerHandle, SharedIndexInformer, SharedInformerFactory
from listwatch.blocking.queues import WorkQueue
from listwatch.blocking.recorders import EventRecorder
from listwatch.blocking.sources import ListWatch
from listwatch.blocking.streams import ByteStream, LogStream, WatchStream
from listwatch.blocking.waiting import RetryWatcher, retry_on_conflict, until, until_with_sync, wait_for

__all__ = [
    "ByteStream",
    "ClientSet",
    "Controller",
    "DiscoveryClient",
    "DynamicClient",
    "EventRecorder",
    "HandlerRegistration",
    "InformerHandle",
    "LeaderElector",
    "ListWatch",
    "LogStream",
    "Manager",
    "MetadataClient",
    "MetadataResource",
    "RESTClient",
    "RESTMapper",
    "Request",
    "ResourceClient",
    "RetryWatcher",
    "SharedIndexInformer",
    "SharedInformerFactory",
    "SubresourceClient",
    "WatchStream",
    "WorkQueue",
    "add_finalizer",
    "apply_files",
    "finalize",
    "remove_finalizer",
    "retry_on_conflict",
    "until",
    "until_with_sync",
    "wait_for",
]
