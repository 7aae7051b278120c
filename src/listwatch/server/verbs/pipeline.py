"""Carries out requests for resources, except watches: the steps from a request to its response, in order.

    create   decode ─▶ prepare ─▶ default ─▶ admit ─▶ validate ─▶ store ─▶ respond
    update   decode ─▶ default ─▶ admit ─▶ prepare ─▶ validate ─▶ store ─▶ respond
    patch    the stored object ─▶ patch, or server-side apply ─▶ as an update
    delete   plan ─▶ admit ─▶ mark or remove ─▶ respond
    get      read ─▶ respond, and so does list

All of it is synchronous, so that nothing is written between reading an object and writing it. `updates` has updates,
patches and applies; `write_steps` has the steps that they share with creates. Subresources that change a part of their
object are updates; `subresources` has the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from listwatch.errors import (
    AlreadyExistsError,
    MethodNotAllowedError,
    StatusDetails,
)
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey, Resource
from listwatch.server.apply.field_sets import MergeShape
from listwatch.server.apply.managed_fields import FieldManagers
from listwatch.server.apply.server_side_apply import ServerSideApply
from listwatch.server.codec.decoding import Decoded
from listwatch.server.codec.defaulting import apply_defaults
from listwatch.server.json_tree import text_at
from listwatch.server.lifecycle.built_in_admission import ADDITIONS, Additions
from listwatch.server.lifecycle.deletion import Deleter
from listwatch.server.lifecycle.kind_strategies import KIND_STRATEGIES
from listwatch.server.lifecycle.object_store import ObjectStore, Target, decode_stored
from listwatch.server.lifecycle.strategy import (
    Environment,
    check_namespace,
    check_namespace_accepts,
    check_namespace_deletable,
    complete_new,
    metadata_of,
    prepare_for_create,
)
from listwatch.server.protocol.deprecations import DEPRECATION_WARNINGS
from listwatch.server.protocol.list_options import (
    ListOptions,
    check_reached,
    read_get_minimum,
    read_list_options,
    read_list_selection,
)
from listwatch.server.protocol.routes import resource_not_found
from listwatch.server.protocol.write_options import (
    DeleteOptions,
    WriteOptions,
    read_delete_options,
    read_write_options,
)
from listwatch.server.requests import Admission, APIRequest, ListResponse, Replay, Response
from listwatch.server.rules.validation import validate_create
from listwatch.server.rules.warnings import OBJECT_WARNINGS
from listwatch.server.storage.values import KeyExistsError, Stored
from listwatch.server.verbs.admission_plugins import AdmissionPolicies
from listwatch.server.verbs.connections import Connections
from listwatch.server.verbs.listing import Convert, Listing, list_objects
from listwatch.server.verbs.reviews import Identities, respond_to_review
from listwatch.server.verbs.scale import ScaleHandler
from listwatch.server.verbs.subresources import PARTIAL_UPDATES, subresource_handlers
from listwatch.server.verbs.updates import Updates
from listwatch.server.verbs.write_steps import WriteSteps, compared_as, set_managed_fields

__all__ = ["Pipeline"]

_NAME_ATTEMPTS = 8
_MAX_GENERATED_BASE = 58

_ORPHANED_PODS_WARNING = (
    "child pods are preserved by default when jobs are deleted; "
    "set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"
)


class Pipeline:
    """Responds to all requests for resources except watches."""

    def __init__(
        self,
        objects: ObjectStore,
        environment: Environment,
        *,
        identities: Identities,
        admission: Sequence[Admission] = (),
        additions: Additions = ADDITIONS,
    ) -> None:
        self._objects = objects
        self._storage = objects.storage
        self._schema = objects.schema
        self._environment = environment
        self._identities = identities
        managers = FieldManagers(objects.schema, objects.definitions, environment.now)
        apply = ServerSideApply(objects.schema, objects.definitions, managers)
        self.steps = WriteSteps(objects, managers, admission, additions)
        self._updates = Updates(self.steps, apply, self._create_object, identities.authorize_create)
        self.deleter = Deleter(objects, admission, environment.now)
        scale = ScaleHandler(objects, apply, self._updates.replace)
        self.connections = Connections(objects)
        self._handlers = subresource_handlers(
            objects,
            self.deleter,
            identities,
            environment,
            admission=self.steps,
            scale=scale,
            connections=self.connections,
        )

    def needs_webhooks(self, request: APIRequest) -> bool:
        """Whether the request needs a Replay, because webhooks may have to be called."""
        if self._objects.target(request.resource).is_converted:
            return True
        is_admitted = request.method not in ("GET", "HEAD") or request.verb == "connect"
        return is_admitted and self.steps.policies is not None and self.steps.policies.calls_webhooks

    def converter(self, resource: Resource) -> Callable[[Sequence[Stored], Replay], list[Stored]] | None:
        """Return a function that converts states with a webhook, which raises WebhookNeededError; None without one."""
        if not self._objects.target(resource).is_converted:
            return None

        def convert(states: Sequence[Stored], replay: Replay) -> list[Stored]:
            self._objects.replay = replay
            try:
                return self._objects.converted(states, resource)
            finally:
                self._objects.replay = None

        return convert

    def use_policies(self, make: Callable[[Callable[[Resource], MergeShape]], AdmissionPolicies]) -> None:
        """Apply policies; the function gets the one that returns the merge shape of a resource."""
        self.steps.policies = self.deleter.policies = make(self.steps.managers.shape)

    def admit_connection(self, request: APIRequest) -> APIRequest:
        """Return a request for a connection, with its options after admission; raises an APIError."""
        return self.steps.admit_connection(request)

    def respond(self, request: APIRequest) -> Response:
        """Carry out a request; raises the APIError to respond with."""
        self._objects.replay = request.replay
        try:
            return self._respond(request)
        finally:
            self._objects.replay = None

    def _respond(self, request: APIRequest) -> Response:
        if request.subresource and request.subresource not in PARTIAL_UPDATES:
            handler = self._handlers.get(request.subresource)
            if handler is None:
                raise resource_not_found()
            return handler(self.steps.admit_connection(request) if request.verb == "connect" else request)
        match request.verb:
            case "get":
                return self._get(request)
            case "list":
                return self._list(request)
            case "create":
                return self._create(request)
            case "update":
                return self._updates.update(request)
            case "patch":
                return self._updates.patch(request)
            case "delete":
                return self._delete(request)
            case "deletecollection":
                return self._delete_collection(request)
            case verb:
                raise MethodNotAllowedError.of(request.resource.plural, verb, group=request.resource.group)

    def deprecation_warning(self, resource: Resource) -> str:
        """Return the warning for a deprecated kind or version; empty if it is not deprecated."""
        target = self._objects.target(resource)
        custom = self._objects.definitions.version(resource) if target.is_custom else None
        return custom.warning if custom else DEPRECATION_WARNINGS.get(target.gvk, "")

    # --- Get and list -------------------------------------------------------------------------------------------------

    def _get(self, request: APIRequest) -> Response:
        check_reached(read_get_minimum(request.query), self._storage.revision)
        return self.steps.response(self._objects.get(request), request)

    def _list(self, request: APIRequest) -> Response:
        target = self._objects.target(request.resource)
        options = read_list_options(request, self._objects.registry)
        listing = list_objects(self._storage, target.storage_id, options, self._selection_converter(target, options))
        return Response(self._list_response(request, listing, options, items_keep_kind=not target.is_built_in))

    def _selection_converter(self, target: Target, options: ListOptions) -> Convert | None:
        """Objects that a webhook converts are selected by the labels and fields of the requested version."""
        if not target.is_converted or options.selection.has_no_terms:
            return None
        return lambda states: self._objects.converted(states, target.resource)

    def _list_response(
        self, request: APIRequest, listing: Listing, options: ListOptions, *, items_keep_kind: bool = False
    ) -> ListResponse:
        return ListResponse(
            request.resource,
            self._objects.encode_all(listing.items, request.resource),
            str(listing.revision),
            listing.continue_token,
            listing.remaining_item_count,
            items_keep_kind=items_keep_kind,
            shard_selector=str(options.selection.shards or ""),
            states=listing.items,
        )

    # --- Create -------------------------------------------------------------------------------------------------------

    def _create(self, request: APIRequest) -> Response:
        if request.resource.plural == "bindings" and not request.resource.group:
            return self._handlers["binding"](request)
        # 1. Decode.
        options = read_write_options(request)
        body = self.steps.decode(request, options)
        if not self._objects.target(request.resource).traits.stored:
            managed = self.steps.managers.after_create(request, options, body.tree, request.resource)
            review = self.steps.admit_unwritten(request, body.tree, dry_run=options.dry_run)
            set_managed_fields(review, managed)
            return respond_to_review(self._identities, request, review, self._environment.now())
        return self._create_object(request, body, options)

    def _create_object(
        self, request: APIRequest, body: Decoded, options: WriteOptions, managed: list[JSON] | None = None
    ) -> Response:
        """Create a decoded object; `managed` are its managedFields if the writer does not manage all of it."""
        target = self._objects.target(request.resource)
        # 2. Prepare: check the namespace, convert it to the stored version, set what the server sets.
        check_namespace(request, body.tree)
        if self.steps.checks_namespaces:
            check_namespace_accepts(self._storage, request, body.tree)
        if target.is_custom:
            name = text_at(body.tree, "metadata", "name")
            self._objects.definitions.check_not_terminating(request.resource, name)
        if (
            managed is None
            and target.is_custom
            and not self.steps.managers.has_typed_status(body.tree, request.resource)
        ):
            managed = []  # as in kube-apiserver, although the status is not stored
        tree = self.steps.to_stored_version(body.tree, request, target)
        now, uid, sent_status = self._environment.now(), self._environment.new_uid(), tree.get("status")
        if request.replay:
            uid = request.replay.values.setdefault("uid", uid)
        self._prepare(request, tree, target, uid, now, options)
        # 3. Default. The writer manages what it sent and these defaults, and not what admission changes.
        apply_defaults(tree, self._schema)
        if managed is None:
            managed = self.steps.managers.after_create(request, options, tree, compared_as(request, target))
        # 4. Admit.
        self.steps.add_fields(request, tree, target)
        set_managed_fields(tree, managed)
        if self.steps.can_mutate:
            if sent_status is not None:
                tree["status"] = sent_status
            tree = self.steps.admit_and_mutate(request, tree, None, target, options)
            check_namespace(request, tree)
            # Admission changes nothing that only the server sets.
            self._prepare(request, tree, target, uid, now, options)
            apply_defaults(tree, self._schema)
            set_managed_fields(tree, managed)
            self.steps.add_fields(request, tree, target)  # as admission functions have changed it
        if self.steps.check_escalation:
            self.steps.check_escalation(request, tree, None)
        # 5. Validate and store, with another name if a generated one is taken.
        stored = self._store_new(request, tree, target, options)
        # 6. Respond.
        return self.steps.response(stored, request, code=201)

    def _prepare(
        self, request: APIRequest, tree: JSONObject, target: Target, uid: str, now: datetime, options: WriteOptions
    ) -> None:
        prepare_for_create(
            tree, target.stored_as, target.traits, self._schema, uid=uid, now=now, dry_run=options.dry_run
        )
        if prepare := KIND_STRATEGIES.get(target.group_kind):
            prepare(tree, None, request.user)

    def _store_new(self, request: APIRequest, tree: JSONObject, target: Target, options: WriteOptions) -> Stored:
        metadata = metadata_of(tree)
        base = text_at(metadata, "generateName") if not metadata.get("name") else ""
        attempts = _NAME_ATTEMPTS if base else 1
        for attempts_left in reversed(range(attempts)):
            if base:
                suffix = self._environment.name_suffix()
                if request.replay:
                    suffix = request.replay.values.setdefault(f"suffix {attempts_left}", suffix)
                metadata["name"] = base[:_MAX_GENERATED_BASE] + suffix
            complete_new(tree)
            self.steps.complete(tree, None, target)
            self.steps.check_valid(validate_create(tree, target.stored_as), request, tree, None, target)
            if (warn := OBJECT_WARNINGS.get(target.group_kind)) and attempts_left == attempts - 1:
                request.warnings.extend(warn(tree, None))
            self.steps.prune(tree, target)
            key = ObjectKey(request.namespace, text_at(metadata, "name"))
            self.steps.check_pod_security(request, tree, None, target)
            self.steps.check_default_priority(tree, target)
            if self.steps.policies and self.steps.policies.active:
                self.steps.policies.validate(
                    request, self.steps.in_version(tree, request, target), None, dry_run=options.dry_run
                )
            stored_tree = self._objects.to_storage(tree, target)
            # Last: what is reserved here must be written, and the request does not start again.
            if self.steps.quotas and request.namespace in self.steps.quotas.namespaces:
                self.steps.quotas.check(request, tree, None, dry_run=options.dry_run)
            try:
                return self._objects.create(target.storage_id, key, stored_tree, dry_run=options.dry_run)
            except KeyExistsError:
                if not attempts_left:
                    raise self._already_exists(request, key, target, generated=bool(base)) from None
        raise AssertionError("every attempt returns or raises")

    def _already_exists(
        self, request: APIRequest, key: ObjectKey, target: Target, *, generated: bool
    ) -> AlreadyExistsError:
        resource = request.resource
        error = AlreadyExistsError.of(resource.plural, key.name, group=resource.group)
        if generated:
            details = StatusDetails(name=key.name, group=resource.group, kind=resource.plural, retry_after_seconds=1)
            why = "the server was not able to generate a unique name for the object"
            return AlreadyExistsError(f"{error.message}, {why}", details=details)
        present = self._storage.get(target.storage_id, key)
        if present and text_at(decode_stored(present), "metadata", "deletionTimestamp"):
            return AlreadyExistsError(f"object is being deleted: {error.message}", details=error.details)
        return error

    # --- Delete -------------------------------------------------------------------------------------------------------

    def _delete(self, request: APIRequest) -> Response:
        options = read_delete_options(request, self._schema)
        if self.steps.checks_namespaces:
            check_namespace_deletable(request)
        _warn_of_orphans(request, options)
        existing = self._objects.get(request)
        last, is_removed = self.deleter.delete(request, existing, options)
        if is_removed and not self._objects.target(request.resource).traits.returns_deleted:
            return Response(_deleted_status(request, existing))
        # 202 means that the deletion is not complete; kube-apiserver uses it only with orphanDependents.
        code = 202 if options.orphan is False and not is_removed else 200
        return self.steps.response(last, request, code=code)

    def _delete_collection(self, request: APIRequest) -> Response:
        read_list_selection(request, self._objects.registry)  # its errors precede those of the body
        options = read_delete_options(request, self._schema)
        selected = read_list_options(request, self._objects.registry)
        _warn_of_orphans(request, options)
        target = self._objects.target(request.resource)
        # A request that is started again after a webhook deletes what it has listed at first, each object once.
        replay = request.replay or Replay(str)
        if replay.collection is None:
            convert = self._selection_converter(target, selected)
            listing = list_objects(self._storage, target.storage_id, selected, convert)
            # Before anything is deleted: a webhook may have to convert the objects.
            response = self._list_response(request, listing, selected, items_keep_kind=not target.is_built_in)
            replay.collection = response
        for stored in replay.collection.states:
            if stored.key in replay.deleted:
                request.warnings += replay.deleted[stored.key]
            elif existing := self._storage.get(target.storage_id, stored.key):
                count = len(request.warnings)
                one = replace(request, namespace=stored.key.namespace, name=stored.key.name)
                self.deleter.delete(one, existing, options)
                replay.deleted[stored.key] = request.warnings[count:]
        return Response(replay.collection)


def _warn_of_orphans(request: APIRequest, options: DeleteOptions) -> None:
    if request.resource.group_resource == ("batch", "jobs") and not options.policy and options.orphan is None:
        request.warnings.append(_ORPHANED_PODS_WARNING)


def _deleted_status(request: APIRequest, deleted: Stored) -> JSONObject:
    resource, uid = request.resource, text_at(decode_stored(deleted), "metadata", "uid")
    details: JSONObject = {"name": request.name, "kind": resource.plural, "uid": uid}
    if resource.group:
        details["group"] = resource.group
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
