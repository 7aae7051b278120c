"""Controllers: watches put keys into a work queue, workers reconcile them, a manager runs several controllers.

Also predicates, and functions for finalizers, owner references and conditions.
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "Cluster": "listwatch.controller.clusters.cluster",
    "ClusterChange": "listwatch.controller.watching.watches",
    "ClusterKeyFunction": "listwatch.controller.watching.watches",
    "ClusterStatistics": "listwatch.controller.clusters.cluster_statistics",
    "Clusters": "listwatch.controller.watching.watches",
    "Controller": "listwatch.controller.controller",
    "ControllerStatistics": "listwatch.controller.reports",
    "Every": "listwatch.controller.watching.watches",
    "Failure": "listwatch.controller.reports",
    "HasConditions": "listwatch.controller.object_fields.conditions",
    "KeyFunction": "listwatch.controller.watching.watches",
    "KeyLike": "listwatch.controller.watching.watches",
    "KeyReconciler": "listwatch.controller.reconcile.context",
    "Kind": "listwatch.controller.watching.watches",
    "KindName": "listwatch.controller.watching.watches",
    "Manager": "listwatch.controller.manager",
    "ManagerStatistics": "listwatch.controller.reports",
    "Predicate": "listwatch.controller.watching.predicates",
    "PredicateFunction": "listwatch.controller.watching.predicates",
    "Reconcile": "listwatch.controller.reconcile.context",
    "ReconcileContext": "listwatch.controller.reconcile.context",
    "ReconcileResult": "listwatch.controller.reconcile.context",
    "Reconciler": "listwatch.controller.reconcile.context",
    "Watch": "listwatch.controller.watching.watches",
    "Watched": "listwatch.controller.watching.watches",
    "add_finalizer": "listwatch.controller.object_fields.finalizers",
    "annotations_changed": "listwatch.controller.watching.predicates",
    "controller_of": "listwatch.controller.object_fields.owners",
    "finalize": "listwatch.controller.object_fields.finalizers",
    "find_condition": "listwatch.controller.object_fields.conditions",
    "generation_changed": "listwatch.controller.watching.predicates",
    "has_finalizer": "listwatch.controller.object_fields.finalizers",
    "has_label": "listwatch.controller.watching.predicates",
    "is_being_deleted": "listwatch.controller.object_fields.finalizers",
    "is_condition_true": "listwatch.controller.object_fields.conditions",
    "is_controlled_by": "listwatch.controller.object_fields.owners",
    "labels_changed": "listwatch.controller.watching.predicates",
    "owner_reference": "listwatch.controller.object_fields.owners",
    "predicate": "listwatch.controller.watching.predicates",
    "remove_condition": "listwatch.controller.object_fields.conditions",
    "remove_finalizer": "listwatch.controller.object_fields.finalizers",
    "resource_version_changed": "listwatch.controller.watching.predicates",
    "set_condition": "listwatch.controller.object_fields.conditions",
    "set_controller": "listwatch.controller.object_fields.owners",
    "set_owner": "listwatch.controller.object_fields.owners",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.controller.clusters.cluster import Cluster as Cluster
    from listwatch.controller.clusters.cluster_statistics import ClusterStatistics as ClusterStatistics
    from listwatch.controller.controller import Controller as Controller
    from listwatch.controller.manager import Manager as Manager
    from listwatch.controller.object_fields.conditions import HasConditions as HasConditions
    from listwatch.controller.object_fields.conditions import find_condition as find_condition
    from listwatch.controller.object_fields.conditions import is_condition_true as is_condition_true
    from listwatch.controller.object_fields.conditions import remove_condition as remove_condition
    from listwatch.controller.object_fields.conditions import set_condition as set_condition
    from listwatch.controller.object_fields.finalizers import add_finalizer as add_finalizer
    from listwatch.controller.object_fields.finalizers import finalize as finalize
    from listwatch.controller.object_fields.finalizers import has_finalizer as has_finalizer
    from listwatch.controller.object_fields.finalizers import is_being_deleted as is_being_deleted
    from listwatch.controller.object_fields.finalizers import remove_finalizer as remove_finalizer
    from listwatch.controller.object_fields.owners import controller_of as controller_of
    from listwatch.controller.object_fields.owners import is_controlled_by as is_controlled_by
    from listwatch.controller.object_fields.owners import owner_reference as owner_reference
    from listwatch.controller.object_fields.owners import set_controller as set_controller
    from listwatch.controller.object_fields.owners import set_owner as set_owner
    from listwatch.controller.reconcile.context import KeyReconciler as KeyReconciler
    from listwatch.controller.reconcile.context import Reconcile as Reconcile
    from listwatch.controller.reconcile.context import ReconcileContext as ReconcileContext
    from listwatch.controller.reconcile.context import Reconciler as Reconciler
    from listwatch.controller.reconcile.context import ReconcileResult as ReconcileResult
    from listwatch.controller.reports import ControllerStatistics as ControllerStatistics
    from listwatch.controller.reports import Failure as Failure
    from listwatch.controller.reports import ManagerStatistics as ManagerStatistics
    from listwatch.controller.watching.predicates import Predicate as Predicate
    from listwatch.controller.watching.predicates import PredicateFunction as PredicateFunction
    from listwatch.controller.watching.predicates import annotations_changed as annotations_changed
    from listwatch.controller.watching.predicates import generation_changed as generation_changed
    from listwatch.controller.watching.predicates import has_label as has_label
    from listwatch.controller.watching.predicates import labels_changed as labels_changed
    from listwatch.controller.watching.predicates import predicate as predicate
    from listwatch.controller.watching.predicates import resource_version_changed as resource_version_changed
    from listwatch.controller.watching.watches import ClusterChange as ClusterChange
    from listwatch.controller.watching.watches import ClusterKeyFunction as ClusterKeyFunction
    from listwatch.controller.watching.watches import Clusters as Clusters
    from listwatch.controller.watching.watches import Every as Every
    from listwatch.controller.watching.watches import KeyFunction as KeyFunction
    from listwatch.controller.watching.watches import KeyLike as KeyLike
    from listwatch.controller.watching.watches import Kind as Kind
    from listwatch.controller.watching.watches import KindName as KindName
    from listwatch.controller.watching.watches import Watch as Watch
    from listwatch.controller.watching.watches import Watched as Watched
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
