"""DELETE of an object or of a collection: `deletion` decides what becomes of each, this does it and answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from listwatch.server.crd.definitions import DEFINITIONS
from listwatch.server.lifecycle.definition_lifecycle import end_of_definition
from listwatch.server.lifecycle.deletion import Keep, Mark, check_preconditions, plan_deletion
from listwatch.server.lifecycle.namespace_rules import check_mortal
from listwatch.server.lifecycle.semantics import is_unchanged
from listwatch.server.lifecycle.stored_objects import decoded
from listwatch.server.protocol.list_options import read_list_options
from listwatch.server.protocol.write_options import DeleteOptions, read_delete_options
from listwatch.server.requests import APIRequest, ListResponse, Response
from listwatch.server.storage.storage import Stored
from listwatch.server.verbs.listing import list_objects

if TYPE_CHECKING:
    from listwatch.server.verbs.verbs import Verbs

__all__ = ["delete", "delete_collection", "delete_object"]

# These answer the end of an object with its last state, all others with a Status.
_RETURN_THE_DELETED = frozenset(
    {
        *("namespaces", "persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates", "resourcequotas"),
        *("serviceaccounts", "services"),
        *(f"{name}.storage.k8s.io" for name in ("csidrivers", "csinodes", "storageclasses", "volumeattachments")),
        "volumeattributesclasses.storage.k8s.io",
        *(f"{name}.resource.k8s.io" for name in ("deviceclasses", "devicetaintrules", "resourceclaims")),
        *(f"{name}.resource.k8s.io" for name in ("resourceclaimtemplates", "resourceslices")),
        "resourcepoolstatusrequests.resource.k8s.io",
    }
)
_PODS_STAY = (
    "child pods are preserved by default when jobs are deleted; "
    "set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"
)


def delete(verbs: Verbs, request: APIRequest) -> Response:
    options = read_delete_options(request, verbs.schema)
    check_mortal(request)
    _warn(request, options)
    existing = verbs.stored(request)
    left, is_gone = delete_object(verbs, request, existing, options)
    if is_gone and str(request.resource.group_resource) not in _RETURN_THE_DELETED:
        return Response(_success(request, existing))
    # 202 says: not yet. Only the oldest way to ask is answered so.
    code = 202 if options.orphan is False and not is_gone else 200
    return Response(verbs.sent(left, request.resource), code=code)


def delete_collection(verbs: Verbs, request: APIRequest) -> Response:
    selected = read_list_options(request, verbs.registry)
    options = read_delete_options(request, verbs.schema)
    _warn(request, options)
    storage_id = verbs.registry.storage_id(request.resource)
    listing = list_objects(verbs.storage, storage_id, selected)
    for stored in listing.items:
        one = replace(request, namespace=stored.key.namespace, name=stored.key.name)
        delete_object(verbs, one, stored, options)
    items = verbs.all_sent(listing.items, request.resource)
    return Response(
        ListResponse(
            request.resource, items, str(listing.revision), listing.continue_token, listing.remaining_item_count
        )
    )


def delete_object(verbs: Verbs, request: APIRequest, existing: Stored, options: DeleteOptions) -> tuple[Stored, bool]:
    """Delete one object, or begin to; returns what is left of it, which is its last state if it is gone."""
    target, old = verbs.target(request.resource), decoded(existing)
    check_preconditions(old, options, target.form)
    verbs.admit(request, None, old)
    if target.storage_id == DEFINITIONS and "deletionTimestamp" not in old["metadata"]:
        marked = end_of_definition(old, verbs.origin.now())
        return verbs.objects.update(target.storage_id, existing, marked, dry_run=options.dry_run), False
    match plan_deletion(old, options, target.form, target.traits, verbs.origin.now()):
        case Keep():
            return existing, False
        case Mark(tree):
            if not is_unchanged(tree, old):
                existing = verbs.objects.update(target.storage_id, existing, tree, dry_run=options.dry_run)
            return existing, False
        case remove:
            if remove.mark:
                existing = verbs.objects.update(target.storage_id, existing, remove.mark, dry_run=options.dry_run)
            return verbs.objects.remove(target.storage_id, existing, dry_run=options.dry_run), True


def _warn(request: APIRequest, options: DeleteOptions) -> None:
    if request.resource.group_resource == ("batch", "jobs") and not options.policy and options.orphan is None:
        request.warnings.append(_PODS_STAY)


def _success(request: APIRequest, deleted: Stored) -> dict[str, object]:
    resource = request.resource
    details = {"name": request.name, "kind": resource.plural, "uid": decoded(deleted)["metadata"]["uid"]}
    if resource.group:
        details["group"] = resource.group
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
