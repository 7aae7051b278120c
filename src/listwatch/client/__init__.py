"""Clients for one API server: configuration, REST, typed, dynamic, metadata and discovery clients, and waiting."""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "APIGroup": "listwatch.api.discovery",
    "AddedEvent": "listwatch.api.watch_events",
    "AiohttpTransport": "listwatch.client.transport.aiohttp_transport",
    "ApplySetResult": "listwatch.client.server_side_apply.apply_set",
    "BaseClient": "listwatch.client.rest.base_client",
    "BaseResourceClient": "listwatch.client.resources.base_resource_client",
    "BookmarkEvent": "listwatch.api.watch_events",
    "ByteStream": "listwatch.client.rest.streams",
    "ClientConfig": "listwatch.client.config.client_config",
    "ClientSet": "listwatch.client.resources.client_set",
    "ClientStatistics": "listwatch.client.rest.client_statistics",
    "CommandResult": "listwatch.client.pods.remote_process",
    "Condition": "listwatch.client.wait.conditions",
    "ContainerClient": "listwatch.client.resources.container_client",
    "CopyResult": "listwatch.client.containers.archives",
    "DeletedEvent": "listwatch.api.watch_events",
    "DiscoveryCache": "listwatch.client.discovery.discovery_cache",
    "DiscoveryClient": "listwatch.client.discovery.discovery_client",
    "DiscoveryResult": "listwatch.api.discovery",
    "DynamicClient": "listwatch.client.resources.dynamic_client",
    "ErrorEvent": "listwatch.api.watch_events",
    "EventCondition": "listwatch.client.wait.until",
    "ExecConfig": "listwatch.client.config.client_config",
    "FieldChange": "listwatch.client.server_side_apply.object_diff",
    "FieldConflict": "listwatch.client.server_side_apply.object_diff",
    "FieldValidation": "listwatch.api.options",
    "HTTPRequest": "listwatch.api.http_messages",
    "HTTPResponse": "listwatch.api.http_messages",
    "Impersonation": "listwatch.client.config.client_config",
    "KubeconfigUser": "listwatch.client.config.client_config",
    "ListOptions": "listwatch.api.options",
    "LogLine": "listwatch.client.containers.pod_logs",
    "LogSource": "listwatch.api.options",
    "LogStream": "listwatch.client.rest.streams",
    "Match": "listwatch.api.resource_map",
    "MetadataClient": "listwatch.client.resources.metadata_client",
    "MetadataResource": "listwatch.client.resources.metadata_client",
    "ModifiedEvent": "listwatch.api.watch_events",
    "OIDCConfig": "listwatch.client.config.client_config",
    "ObjectDiff": "listwatch.client.server_side_apply.object_diff",
    "Output": "listwatch.client.pods.remote_process",
    "Overrides": "listwatch.client.config.kubeconfig",
    "PageLister": "listwatch.client.resources.pager",
    "Pager": "listwatch.client.resources.pager",
    "Patch": "listwatch.api.patches",
    "PatchType": "listwatch.api.patches",
    "PatchTypeLike": "listwatch.api.patches",
    "PodConnector": "listwatch.client.pod_http.pod_connector",
    "PodLogs": "listwatch.client.containers.pod_logs",
    "PortForward": "listwatch.client.pods.port_forward",
    "PortStream": "listwatch.client.pods.port_stream",
    "PropagationPolicy": "listwatch.api.options",
    "QueryValue": "listwatch.api.options",
    "RESTClient": "listwatch.client.rest.rest_client",
    "RESTMapper": "listwatch.client.discovery.rest_mapper",
    "RateLimiter": "listwatch.client.rest.rate_limiter",
    "ReceivedEvent": "listwatch.api.watch_events",
    "RemoteProcess": "listwatch.client.pods.remote_process",
    "Recorder": "listwatch.recording.recorder",
    "RecorderStatistics": "listwatch.recording.recorder",
    "Request": "listwatch.client.rest.request",
    "Resource": "listwatch.meta",
    "ResourceClient": "listwatch.client.resources.resource_client",
    "ResourceLike": "listwatch.api.references",
    "ResourceMap": "listwatch.api.resource_map",
    "ResponseStream": "listwatch.client.rest.transport_protocols",
    "Result": "listwatch.client.rest.result",
    "RetryWatcher": "listwatch.client.wait.retry_watcher",
    "ServerVersion": "listwatch.api.discovery",
    "ServerWarning": "listwatch.client.config.client_config",
    "SubresourceClient": "listwatch.client.resources.subresource_client",
    "TokenBucket": "listwatch.client.rest.rate_limiter",
    "Transport": "listwatch.client.rest.transport_protocols",
    "UndecodableEvent": "listwatch.api.watch_events",
    "WatchEvent": "listwatch.api.watch_events",
    "WatchStream": "listwatch.client.rest.streams",
    "Watchable": "listwatch.client.wait.retry_watcher",
    "WebSocket": "listwatch.client.rest.transport_protocols",
    "WebSocketTransport": "listwatch.client.rest.transport_protocols",
    "add_debug_container": "listwatch.client.containers.debug_container",
    "apply": "listwatch.client.server_side_apply.apply_object",
    "apply_files": "listwatch.client.manifests",
    "apply_objects": "listwatch.client.manifests",
    "apply_set": "listwatch.client.server_side_apply.apply_set",
    "condition": "listwatch.client.wait.conditions",
    "copy_from_pod": "listwatch.client.containers.copy_files",
    "copy_to_pod": "listwatch.client.containers.copy_files",
    "created": "listwatch.client.wait.conditions",
    "deleted": "listwatch.client.wait.conditions",
    "diff": "listwatch.client.server_side_apply.apply_object",
    "jsonpath": "listwatch.client.wait.conditions",
    "load_config": "listwatch.client.config.kubeconfig",
    "load_files": "listwatch.client.manifests",
    "load_incluster_config": "listwatch.client.config.in_cluster",
    "load_kube_config": "listwatch.client.config.kubeconfig",
    "pod_transport": "listwatch.client.pod_http.pod_transport",
    "ready": "listwatch.client.wait.conditions",
    "retry_on_conflict": "listwatch.client.wait.retry_on_conflict",
    "retry_on_error": "listwatch.client.wait.retry_on_conflict",
    "until": "listwatch.client.wait.until",
    "until_without_retry": "listwatch.client.wait.until",
    "wait_for": "listwatch.client.wait.wait_for",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.api.discovery import APIGroup as APIGroup
    from listwatch.api.discovery import DiscoveryResult as DiscoveryResult
    from listwatch.api.discovery import ServerVersion as ServerVersion
    from listwatch.api.http_messages import HTTPRequest as HTTPRequest
    from listwatch.api.http_messages import HTTPResponse as HTTPResponse
    from listwatch.api.options import FieldValidation as FieldValidation
    from listwatch.api.options import ListOptions as ListOptions
    from listwatch.api.options import LogSource as LogSource
    from listwatch.api.options import PropagationPolicy as PropagationPolicy
    from listwatch.api.options import QueryValue as QueryValue
    from listwatch.api.patches import Patch as Patch
    from listwatch.api.patches import PatchType as PatchType
    from listwatch.api.patches import PatchTypeLike as PatchTypeLike
    from listwatch.api.references import ResourceLike as ResourceLike
    from listwatch.api.resource_map import Match as Match
    from listwatch.api.resource_map import ResourceMap as ResourceMap
    from listwatch.api.watch_events import AddedEvent as AddedEvent
    from listwatch.api.watch_events import BookmarkEvent as BookmarkEvent
    from listwatch.api.watch_events import DeletedEvent as DeletedEvent
    from listwatch.api.watch_events import ErrorEvent as ErrorEvent
    from listwatch.api.watch_events import ModifiedEvent as ModifiedEvent
    from listwatch.api.watch_events import ReceivedEvent as ReceivedEvent
    from listwatch.api.watch_events import UndecodableEvent as UndecodableEvent
    from listwatch.api.watch_events import WatchEvent as WatchEvent
    from listwatch.client.config.client_config import ClientConfig as ClientConfig
    from listwatch.client.config.client_config import ExecConfig as ExecConfig
    from listwatch.client.config.client_config import Impersonation as Impersonation
    from listwatch.client.config.client_config import KubeconfigUser as KubeconfigUser
    from listwatch.client.config.client_config import OIDCConfig as OIDCConfig
    from listwatch.client.config.client_config import ServerWarning as ServerWarning
    from listwatch.client.config.in_cluster import load_incluster_config as load_incluster_config
    from listwatch.client.config.kubeconfig import Overrides as Overrides
    from listwatch.client.config.kubeconfig import load_config as load_config
    from listwatch.client.config.kubeconfig import load_kube_config as load_kube_config
    from listwatch.client.containers.archives import CopyResult as CopyResult
    from listwatch.client.containers.copy_files import copy_from_pod as copy_from_pod
    from listwatch.client.containers.copy_files import copy_to_pod as copy_to_pod
    from listwatch.client.containers.debug_container import add_debug_container as add_debug_container
    from listwatch.client.containers.pod_logs import LogLine as LogLine
    from listwatch.client.containers.pod_logs import PodLogs as PodLogs
    from listwatch.client.discovery.discovery_cache import DiscoveryCache as DiscoveryCache
    from listwatch.client.discovery.discovery_client import DiscoveryClient as DiscoveryClient
    from listwatch.client.discovery.rest_mapper import RESTMapper as RESTMapper
    from listwatch.client.manifests import apply_files as apply_files
    from listwatch.client.manifests import apply_objects as apply_objects
    from listwatch.client.manifests import load_files as load_files
    from listwatch.client.pod_http.pod_connector import PodConnector as PodConnector
    from listwatch.client.pod_http.pod_transport import pod_transport as pod_transport
    from listwatch.client.pods.port_forward import PortForward as PortForward
    from listwatch.client.pods.port_stream import PortStream as PortStream
    from listwatch.client.pods.remote_process import CommandResult as CommandResult
    from listwatch.client.pods.remote_process import Output as Output
    from listwatch.client.pods.remote_process import RemoteProcess as RemoteProcess
    from listwatch.client.resources.base_resource_client import BaseResourceClient as BaseResourceClient
    from listwatch.client.resources.client_set import ClientSet as ClientSet
    from listwatch.client.resources.container_client import ContainerClient as ContainerClient
    from listwatch.client.resources.dynamic_client import DynamicClient as DynamicClient
    from listwatch.client.resources.metadata_client import MetadataClient as MetadataClient
    from listwatch.client.resources.metadata_client import MetadataResource as MetadataResource
    from listwatch.client.resources.pager import PageLister as PageLister
    from listwatch.client.resources.pager import Pager as Pager
    from listwatch.client.resources.resource_client import ResourceClient as ResourceClient
    from listwatch.client.resources.subresource_client import SubresourceClient as SubresourceClient
    from listwatch.client.rest.base_client import BaseClient as BaseClient
    from listwatch.client.rest.client_statistics import ClientStatistics as ClientStatistics
    from listwatch.client.rest.rate_limiter import RateLimiter as RateLimiter
    from listwatch.client.rest.rate_limiter import TokenBucket as TokenBucket
    from listwatch.client.rest.request import Request as Request
    from listwatch.client.rest.rest_client import RESTClient as RESTClient
    from listwatch.client.rest.result import Result as Result
    from listwatch.client.rest.streams import ByteStream as ByteStream
    from listwatch.client.rest.streams import LogStream as LogStream
    from listwatch.client.rest.streams import WatchStream as WatchStream
    from listwatch.client.rest.transport_protocols import ResponseStream as ResponseStream
    from listwatch.client.rest.transport_protocols import Transport as Transport
    from listwatch.client.rest.transport_protocols import WebSocket as WebSocket
    from listwatch.client.rest.transport_protocols import WebSocketTransport as WebSocketTransport
    from listwatch.client.server_side_apply.apply_object import apply as apply
    from listwatch.client.server_side_apply.apply_object import diff as diff
    from listwatch.client.server_side_apply.apply_set import ApplySetResult as ApplySetResult
    from listwatch.client.server_side_apply.apply_set import apply_set as apply_set
    from listwatch.client.server_side_apply.object_diff import FieldChange as FieldChange
    from listwatch.client.server_side_apply.object_diff import FieldConflict as FieldConflict
    from listwatch.client.server_side_apply.object_diff import ObjectDiff as ObjectDiff
    from listwatch.client.transport.aiohttp_transport import AiohttpTransport as AiohttpTransport
    from listwatch.client.wait.conditions import Condition as Condition
    from listwatch.client.wait.conditions import condition as condition
    from listwatch.client.wait.conditions import created as created
    from listwatch.client.wait.conditions import deleted as deleted
    from listwatch.client.wait.conditions import jsonpath as jsonpath
    from listwatch.client.wait.conditions import ready as ready
    from listwatch.client.wait.retry_on_conflict import retry_on_conflict as retry_on_conflict
    from listwatch.client.wait.retry_on_conflict import retry_on_error as retry_on_error
    from listwatch.client.wait.retry_watcher import RetryWatcher as RetryWatcher
    from listwatch.client.wait.retry_watcher import Watchable as Watchable
    from listwatch.client.wait.until import EventCondition as EventCondition
    from listwatch.client.wait.until import until as until
    from listwatch.client.wait.until import until_without_retry as until_without_retry
    from listwatch.client.wait.wait_for import wait_for as wait_for
    from listwatch.meta import Resource as Resource
    from listwatch.recording.recorder import Recorder as Recorder
    from listwatch.recording.recorder import RecorderStatistics as RecorderStatistics
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
