"""Informers: caches that are kept synced with a source, and handlers that are notified of each change.

A source is any ListerWatcher: a resource client, etcd, or a script. This package imports no client.
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "AddFunction": "listwatch.informer.handlers",
    "Change": "listwatch.informer.handlers",
    "CompactStatistics": "listwatch.informer.storage_options",
    "DeleteFunction": "listwatch.informer.handlers",
    "Handler": "listwatch.informer.handlers",
    "HandlerFunctions": "listwatch.informer.handlers",
    "HandlerRegistration": "listwatch.informer.listener",
    "Informer": "listwatch.informer.informer",
    "InformerHandle": "listwatch.factory.informer_handle",
    "InformerStatistics": "listwatch.informer.informer_statistics",
    "ListPage": "listwatch.api.list_pages",
    "ListWatch": "listwatch.sources.list_watch",
    "ListenerStatistics": "listwatch.informer.listener",
    "ListerWatcher": "listwatch.informer.reflector.lister_watcher",
    "ModifyOptions": "listwatch.sources.list_watch",
    "ObjectAdded": "listwatch.informer.handlers",
    "ObjectDeleted": "listwatch.informer.handlers",
    "ObjectEvicted": "listwatch.informer.handlers",
    "ObjectUpdated": "listwatch.informer.handlers",
    "Overflow": "listwatch.informer.listener",
    "Page": "listwatch.api.list_pages",
    "PersistenceStatistics": "listwatch.informer.storage_options",
    "Problem": "listwatch.informer.reflector.problems",
    "ReceivedList": "listwatch.informer.reflector.state",
    "Reflector": "listwatch.informer.reflector.reflector",
    "ReflectorStatistics": "listwatch.informer.reflector.reflector",
    "ReflectorStore": "listwatch.informer.reflector.state",
    "SharedIndexInformer": "listwatch.informer.shared_informer",
    "SharedInformerFactory": "listwatch.factory.factory",
    "SourceMaker": "listwatch.factory.factory",
    "UpdateFunction": "listwatch.informer.handlers",
    "WatchSource": "listwatch.informer.reflector.lister_watcher",
    "filtered": "listwatch.informer.handlers",
    "keep_fields": "listwatch.objects.caching.transforms",
    "metadata_only": "listwatch.objects.caching.transforms",
    "strip_managed_fields": "listwatch.objects.caching.transforms",
    "until_with_sync": "listwatch.informer.informed_until",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.api.list_pages import ListPage as ListPage
    from listwatch.api.list_pages import Page as Page
    from listwatch.factory.factory import SharedInformerFactory as SharedInformerFactory
    from listwatch.factory.factory import SourceMaker as SourceMaker
    from listwatch.factory.informer_handle import InformerHandle as InformerHandle
    from listwatch.informer.handlers import AddFunction as AddFunction
    from listwatch.informer.handlers import Change as Change
    from listwatch.informer.handlers import DeleteFunction as DeleteFunction
    from listwatch.informer.handlers import Handler as Handler
    from listwatch.informer.handlers import HandlerFunctions as HandlerFunctions
    from listwatch.informer.handlers import ObjectAdded as ObjectAdded
    from listwatch.informer.handlers import ObjectDeleted as ObjectDeleted
    from listwatch.informer.handlers import ObjectEvicted as ObjectEvicted
    from listwatch.informer.handlers import ObjectUpdated as ObjectUpdated
    from listwatch.informer.handlers import UpdateFunction as UpdateFunction
    from listwatch.informer.handlers import filtered as filtered
    from listwatch.informer.informed_until import until_with_sync as until_with_sync
    from listwatch.informer.informer import Informer as Informer
    from listwatch.informer.informer_statistics import InformerStatistics as InformerStatistics
    from listwatch.informer.listener import HandlerRegistration as HandlerRegistration
    from listwatch.informer.listener import ListenerStatistics as ListenerStatistics
    from listwatch.informer.listener import Overflow as Overflow
    from listwatch.informer.reflector.lister_watcher import ListerWatcher as ListerWatcher
    from listwatch.informer.reflector.lister_watcher import WatchSource as WatchSource
    from listwatch.informer.reflector.problems import Problem as Problem
    from listwatch.informer.reflector.reflector import Reflector as Reflector
    from listwatch.informer.reflector.reflector import ReflectorStatistics as ReflectorStatistics
    from listwatch.informer.reflector.state import ReceivedList as ReceivedList
    from listwatch.informer.reflector.state import ReflectorStore as ReflectorStore
    from listwatch.informer.shared_informer import SharedIndexInformer as SharedIndexInformer
    from listwatch.informer.storage_options import CompactStatistics as CompactStatistics
    from listwatch.informer.storage_options import PersistenceStatistics as PersistenceStatistics
    from listwatch.objects.caching.transforms import keep_fields as keep_fields
    from listwatch.objects.caching.transforms import metadata_only as metadata_only
    from listwatch.objects.caching.transforms import strip_managed_fields as strip_managed_fields
    from listwatch.sources.list_watch import ListWatch as ListWatch
    from listwatch.sources.list_watch import ModifyOptions as ModifyOptions
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
