"""client-go for Python: the names most programs need, each imported when it is first used.

`import listwatch as lw` loads no HTTP library and no model; what a program touches brings what it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# Where each public name lives, relative to this package; a module's own name stands for the module.
_HOMES = {
    "ClientConfig": "client.config",
    "ClientSet": "client.client_set",
    "Controller": "controller.controller",
    "DeltaFIFO": "cache.delta_fifo",
    "DiscoveryClient": "client.discovery_client",
    "DynamicClient": "client.dynamic_client",
    "Every": "controller.triggers",
    "EventRecorder": "events.recorder",
    "ExecConfig": "client.config",
    "FieldSelector": "selectors",
    "GroupVersionKind": "meta",
    "GroupVersionResource": "meta",
    "Impersonation": "client.config",
    "Indexer": "cache.indexer",
    "Informer": "informer.informer",
    "LabelSelector": "selectors",
    "LeaderElector": "leaderelection.elector",
    "LeaderLock": "leaderelection.candidate",
    "LeaseLock": "leaderelection.lease_lock",
    "ListWatch": "informer.list_watch",
    "Lister": "cache.lister",
    "ListerWatcher": "informer.list_watch",
    "Manager": "controller.manager",
    "MetadataClient": "client.metadata_client",
    "OIDCConfig": "client.config",
    "Object": "objects.object",
    "ObjectKey": "meta",
    "PatchType": "api.patches",
    "Quantity": "quantity",
    "RESTClient": "client.rest_client",
    "RESTMapper": "client.rest_mapper",
    "Reflector": "informer.reflector",
    "ResourceClient": "client.resource_client",
    "RetryWatcher": "client.retry_watcher",
    "ServerWarning": "client.config",
    "SharedIndexInformer": "informer.shared_informer",
    "SharedInformerFactory": "informer.factory",
    "Unstructured": "objects.unstructured",
    "Watch": "controller.triggers",
    "WorkQueue": "workqueue.queue",
    "apply_files": "client.apply_files",
    "errors": "errors",
    "load_config": "client.kubeconfig",
    "load_incluster_config": "client.in_cluster",
    "load_kube_config": "client.kubeconfig",
    "metrics": "metrics",
    "retry_on_conflict": "client.retry_on_conflict",
    "until": "client.until",
    "until_with_sync": "informer.until_with_sync",
    "wait_for": "client.waiting",
}

__all__ = ["__version__", *_HOMES]

# Type checkers read the imports, which say the same as _HOMES; programs get the two functions.
if TYPE_CHECKING:
    from listwatch import errors as errors
    from listwatch import metrics as metrics
    from listwatch.api.patches import PatchType as PatchType
    from listwatch.cache.delta_fifo import DeltaFIFO as DeltaFIFO
    from listwatch.cache.indexer import Indexer as Indexer
    from listwatch.cache.lister import Lister as Lister
    from listwatch.client.apply_files import apply_files as apply_files
    from listwatch.client.client_set import ClientSet as ClientSet
    from listwatch.client.config import ClientConfig as ClientConfig
    from listwatch.client.config import ExecConfig as ExecConfig
    from listwatch.client.config import Impersonation as Impersonation
    from listwatch.client.config import OIDCConfig as OIDCConfig
    from listwatch.client.config import ServerWarning as ServerWarning
    from listwatch.client.discovery_client import DiscoveryClient as DiscoveryClient
    from listwatch.client.dynamic_client import DynamicClient as DynamicClient
    from listwatch.client.in_cluster import load_incluster_config as load_incluster_config
    from listwatch.client.kubeconfig import load_config as load_config
    from listwatch.client.kubeconfig import load_kube_config as load_kube_config
    from listwatch.client.metadata_client import MetadataClient as MetadataClient
    from listwatch.client.resource_client import ResourceClient as ResourceClient
    from listwatch.client.rest_client import RESTClient as RESTClient
    from listwatch.client.rest_mapper import RESTMapper as RESTMapper
    from listwatch.client.retry_on_conflict import retry_on_conflict as retry_on_conflict
    from listwatch.client.retry_watcher import RetryWatcher as RetryWatcher
    from listwatch.client.until import until as until
    from listwatch.client.waiting import wait_for as wait_for
    from listwatch.controller.controller import Controller as Controller
    from listwatch.controller.manager import Manager as Manager
    from listwatch.controller.triggers import Every as Every
    from listwatch.controller.triggers import Watch as Watch
    from listwatch.events.recorder import EventRecorder as EventRecorder
    from listwatch.informer.factory import SharedInformerFactory as SharedInformerFactory
    from listwatch.informer.informer import Informer as Informer
    from listwatch.informer.list_watch import ListerWatcher as ListerWatcher
    from listwatch.informer.list_watch import ListWatch as ListWatch
    from listwatch.informer.reflector import Reflector as Reflector
    from listwatch.informer.shared_informer import SharedIndexInformer as SharedIndexInformer
    from listwatch.informer.until_with_sync import until_with_sync as until_with_sync
    from listwatch.leaderelection.candidate import LeaderLock as LeaderLock
    from listwatch.leaderelection.elector import LeaderElector as LeaderElector
    from listwatch.leaderelection.lease_lock import LeaseLock as LeaseLock
    from listwatch.meta import GroupVersionKind as GroupVersionKind
    from listwatch.meta import GroupVersionResource as GroupVersionResource
    from listwatch.meta import ObjectKey as ObjectKey
    from listwatch.objects.object import Object as Object
    from listwatch.objects.unstructured import Unstructured as Unstructured
    from listwatch.quantity import Quantity as Quantity
    from listwatch.selectors import FieldSelector as FieldSelector
    from listwatch.selectors import LabelSelector as LabelSelector
    from listwatch.workqueue.queue import WorkQueue as WorkQueue
else:

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = import_module(f"{__name__}.{_HOMES[name]}")
        value = home if name == _HOMES[name] else getattr(home, name)
        globals()[name] = value  # found without this function from now on
        return value

    def __dir__():
        return __all__
