"""Carries out requests for resources, except watches: the steps from a request to its response, in order.

    create   decode ─▶ prepare ─▶ default ─▶ admit ─▶ validate ─▶ store ─▶ respond
    update   decode ─▶ default ─▶ prepare ─▶ admit ─▶ validate ─▶ store ─▶ respond
    patch    the stored object ─▶ patch, or server-side apply ─▶ as an update
    delete   plan ─▶ admit ─▶ mark or remove ─▶ respond
    get      read ─▶ respond, and so does list

All of it is synchronous, so that nothing is written between reading an object and writing it. Subresources that change
a part of their object are updates; `subresources` has the others.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import msgspec

from listwatch.errors import (
    AlreadyExistsError,
    InternalServerError,
    InvalidError,
    MethodNotAllowedError,
    StatusCause,
    StatusDetails,
)
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey, Resource
from listwatch.server.apply.field_sets import MergeShape
from listwatch.server.apply.managed_fields import FieldManagers, differs_only_in_timestamps
from listwatch.server.apply.server_side_apply import ServerSideApply
from listwatch.server.codec.conversion import convert
from listwatch.server.codec.decoding import Decoded, decode_tree
from listwatch.server.codec.defaulting import apply_defaults
from listwatch.server.codec.typed_decoding import StrictErrors, UnmarshalError
from listwatch.server.crd.custom_decoding import decode_custom_tree
from listwatch.server.crd.definitions import DEFINITIONS, CustomVersion, has_rules
from listwatch.server.json_tree import copied, object_at, same, text_at
from listwatch.server.lifecycle.built_in_admission import ADDITIONS, Additions
from listwatch.server.lifecycle.definition_lifecycle import complete_definition
from listwatch.server.lifecycle.deletion import Deleter
from listwatch.server.lifecycle.kind_strategies import KIND_STRATEGIES
from listwatch.server.lifecycle.object_store import ObjectStore, Target, decode_stored, not_found
from listwatch.server.lifecycle.service_addresses import SERVICES, assign_addresses
from listwatch.server.lifecycle.strategy import (
    NAMESPACES,
    Environment,
    check_name,
    check_namespace,
    check_namespace_accepts,
    check_namespace_deletable,
    check_resource_version,
    check_uid,
    complete_new,
    complete_updated,
    immutable_metadata_problems,
    metadata_of,
    prepare_for_create,
    prepare_for_update,
    requested_version,
)
from listwatch.server.patch.patching import check_patch_type
from listwatch.server.protocol.deprecations import DEPRECATION_WARNINGS
from listwatch.server.protocol.list_options import ListOptions, check_reached, read_get_minimum, read_list_options
from listwatch.server.protocol.routes import resource_not_found
from listwatch.server.protocol.write_options import (
    DeleteOptions,
    WriteOptions,
    apply_request_patch,
    decode_request_body,
    is_apply,
    read_delete_options,
    read_write_options,
)
from listwatch.server.requests import Admission, APIRequest, ListResponse, Replay, Response
from listwatch.server.rules.custom_objects import structural_problems
from listwatch.server.rules.validation import bounded, validate_create, validate_update
from listwatch.server.rules.warnings import OBJECT_WARNINGS
from listwatch.server.storage.values import KeyExistsError, Stored
from listwatch.server.verbs.connections import Connections
from listwatch.server.verbs.listing import Convert, Listing, list_objects
from listwatch.server.verbs.reviews import Identities, respond_to_review
from listwatch.server.verbs.scale import ScaleHandler
from listwatch.server.verbs.subresources import PARTIAL_UPDATES, subresource_handlers

if TYPE_CHECKING:
    from listwatch.server.custom_rules.validator import CustomRules

__all__ = ["Pipeline"]

_POLICIES = frozenset(
    f"admissionregistration.k8s.io/{name}" for name in ("validatingadmissionpolicies", "mutatingadmissionpolicies")
)
_WITH_EXPRESSIONS = _POLICIES | {
    f"admissionregistration.k8s.io/{name}"
    for name in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
}
_PODS = "/pods"
_PRIORITY_FIELDS = frozenset({"priorityClassName", "priority", "preemptionPolicy"})
_NAME_ATTEMPTS = 8
_MAX_GENERATED_BASE = 58

_ORPHANED_PODS_WARNING = (
    "child pods are preserved by default when jobs are deleted; "
    "set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"
)


class Quotas(Protocol):
    """Rejects writes that exceed a quota."""

    @property
    def namespaces(self) -> Container[str]:
        """The namespaces that have quotas."""

    def check(self, request: APIRequest, new: JSONObject, old: JSONObject | None, *, dry_run: bool) -> None:
        """Raises ForbiddenError."""


class PodSecurity(Protocol):
    """Rejects pods that violate the level of their namespace."""

    @property
    def resources(self) -> Container[str]:
        """The storage ids of the resources that are checked."""

    @property
    def namespaces(self) -> Container[str]:
        """The namespaces that select a level."""

    def validate(self, storage_id: str, request: APIRequest, new: JSONObject, old: JSONObject | None) -> None:
        """Raises an APIError, or adds warnings to the request."""


class ServiceAccounts(Protocol):
    """Gives pods a service account and its token."""

    def add(self, request: APIRequest, pod: JSONObject) -> None:
        """Raises ForbiddenError."""

    def check_ephemeral(self, request: APIRequest, pod: JSONObject) -> None:
        """Raises ForbiddenError."""


class Priorities(Protocol):
    """Gives pods the priority of their class."""

    @property
    def has_default(self) -> bool:
        """Whether pods without a class get one."""

    def add(self, pod: JSONObject) -> None:
        """Raises ForbiddenError."""


class AdmissionPolicies(Protocol):
    """Applies policies that are objects of the server."""

    @property
    def active(self) -> bool:
        """Whether there are any policies or webhooks."""

    @property
    def calls_webhooks(self) -> bool:
        """Whether requests may raise WebhookNeededError, if they have a Replay."""

    def mutate(self, request: APIRequest, new: JSONObject, old: JSONObject | None, *, dry_run: bool) -> JSONObject:
        """Return the changed object; raises an APIError."""

    def validate(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None, *, dry_run: bool) -> None:
        """Raises an APIError."""


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
        self._admission = admission
        self._additions = additions
        self._managers = FieldManagers(objects.schema, objects.definitions, environment.now)
        self._apply = ServerSideApply(objects.schema, objects.definitions, self._managers)
        self.quotas: Quotas | None = None
        self.priorities: Priorities | None = None
        self.pod_security: PodSecurity | None = None
        self.service_accounts: ServiceAccounts | None = None
        self.checks_namespaces = True
        """Whether new objects need a namespace that is not being deleted."""
        self._policies: AdmissionPolicies | None = None
        self.deleter = Deleter(objects, admission, environment.now)
        scale = ScaleHandler(objects, self._apply, self._replace)
        self.connections = Connections(objects)
        self._handlers = subresource_handlers(
            objects, self.deleter, identities, environment, scale=scale, connections=self.connections
        )

    def needs_webhooks(self, request: APIRequest) -> bool:
        """Whether the request needs a Replay, because webhooks may have to be called."""
        if self._objects.target(request.resource).is_converted:
            return True
        is_write = request.method not in ("GET", "HEAD")
        return is_write and self._policies is not None and self._policies.calls_webhooks

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
        self._policies = self.deleter.policies = make(self._managers.shape)

    @cached_property
    def _custom_rules(self) -> CustomRules:
        # Few definitions have rules.
        from listwatch.server.custom_rules.validator import CustomRules

        return CustomRules()

    def respond(self, request: APIRequest) -> Response:
        """Carry out a request; raises the APIError to respond with."""
        self._objects.replay = request.replay
        try:
            return self._respond(request)
        finally:
            self._objects.replay = None

    def _respond(self, request: APIRequest) -> Response:
        self.add_warnings(request)
        if request.subresource and request.subresource not in PARTIAL_UPDATES:
            handler = self._handlers.get(request.subresource)
            if handler is None:
                raise resource_not_found()
            return handler(request)
        match request.verb:
            case "get":
                return self._get(request)
            case "list":
                return self._list(request)
            case "create":
                return self._create(request)
            case "update":
                return self._update(request)
            case "patch":
                return self._patch(request)
            case "delete":
                return self._delete(request)
            case "deletecollection":
                return self._delete_collection(request)
            case verb:
                raise MethodNotAllowedError.of(request.resource.plural, verb, group=request.resource.group)

    def add_warnings(self, request: APIRequest) -> None:
        """Add the warning for a deprecated kind or version to the request."""
        target = self._objects.target(request.resource)
        custom = self._objects.definitions.version(request.resource) if target.is_custom else None
        if warning := custom.warning if custom else DEPRECATION_WARNINGS.get(target.gvk):
            request.warnings.append(warning)

    # --- Get and list -------------------------------------------------------------------------------------------------

    def _get(self, request: APIRequest) -> Response:
        check_reached(read_get_minimum(request.query), self._storage.revision)
        return self._object_response(self._objects.get(request), request)

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

    def _object_response(self, stored: Stored, request: APIRequest, *, code: int = 200) -> Response:
        return Response(self._objects.encode(stored, request.resource), code, stored=stored)

    # --- Create -------------------------------------------------------------------------------------------------------

    def _create(self, request: APIRequest) -> Response:
        if request.resource.plural == "bindings" and not request.resource.group:
            return self._handlers["binding"](request)
        # 1. Decode.
        options = read_write_options(request)
        body = self._decode(request, options)
        if not self._objects.target(request.resource).traits.stored:
            return respond_to_review(self._identities, request, body.tree, self._environment.now())
        return self._create_object(request, body, options)

    def _create_object(
        self, request: APIRequest, body: Decoded, options: WriteOptions, managed: list[JSON] | None = None
    ) -> Response:
        """Create a decoded object; `managed` are its managedFields if the writer does not manage all of it."""
        target = self._objects.target(request.resource)
        # 2. Prepare: check the namespace, convert it to the stored version, set what the server sets.
        check_namespace(request, body.tree)
        if self.checks_namespaces:
            check_namespace_accepts(self._storage, request, body.tree)
        if target.is_custom:
            name = text_at(body.tree, "metadata", "name")
            self._objects.definitions.check_not_terminating(request.resource, name)
        tree = self._to_stored_version(body.tree, request, target)
        now, uid = self._environment.now(), self._environment.new_uid()
        if request.replay:
            uid = request.replay.values.setdefault("uid", uid)
        prepare_for_create(
            tree, target.stored_as, target.traits, self._schema, uid=uid, now=now, dry_run=options.dry_run
        )
        if prepare := KIND_STRATEGIES.get(target.group_kind):
            prepare(tree, None, request.user)
        # 3. Default. The writer manages what it sent and these defaults, and not what admission changes.
        apply_defaults(tree, self._schema)
        if managed is None:
            managed = self._managers.after_create(request, options, tree, _compared_as(request, target))
        # 4. Admit.
        if target.storage_id == _PODS and self.service_accounts:
            self.service_accounts.add(request, tree)
        self._admit(request, tree, None)
        if self._admission:
            apply_defaults(tree, self._schema)
        if self._policies and self._policies.active:
            tree = self._mutate(request, tree, None, target, options)
        _set_managed_fields(tree, managed)
        if add := self._additions.get(target.group_kind):
            add(tree)
        if target.storage_id == _PODS and self.priorities and self._has_priority(tree):
            self.priorities.add(tree)
        # 5. Validate and store, with another name if a generated one is taken.
        stored = self._store_new(request, tree, target, options)
        # 6. Respond.
        return self._object_response(stored, request, code=201)

    def _has_priority(self, pod: JSONObject) -> bool:
        """Most pods name no priority, and most clusters have no default."""
        assert self.priorities is not None
        return self.priorities.has_default or not _PRIORITY_FIELDS.isdisjoint(object_at(pod, "spec"))

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
            self._complete(tree, None, target)
            self._check_valid(validate_create(tree, target.stored_as), request, tree, None, target)
            if (warn := OBJECT_WARNINGS.get(target.group_kind)) and attempts_left == attempts - 1:
                request.warnings.extend(warn(tree, None))
            self._prune(tree, target)
            key = ObjectKey(request.namespace, text_at(metadata, "name"))
            self._check_pod_security(request, tree, None, target)
            if self._policies and self._policies.active:
                self._policies.validate(request, self._in_version(tree, request, target), None, dry_run=options.dry_run)
            stored_tree = self._objects.to_storage(tree, target)
            # Last: what is reserved here must be written, and the request does not start again.
            if self.quotas and request.namespace in self.quotas.namespaces:
                self.quotas.check(request, tree, None, dry_run=options.dry_run)
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

    # --- Update, patch and apply --------------------------------------------------------------------------------------

    def _update(self, request: APIRequest) -> Response:
        options = read_write_options(request)
        body = self._decode(request, options)
        check_namespace(request, body.tree)
        check_name(request, body.tree)
        target = self._objects.target(request.resource)
        existing = self._storage.get(target.storage_id, request.key)
        if existing is not None:
            check_uid(body.tree, text_at(decode_stored(existing), "metadata", "uid"), request.resource)
            return self._replace(request, existing, body, options)
        if request.subresource or not target.traits.create_on_update:
            raise not_found(request)
        return self._create_by_update(request, body, options)

    def _create_by_update(self, request: APIRequest, body: Decoded, options: WriteOptions) -> Response:
        check_uid(body.tree, "", request.resource)
        version = requested_version(body.tree)
        metadata_of(body.tree).pop("resourceVersion", None)
        if options.dry_run and version:
            metadata_of(body.tree)["resourceVersion"] = version  # as kube-apiserver does
        return self._create_object(request, body, options)

    def _patch(self, request: APIRequest) -> Response:
        custom = self._custom_version(request.resource)
        if not is_apply(request):
            check_patch_type(request.content_type, is_custom=custom is not None)
        options = read_write_options(request)
        if is_apply(request):
            return self._server_side_apply(request, options)
        existing = self._objects.get(request)
        current = msgspec.json.decode(self._objects.encode(existing, request.resource))
        patched = apply_request_patch(request, options, current, self._schema, custom)
        check_namespace(request, patched.tree)
        check_name(request, patched.tree)
        return self._replace(request, existing, patched, options)

    def _server_side_apply(self, request: APIRequest, options: WriteOptions) -> Response:
        existing = self._storage.get(self._objects.target(request.resource).storage_id, request.key)
        if existing is None and request.subresource:
            raise not_found(request)
        config = self._apply.read(request, options, is_new=existing is None)
        if existing is not None:
            live = msgspec.json.decode(self._objects.encode(existing, request.resource))
            new, managed = self._apply.merge(request, options, config, live)
            return self._replace(request, existing, new, options, managed=managed)
        check_name(request, config.tree)
        metadata_of(config.tree).pop("resourceVersion", None)
        new, managed = self._apply.merge(request, options, config, None)
        return self._create_object(request, new, options, managed)

    def _replace(
        self,
        request: APIRequest,
        existing: Stored,
        body: Decoded,
        options: WriteOptions,
        *,
        managed: list[JSON] | None = None,
    ) -> Response:
        """Write a changed object in the requested version; `managed` are its managedFields if they are known."""
        target = self._objects.target(request.resource)
        old = self._objects.load(existing, target)
        # 2. Default, in the stored version.
        new = self._to_stored_version(body.tree, request, target)
        apply_defaults(new, self._schema)
        if not request.subresource:
            complete_updated(new, old)
            if target.storage_id == _PODS and (add := self._additions.get(target.group_kind)):
                add(new)  # tolerations are added again
        # 3. Prepare: check the version, preserve what this request cannot change.
        check_resource_version(new, old, request.resource, target.traits)
        problems = immutable_metadata_problems(new, old)
        sent, sent_managed = new, None if request.subresource else metadata_of(new).get("managedFields")
        if partial_update := PARTIAL_UPDATES.get(request.subresource):
            new = partial_update(new, old, target)
        else:
            prepare_for_update(new, old, target.stored_as, target.traits)
            if prepare := KIND_STRATEGIES.get(target.group_kind):
                prepare(new, old, request.user)
        if managed is None:
            # kube-apiserver computes the fields of an ephemeral container's writer from all that was sent.
            seen = sent if request.subresource == "ephemeralcontainers" else new
            managed = self._managers.after_update(
                request, options, old=old, new=seen, sent=sent_managed, shaped_as=_compared_as(request, target)
            )
        # 4. Admit.
        self._admit(request, new, old)
        if self._admission:
            apply_defaults(new, self._schema)
        if self.service_accounts and target.storage_id == _PODS and request.subresource == "ephemeralcontainers":
            self.service_accounts.check_ephemeral(request, new)
        if self._policies and self._policies.active:
            new = self._mutate(request, new, old, target, options)
        _set_managed_fields(new, managed)
        self._complete(new, old, target)
        # 5. Validate.
        problems += validate_update(new, old, target.stored_as, subresource=request.subresource)
        self._check_valid(problems, request, new, old, target)
        if not request.subresource and (warn := OBJECT_WARNINGS.get(target.group_kind)):
            request.warnings.extend(warn(new, old))
        # 6. Store, unless nothing changed; an update that removes the last finalizer completes a deletion.
        self._prune(new, target)
        self._check_pod_security(request, new, old, target)
        if self._policies and self._policies.active:
            seen_new, seen_old = (self._in_version(each, request, target) for each in (new, old))
            self._policies.validate(request, seen_new, seen_old, dry_run=options.dry_run)
        is_changed = not same(new, old) and not differs_only_in_timestamps(new, old)
        if is_changed or self._objects.has_old_version(existing, target):
            stored_tree = self._objects.to_storage(new, target)
            if self.quotas and request.namespace in self.quotas.namespaces:
                self.quotas.check(request, new, old, dry_run=options.dry_run)
            existing = self._objects.update_or_remove(target.storage_id, existing, stored_tree, dry_run=options.dry_run)
        # 7. Respond.
        return self._object_response(existing, request)

    # --- Delete -------------------------------------------------------------------------------------------------------

    def _delete(self, request: APIRequest) -> Response:
        options = read_delete_options(request, self._schema)
        if self.checks_namespaces:
            check_namespace_deletable(request)
        _warn_of_orphans(request, options)
        existing = self._objects.get(request)
        last, is_removed = self.deleter.delete(request, existing, options)
        if is_removed and not self._objects.target(request.resource).traits.returns_deleted:
            return Response(_deleted_status(request, existing))
        # 202 means that the deletion is not complete; kube-apiserver uses it only with orphanDependents.
        code = 202 if options.orphan is False and not is_removed else 200
        return self._object_response(last, request, code=code)

    def _delete_collection(self, request: APIRequest) -> Response:
        selected = read_list_options(request, self._objects.registry)
        options = read_delete_options(request, self._schema)
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

    # --- Steps --------------------------------------------------------------------------------------------------------

    def _custom_version(self, resource: Resource) -> CustomVersion | None:
        """Return the version that a CustomResourceDefinition defines; None for other resources."""
        if not self._objects.target(resource).is_custom:
            return None
        return self._objects.definitions.version(resource)

    def _decode(self, request: APIRequest, options: WriteOptions) -> Decoded:
        target = self._objects.target(request.resource)
        custom = self._objects.definitions.version(request.resource) if target.is_custom else None
        return decode_request_body(request, options, target.gvk, self._schema, custom)

    def _to_stored_version(self, tree: JSONObject, request: APIRequest, target: Target) -> JSONObject:
        return tree if target.stored_as is request.resource else convert(tree, target.stored_as.gvk)

    def _in_version(self, tree: JSONObject, request: APIRequest, target: Target) -> JSONObject:
        """Return a stored object in the requested version."""
        return tree if target.stored_as is request.resource else convert(copied(tree), request.resource.gvk)

    def _mutate(
        self, request: APIRequest, new: JSONObject, old: JSONObject | None, target: Target, options: WriteOptions
    ) -> JSONObject:
        assert self._policies is not None
        seen = self._in_version(new, request, target)
        seen_old = self._in_version(old, request, target) if old is not None else None
        found = self._policies.mutate(request, seen, seen_old, dry_run=options.dry_run)
        if found is seen:
            return new
        try:
            found = self._decode_changed(found, request, target)
        except UnmarshalError as error:
            raise InternalServerError(f"Internal error occurred: {error}") from None
        changed = self._to_stored_version(found, request, target)
        apply_defaults(changed, self._schema)
        return changed

    def _decode_changed(self, tree: JSONObject, request: APIRequest, target: Target) -> JSONObject:
        """Decode an object that policies and webhooks have changed; raises UnmarshalError."""
        if target.is_built_in:
            return decode_tree(tree, request.resource.gvk, self._schema, StrictErrors())
        custom = self._custom_version(request.resource)
        if custom is None:
            return tree
        return decode_custom_tree(tree, request.resource.gvk, custom, self._schema, StrictErrors())

    def _admit(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None) -> None:
        for admit in self._admission:
            admit(request, new, old)

    def _complete(self, new: JSONObject, old: JSONObject | None, target: Target) -> None:
        """Set the fields that depend on other objects, or on earlier states of this one."""
        if target.storage_id == SERVICES:
            assign_addresses(new, old, self._storage.scan(SERVICES))
        elif target.storage_id == DEFINITIONS:
            complete_definition(new, old)

    def _check_pod_security(self, request: APIRequest, new: JSONObject, old: JSONObject | None, target: Target) -> None:
        security = self.pod_security
        if security is None or target.storage_id not in security.resources:
            return
        if target.storage_id == NAMESPACES or request.namespace in security.namespaces:
            security.validate(target.storage_id, request, new, old)

    def _check_valid(
        self,
        problems: Sequence[StatusCause],
        request: APIRequest,
        new: JSONObject,
        old: JSONObject | None,
        target: Target,
    ) -> None:
        """Raise InvalidError for these problems and for those with the schema of a custom resource."""
        if target.is_custom and (custom := self._custom_version(request.resource)):
            found = (
                structural_problems(new, custom.schema) if old is None else structural_problems(new, custom.schema, old)
            )
            problems = bounded(chain(problems, found))
            if custom.has_rules:
                problems = self._custom_rules.problems(custom, new, old, problems, request.warnings)
        elif target.storage_id == DEFINITIONS and not problems and has_rules(new):
            problems = self._custom_rules.definition_problems(new, old)
        elif target.storage_id in _WITH_EXPRESSIONS and not problems:
            # Few servers have policies.
            from listwatch.server.admission.policy_rules import policy_problems, webhook_problems

            check = policy_problems if target.storage_id in _POLICIES else webhook_problems
            problems = check(new, old)
        if problems:
            name = text_at(new, "metadata", "name")
            raise InvalidError.of(target.stored_as.kind, name, problems, group=target.stored_as.group)

    def _prune(self, tree: JSONObject, target: Target) -> None:
        """Drop fields of a custom object that the stored version does not have."""
        if target.is_custom and (definition := self._objects.definitions.get(target.stored_as)):
            definition.versions[target.stored_as.version].prune(tree)


def _compared_as(request: APIRequest, target: Target) -> Resource:
    """The version whose schema finds the fields of a stored object: without a converter, versions differ only in it."""
    return request.resource if target.is_custom and not target.is_converted else target.stored_as


def _set_managed_fields(tree: JSONObject, managed: list[JSON]) -> None:
    metadata = metadata_of(tree)
    metadata.pop("managedFields", None)
    if managed:
        metadata["managedFields"] = managed


def _warn_of_orphans(request: APIRequest, options: DeleteOptions) -> None:
    if request.resource.group_resource == ("batch", "jobs") and not options.policy and options.orphan is None:
        request.warnings.append(_ORPHANED_PODS_WARNING)


def _deleted_status(request: APIRequest, deleted: Stored) -> JSONObject:
    resource, uid = request.resource, text_at(decode_stored(deleted), "metadata", "uid")
    details: JSONObject = {"name": request.name, "kind": resource.plural, "uid": uid}
    if resource.group:
        details["group"] = resource.group
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
