"""Controllers: watches put keys into a work queue, workers reconcile them, a manager runs several controllers.

Also predicates, and functions for finalizers, owner references and conditions.
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "Controller": "listwatch.controller.controller",
    "ControllerStatistics": "listwatch.controller.reports",
    "Every": "listwatch.controller.watches",
    "Failure": "listwatch.controller.reports",
    "HasConditions": "listwatch.controller.conditions",
    "KeyFunction": "listwatch.controller.watches",
    "KeyLike": "listwatch.controller.watches",
    "KeyReconciler": "listwatch.controller.context",
    "Kind": "listwatch.controller.watches",
    "KindName": "listwatch.controller.watches",
    "Manager": "listwatch.controller.manager",
    "ManagerStatistics": "listwatch.controller.reports",
    "Predicate": "listwatch.controller.predicates",
    "PredicateFunction": "listwatch.controller.predicates",
    "Reconcile": "listwatch.controller.context",
    "ReconcileContext": "listwatch.controller.context",
    "ReconcileResult": "listwatch.controller.context",
    "Reconciler": "listwatch.controller.context",
    "Watch": "listwatch.controller.watches",
    "Watched": "listwatch.controller.watches",
    "add_finalizer": "listwatch.controller.finalizers",
    "annotations_changed": "listwatch.controller.predicates",
    "controller_of": "listwatch.controller.owners",
    "finalize": "listwatch.controller.finalizers",
    "find_condition": "listwatch.controller.conditions",
    "generation_changed": "listwatch.controller.predicates",
    "has_finalizer": "listwatch.controller.finalizers",
    "has_label": "listwatch.controller.predicates",
    "is_being_deleted": "listwatch.controller.finalizers",
    "is_condition_true": "listwatch.controller.conditions",
    "is_controlled_by": "listwatch.controller.owners",
    "labels_changed": "listwatch.controller.predicates",
    "owner_reference": "listwatch.controller.owners",
    "predicate": "listwatch.controller.predicates",
    "remove_condition": "listwatch.controller.conditions",
    "remove_finalizer": "listwatch.controller.finalizers",
    "resource_version_changed": "listwatch.controller.predicates",
    "set_condition": "listwatch.controller.conditions",
    "set_controller": "listwatch.controller.owners",
    "set_owner": "listwatch.controller.owners",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.controller.conditions import HasConditions as HasConditions
    from listwatch.controller.conditions import find_condition as find_condition
    from listwatch.controller.conditions import is_condition_true as is_condition_true
    from listwatch.controller.conditions import remove_condition as remove_condition
    from listwatch.controller.conditions import set_condition as set_condition
    from listwatch.controller.context import KeyReconciler as KeyReconciler
    from listwatch.controller.context import Reconcile as Reconcile
    from listwatch.controller.context import ReconcileContext as ReconcileContext
    from listwatch.controller.context import Reconciler as Reconciler
    from listwatch.controller.context import ReconcileResult as ReconcileResult
    from listwatch.controller.controller import Controller as Controller
    from listwatch.controller.finalizers import add_finalizer as add_finalizer
    from listwatch.controller.finalizers import finalize as finalize
    from listwatch.controller.finalizers import has_finalizer as has_finalizer
    from listwatch.controller.finalizers import is_being_deleted as is_being_deleted
    from listwatch.controller.finalizers import remove_finalizer as remove_finalizer
    from listwatch.controller.manager import Manager as Manager
    from listwatch.controller.owners import controller_of as controller_of
    from listwatch.controller.owners import is_controlled_by as is_controlled_by
    from listwatch.controller.owners import owner_reference as owner_reference
    from listwatch.controller.owners import set_controller as set_controller
    from listwatch.controller.owners import set_owner as set_owner
    from listwatch.controller.predicates import Predicate as Predicate
    from listwatch.controller.predicates import PredicateFunction as PredicateFunction
    from listwatch.controller.predicates import annotations_changed as annotations_changed
    from listwatch.controller.predicates import generation_changed as generation_changed
    from listwatch.controller.predicates import has_label as has_label
    from listwatch.controller.predicates import labels_changed as labels_changed
    from listwatch.controller.predicates import predicate as predicate
    from listwatch.controller.predicates import resource_version_changed as resource_version_changed
    from listwatch.controller.reports import ControllerStatistics as ControllerStatistics
    from listwatch.controller.reports import Failure as Failure
    from listwatch.controller.reports import ManagerStatistics as ManagerStatistics
    from listwatch.controller.watches import Every as Every
    from listwatch.controller.watches import KeyFunction as KeyFunction
    from listwatch.controller.watches import KeyLike as KeyLike
    from listwatch.controller.watches import Kind as Kind
    from listwatch.controller.watches import KindName as KindName
    from listwatch.controller.watches import Watch as Watch
    from listwatch.controller.watches import Watched as Watched
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
