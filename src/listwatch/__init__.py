"""client-go for Python: the names that most programs need, each imported on first use.

`import listwatch as lw` loads no HTTP library and no model. Each package exports its public names in the same way;
the modules below a package are private.
"""

from os import environ as _environ
from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports
from listwatch._version import __version__

_HOMES = {
    "AdmissionRequest": "listwatch.webhooks.admission_request",
    "ClientConfig": "listwatch.client.config.client_config",
    "ClientSet": "listwatch.client.resources.client_set",
    "ClusterKey": "listwatch.meta",
    "Column": "listwatch.objects.declarations.definition_options",
    "Controller": "listwatch.controller.controller",
    "CustomResource": "listwatch.objects.declarations.custom_resource",
    "DeltaFIFO": "listwatch.cache.delta_fifo",
    "DiscoveryClient": "listwatch.client.discovery.discovery_client",
    "DynamicClient": "listwatch.client.resources.dynamic_client",
    "EventRecorder": "listwatch.events.recorder",
    "Every": "listwatch.controller.watching.watches",
    "ExecConfig": "listwatch.client.config.client_config",
    "FieldSelector": "listwatch.selectors",
    "GroupVersionKind": "listwatch.meta",
    "GroupVersionResource": "listwatch.meta",
    "Impersonation": "listwatch.client.config.client_config",
    "Indexer": "listwatch.cache.indexer",
    "Informer": "listwatch.informer.informer",
    "LabelSelector": "listwatch.selectors",
    "LeaderElector": "listwatch.leaderelection.elector",
    "LeaderLock": "listwatch.leaderelection.candidate",
    "LeaseLock": "listwatch.leaderelection.lease_lock",
    "ListOptions": "listwatch.api.options",
    "ListWatch": "listwatch.sources.list_watch",
    "Lister": "listwatch.cache.lister",
    "ListerWatcher": "listwatch.informer.reflector.lister_watcher",
    "Manager": "listwatch.controller.manager",
    "MetadataClient": "listwatch.client.resources.metadata_client",
    "Model": "listwatch.objects.declarations.model",
    "OIDCConfig": "listwatch.client.config.client_config",
    "Object": "listwatch.objects.object",
    "ObjectKey": "listwatch.meta",
    "ObjectMeta": "listwatch.objects.metadata",
    "PatchType": "listwatch.api.patches",
    "Quantity": "listwatch.quantity",
    "RESTClient": "listwatch.client.rest.rest_client",
    "RESTMapper": "listwatch.client.discovery.rest_mapper",
    "ReconcileContext": "listwatch.controller.reconcile.context",
    "Recorder": "listwatch.recording.recorder",
    "Reflector": "listwatch.informer.reflector.reflector",
    "ResourceClient": "listwatch.client.resources.resource_client",
    "RetryWatcher": "listwatch.client.wait.retry_watcher",
    "ScalePaths": "listwatch.objects.declarations.definition_options",
    "ServerWarning": "listwatch.client.config.client_config",
    "Settings": "listwatch.settings.settings",
    "SharedIndexInformer": "listwatch.informer.shared_informer",
    "SharedInformerFactory": "listwatch.factory.factory",
    "Unstructured": "listwatch.objects.unstructured",
    "Watch": "listwatch.controller.watching.watches",
    "Webhooks": "listwatch.webhooks.webhooks",
    "WorkQueue": "listwatch.workqueue.queue",
    "apply": "listwatch.client.server_side_apply.apply_object",
    "apply_files": "listwatch.client.manifests",
    "crd": "listwatch.objects.declarations.definition_options",
    "diff": "listwatch.client.server_side_apply.apply_object",
    "errors": "listwatch.errors",
    "field": "listwatch.objects.declarations.model",
    "load_config": "listwatch.client.config.kubeconfig",
    "load_incluster_config": "listwatch.client.config.in_cluster",
    "load_kube_config": "listwatch.client.config.kubeconfig",
    "metrics": "listwatch.metrics",
    "retry_on_conflict": "listwatch.client.wait.retry_on_conflict",
    "rule": "listwatch.objects.declarations.definition_options",
    "tracing": "listwatch.tracing",
    "until": "listwatch.client.wait.until",
    "until_with_sync": "listwatch.informer.informed_until",
    "wait_for": "listwatch.client.wait.wait_for",
}

__all__ = ["__version__", *_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch import errors as errors
    from listwatch import metrics as metrics
    from listwatch import tracing as tracing
    from listwatch.api.options import ListOptions as ListOptions
    from listwatch.api.patches import PatchType as PatchType
    from listwatch.cache.delta_fifo import DeltaFIFO as DeltaFIFO
    from listwatch.cache.indexer import Indexer as Indexer
    from listwatch.cache.lister import Lister as Lister
    from listwatch.client.config.client_config import ClientConfig as ClientConfig
    from listwatch.client.config.client_config import ExecConfig as ExecConfig
    from listwatch.client.config.client_config import Impersonation as Impersonation
    from listwatch.client.config.client_config import OIDCConfig as OIDCConfig
    from listwatch.client.config.client_config import ServerWarning as ServerWarning
    from listwatch.client.config.in_cluster import load_incluster_config as load_incluster_config
    from listwatch.client.config.kubeconfig import load_config as load_config
    from listwatch.client.config.kubeconfig import load_kube_config as load_kube_config
    from listwatch.client.discovery.discovery_client import DiscoveryClient as DiscoveryClient
    from listwatch.client.discovery.rest_mapper import RESTMapper as RESTMapper
    from listwatch.client.manifests import apply_files as apply_files
    from listwatch.client.resources.client_set import ClientSet as ClientSet
    from listwatch.client.resources.dynamic_client import DynamicClient as DynamicClient
    from listwatch.client.resources.metadata_client import MetadataClient as MetadataClient
    from listwatch.client.resources.resource_client import ResourceClient as ResourceClient
    from listwatch.client.rest.rest_client import RESTClient as RESTClient
    from listwatch.client.server_side_apply.apply_object import apply as apply
    from listwatch.client.server_side_apply.apply_object import diff as diff
    from listwatch.client.wait.retry_on_conflict import retry_on_conflict as retry_on_conflict
    from listwatch.client.wait.retry_watcher import RetryWatcher as RetryWatcher
    from listwatch.client.wait.until import until as until
    from listwatch.client.wait.wait_for import wait_for as wait_for
    from listwatch.controller.controller import Controller as Controller
    from listwatch.controller.manager import Manager as Manager
    from listwatch.controller.reconcile.context import ReconcileContext as ReconcileContext
    from listwatch.controller.watching.watches import Every as Every
    from listwatch.controller.watching.watches import Watch as Watch
    from listwatch.events.recorder import EventRecorder as EventRecorder
    from listwatch.factory.factory import SharedInformerFactory as SharedInformerFactory
    from listwatch.informer.informed_until import until_with_sync as until_with_sync
    from listwatch.informer.informer import Informer as Informer
    from listwatch.informer.reflector.lister_watcher import ListerWatcher as ListerWatcher
    from listwatch.informer.reflector.reflector import Reflector as Reflector
    from listwatch.informer.shared_informer import SharedIndexInformer as SharedIndexInformer
    from listwatch.leaderelection.candidate import LeaderLock as LeaderLock
    from listwatch.leaderelection.elector import LeaderElector as LeaderElector
    from listwatch.leaderelection.lease_lock import LeaseLock as LeaseLock
    from listwatch.meta import ClusterKey as ClusterKey
    from listwatch.meta import GroupVersionKind as GroupVersionKind
    from listwatch.meta import GroupVersionResource as GroupVersionResource
    from listwatch.meta import ObjectKey as ObjectKey
    from listwatch.objects.declarations.custom_resource import CustomResource as CustomResource
    from listwatch.objects.declarations.definition_options import Column as Column
    from listwatch.objects.declarations.definition_options import ScalePaths as ScalePaths
    from listwatch.objects.declarations.definition_options import crd as crd
    from listwatch.objects.declarations.definition_options import rule as rule
    from listwatch.objects.declarations.model import Model as Model
    from listwatch.objects.declarations.model import field as field
    from listwatch.objects.metadata import ObjectMeta as ObjectMeta
    from listwatch.objects.object import Object as Object
    from listwatch.objects.unstructured import Unstructured as Unstructured
    from listwatch.quantity import Quantity as Quantity
    from listwatch.recording.recorder import Recorder as Recorder
    from listwatch.selectors import FieldSelector as FieldSelector
    from listwatch.selectors import LabelSelector as LabelSelector
    from listwatch.settings.settings import Settings as Settings
    from listwatch.sources.list_watch import ListWatch as ListWatch
    from listwatch.webhooks.admission_request import AdmissionRequest as AdmissionRequest
    from listwatch.webhooks.webhooks import Webhooks as Webhooks
    from listwatch.workqueue.queue import WorkQueue as WorkQueue
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)

if _environ.get("LISTWATCH_LOG"):
    from listwatch.logs.log_setup import set_up_logging

    set_up_logging(_environ["LISTWATCH_LOG"])
    del set_up_logging
