"""The blocking API, for programs without an event loop: scripts, notebooks, threads.

    from listwatch import blocking

    with blocking.ClientSet(config) as client:
        for pod in client.core_v1.pods("default").list():
            print(pod.name)

Each name is that of an asynchronous class or function and takes the same arguments. All of them share one event loop in
a daemon thread. The modules are generated from the asynchronous classes by `make blocking`, except for `runtime`.
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "BaseClient": "listwatch.blocking.client",
    "BaseResourceClient": "listwatch.blocking.client",
    "ByteStream": "listwatch.blocking.client",
    "ClientSet": "listwatch.blocking.client",
    "Cluster": "listwatch.blocking.controller",
    "ContainerClient": "listwatch.blocking.client",
    "Controller": "listwatch.blocking.controller",
    "DiscoveryCache": "listwatch.blocking.client",
    "DiscoveryClient": "listwatch.blocking.client",
    "DynamicClient": "listwatch.blocking.client",
    "EtcdClient": "listwatch.blocking.etcd",
    "EtcdLease": "listwatch.blocking.etcd",
    "EtcdListWatch": "listwatch.blocking.etcd",
    "EtcdStore": "listwatch.blocking.etcd",
    "EventRecorder": "listwatch.blocking.events",
    "HandlerRegistration": "listwatch.blocking.informer",
    "Informer": "listwatch.blocking.informer",
    "InformerHandle": "listwatch.blocking.informer",
    "LeaderElector": "listwatch.blocking.leaderelection",
    "ListWatch": "listwatch.blocking.informer",
    "LogStream": "listwatch.blocking.client",
    "Manager": "listwatch.blocking.controller",
    "MetadataClient": "listwatch.blocking.client",
    "MetadataResource": "listwatch.blocking.client",
    "PodLogs": "listwatch.blocking.client",
    "PortForward": "listwatch.blocking.client",
    "PortStream": "listwatch.blocking.client",
    "RESTClient": "listwatch.blocking.client",
    "RESTMapper": "listwatch.blocking.client",
    "ReconcileContext": "listwatch.blocking.controller",
    "Reconciler": "listwatch.blocking.controller",
    "RemoteProcess": "listwatch.blocking.client",
    "Request": "listwatch.blocking.client",
    "ResourceClient": "listwatch.blocking.client",
    "RetryWatcher": "listwatch.blocking.client",
    "Settings": "listwatch.blocking.settings",
    "SharedIndexInformer": "listwatch.blocking.informer",
    "SharedInformerFactory": "listwatch.blocking.informer",
    "SubresourceClient": "listwatch.blocking.client",
    "WatchStream": "listwatch.blocking.client",
    "WorkQueue": "listwatch.blocking.workqueue",
    "add_debug_container": "listwatch.blocking.client",
    "add_finalizer": "listwatch.blocking.controller",
    "apply": "listwatch.blocking.client",
    "apply_files": "listwatch.blocking.client",
    "apply_objects": "listwatch.blocking.client",
    "apply_set": "listwatch.blocking.client",
    "copy_from_pod": "listwatch.blocking.client",
    "copy_to_pod": "listwatch.blocking.client",
    "diff": "listwatch.blocking.client",
    "finalize": "listwatch.blocking.controller",
    "remove_finalizer": "listwatch.blocking.controller",
    "retry_on_conflict": "listwatch.blocking.client",
    "retry_on_error": "listwatch.blocking.client",
    "until": "listwatch.blocking.client",
    "until_with_sync": "listwatch.blocking.informer",
    "wait_for": "listwatch.blocking.client",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.blocking.client import BaseClient as BaseClient
    from listwatch.blocking.client import BaseResourceClient as BaseResourceClient
    from listwatch.blocking.client import ByteStream as ByteStream
    from listwatch.blocking.client import ClientSet as ClientSet
    from listwatch.blocking.client import ContainerClient as ContainerClient
    from listwatch.blocking.client import DiscoveryCache as DiscoveryCache
    from listwatch.blocking.client import DiscoveryClient as DiscoveryClient
    from listwatch.blocking.client import DynamicClient as DynamicClient
    from listwatch.blocking.client import LogStream as LogStream
    from listwatch.blocking.client import MetadataClient as MetadataClient
    from listwatch.blocking.client import MetadataResource as MetadataResource
    from listwatch.blocking.client import PodLogs as PodLogs
    from listwatch.blocking.client import PortForward as PortForward
    from listwatch.blocking.client import PortStream as PortStream
    from listwatch.blocking.client import RemoteProcess as RemoteProcess
    from listwatch.blocking.client import Request as Request
    from listwatch.blocking.client import ResourceClient as ResourceClient
    from listwatch.blocking.client import RESTClient as RESTClient
    from listwatch.blocking.client import RESTMapper as RESTMapper
    from listwatch.blocking.client import RetryWatcher as RetryWatcher
    from listwatch.blocking.client import SubresourceClient as SubresourceClient
    from listwatch.blocking.client import WatchStream as WatchStream
    from listwatch.blocking.client import add_debug_container as add_debug_container
    from listwatch.blocking.client import apply as apply
    from listwatch.blocking.client import apply_files as apply_files
    from listwatch.blocking.client import apply_objects as apply_objects
    from listwatch.blocking.client import apply_set as apply_set
    from listwatch.blocking.client import copy_from_pod as copy_from_pod
    from listwatch.blocking.client import copy_to_pod as copy_to_pod
    from listwatch.blocking.client import diff as diff
    from listwatch.blocking.client import retry_on_conflict as retry_on_conflict
    from listwatch.blocking.client import retry_on_error as retry_on_error
    from listwatch.blocking.client import until as until
    from listwatch.blocking.client import wait_for as wait_for
    from listwatch.blocking.controller import Cluster as Cluster
    from listwatch.blocking.controller import Controller as Controller
    from listwatch.blocking.controller import Manager as Manager
    from listwatch.blocking.controller import ReconcileContext as ReconcileContext
    from listwatch.blocking.controller import Reconciler as Reconciler
    from listwatch.blocking.controller import add_finalizer as add_finalizer
    from listwatch.blocking.controller import finalize as finalize
    from listwatch.blocking.controller import remove_finalizer as remove_finalizer
    from listwatch.blocking.etcd import EtcdClient as EtcdClient
    from listwatch.blocking.etcd import EtcdLease as EtcdLease
    from listwatch.blocking.etcd import EtcdListWatch as EtcdListWatch
    from listwatch.blocking.etcd import EtcdStore as EtcdStore
    from listwatch.blocking.events import EventRecorder as EventRecorder
    from listwatch.blocking.informer import HandlerRegistration as HandlerRegistration
    from listwatch.blocking.informer import Informer as Informer
    from listwatch.blocking.informer import InformerHandle as InformerHandle
    from listwatch.blocking.informer import ListWatch as ListWatch
    from listwatch.blocking.informer import SharedIndexInformer as SharedIndexInformer
    from listwatch.blocking.informer import SharedInformerFactory as SharedInformerFactory
    from listwatch.blocking.informer import until_with_sync as until_with_sync
    from listwatch.blocking.leaderelection import LeaderElector as LeaderElector
    from listwatch.blocking.settings import Settings as Settings
    from listwatch.blocking.workqueue import WorkQueue as WorkQueue
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
