"""The same for programs without an event loop: scripts, notebooks, threads.

    from listwatch import blocking

    with blocking.ClientSet(config) as client:
        for pod in client.core_v1.pods("default").list():
            print(pod.name)

Every name is that of its asynchronous twin and takes the same arguments. Behind all of them is one event loop in a
daemon thread; `face.py` says how. Type checkers read `__init__.pyi`, which `make blocking` writes.
"""

from .clients import (
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
    wait_for,
)
from .informers import HandlerRegistration, InformerHandle, SharedIndexInformer, SharedInformerFactory
from .streams import ByteStream, LogStream, WatchStream

__all__ = [
    "ByteStream",
    "ClientSet",
    "DiscoveryClient",
    "DynamicClient",
    "HandlerRegistration",
    "InformerHandle",
    "LogStream",
    "MetadataClient",
    "MetadataResource",
    "RESTClient",
    "RESTMapper",
    "Request",
    "ResourceClient",
    "SharedIndexInformer",
    "SharedInformerFactory",
    "SubresourceClient",
    "WatchStream",
    "apply_files",
    "wait_for",
]
