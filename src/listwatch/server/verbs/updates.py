"""Updates, patches and applies objects.

update   decode ─▶ default ─▶ admit ─▶ prepare ─▶ validate ─▶ store ─▶ respond
patch    the stored object ─▶ patch, or server-side apply ─▶ as an update
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from listwatch.errors import StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.server.apply.managed_fields import differs_only_in_timestamps
from listwatch.server.apply.server_side_apply import ServerSideApply
from listwatch.server.codec.decoding import Decoded
from listwatch.server.codec.defaulting import apply_defaults
from listwatch.server.json_tree import copied, ensure_object, object_at, same, text_at
from listwatch.server.lifecycle.kind_strategies import KIND_STRATEGIES
from listwatch.server.lifecycle.object_store import Target, decode_stored, not_found
from listwatch.server.lifecycle.strategy import (
    check_name,
    check_namespace,
    check_resource_version,
    check_uid,
    complete_updated,
    immutable_metadata_problems,
    metadata_of,
    prepare_for_update,
    requested_version,
)
from listwatch.server.patch.patching import check_patch_type
from listwatch.server.protocol.write_options import WriteOptions, apply_request_patch, is_apply, read_write_options
from listwatch.server.requests import APIRequest, Response
from listwatch.server.rules.validation import validate_update
from listwatch.server.rules.warnings import OBJECT_WARNINGS
from listwatch.server.storage.values import Stored
from listwatch.server.verbs.admission_plugins import View
from listwatch.server.verbs.subresources import PARTIAL_UPDATES
from listwatch.server.verbs.write_steps import PODS, WriteSteps, compared_as, set_managed_fields

__all__ = ["Updates"]

_VOLUMES = "/persistentvolumes"
_TRANSITION = "lastPhaseTransitionTime"


class Create(Protocol):
    """Creates a decoded object; `managed` are its managedFields if the writer does not manage all of it."""

    def __call__(
        self, request: APIRequest, body: Decoded, options: WriteOptions, managed: list[JSON] | None = None
    ) -> Response: ...


class Updates:
    """Writes objects that exist; updates and applies of missing objects are passed on to `create`.

    `authorize_create` raises ForbiddenError if the user of such a request may not create objects.
    """

    def __init__(
        self,
        steps: WriteSteps,
        apply: ServerSideApply,
        create: Create,
        authorize_create: Callable[[APIRequest], None],
    ) -> None:
        self._steps = steps
        self._objects = steps.objects
        self._storage = steps.objects.storage
        self._schema = steps.schema
        self._managers = steps.managers
        self._apply = apply
        self._create = create
        self._authorize_create = authorize_create

    def update(self, request: APIRequest) -> Response:
        """Replace an object, or create it if its kind allows that."""
        options = read_write_options(request)
        body = self._steps.decode(request, options)
        check_namespace(request, body.tree)
        check_name(request, body.tree)
        target = self._objects.target(request.resource)
        existing = self._storage.get(target.storage_id, request.key)
        if existing is not None:
            check_uid(body.tree, text_at(decode_stored(existing), "metadata", "uid"), request.resource)
            return self.replace(request, existing, body, options)
        if request.subresource or not target.traits.create_on_update:
            raise not_found(request)
        return self._create_by_update(request, body, options)

    def _create_by_update(self, request: APIRequest, body: Decoded, options: WriteOptions) -> Response:
        check_uid(body.tree, "", request.resource)
        version = requested_version(body.tree)
        metadata_of(body.tree).pop("resourceVersion", None)
        if options.dry_run and version:
            metadata_of(body.tree)["resourceVersion"] = version  # as kube-apiserver does
        self._authorize_create(request)
        return self._create(request, body, options)

    def patch(self, request: APIRequest) -> Response:
        """Patch or apply an object."""
        custom = self._steps.custom_version(request.resource)
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
        return self.replace(request, existing, patched, options)

    def _server_side_apply(self, request: APIRequest, options: WriteOptions) -> Response:
        existing = self._storage.get(self._objects.target(request.resource).storage_id, request.key)
        if existing is None and request.subresource:
            raise not_found(request)
        config = self._apply.read(request, options)
        if existing is not None:
            live = msgspec.json.decode(self._objects.encode(existing, request.resource))
            new, managed = self._apply.merge(request, options, config, live)
            return self.replace(request, existing, new, options, managed=managed)
        metadata_of(config.tree).pop("resourceVersion", None)
        new, managed = self._apply.merge(request, options, config, None)
        self._authorize_create(request)
        return self._create(request, new, options, managed)

    def replace(
        self,
        request: APIRequest,
        existing: Stored,
        body: Decoded,
        options: WriteOptions,
        *,
        managed: list[JSON] | None = None,
        view: View | None = None,
    ) -> Response:
        """Write a changed object in the requested version; `managed` are its managedFields if they are known.

        With a `view`, policies and webhooks see only that of the object.
        """
        target = self._objects.target(request.resource)
        old = self._objects.load(existing, target)
        # 2. Default, in the stored version.
        new = self._steps.to_stored_version(body.tree, request, target)
        apply_defaults(new, self._schema)
        # 3. Admit and prepare: preserve what this request, and admission, cannot change.
        check_resource_version(new, old, request.resource, target.traits)
        new, managed, problems = self._admitted(request, new, old, target, options, managed, view)
        set_managed_fields(new, managed)
        self._steps.complete(new, old, target)
        # 4. Validate.
        problems += validate_update(new, old, target.stored_as, subresource=request.subresource)
        self._steps.check_valid(problems, request, new, old, target)
        if not request.subresource and (warn := OBJECT_WARNINGS.get(target.group_kind)):
            request.warnings.extend(warn(new, old))
        # 5. Store, unless nothing changed; an update that removes the last finalizer completes a deletion.
        self._steps.prune(new, target)
        self._steps.check_pod_security(request, new, old, target)
        self._steps.check_default_priority(new, target)
        self._steps.check_resize(request, new, old, target)
        self._steps.check_policies(request, new, old, target, options, view)
        is_changed = not same(new, old) and not differs_only_in_timestamps(new, old)
        if is_changed or self._objects.has_old_form(existing, target):
            stored_tree = self._objects.to_storage(new, target)
            if self._steps.quotas and request.namespace in self._steps.quotas.namespaces:
                self._steps.quotas.check(request, new, old, dry_run=options.dry_run)
            existing = self._objects.update_or_remove(target.storage_id, existing, stored_tree, dry_run=options.dry_run)
        # 6. Respond.
        return self._steps.response(existing, request)

    def _admitted(
        self,
        request: APIRequest,
        new: JSONObject,
        old: JSONObject,
        target: Target,
        options: WriteOptions,
        managed: list[JSON] | None,
        view: View | None,
    ) -> tuple[JSONObject, list[JSON], list[StatusCause]]:
        """Return the object to write, its managedFields, and problems with its metadata.

        As in kube-apiserver, admission gets the object as it was sent.
        """
        steps, can_mutate = self._steps, self._steps.can_mutate
        is_completed = target.storage_id == PODS and not request.subresource
        problems = immutable_metadata_problems(new, old)
        sent_managed = None if request.subresource else metadata_of(new).get("managedFields")
        is_partial = request.subresource in PARTIAL_UPDATES
        if managed is None and target.is_custom and is_partial and not self._managers.conforms(new, request.resource):
            managed = []  # as in kube-apiserver, although what does not conform is not stored
        prepared = self._prepared(request, copied(new) if can_mutate or is_completed else new, old, target)
        if managed is None:
            # kube-apiserver computes the fields of an ephemeral container's writer from all that was sent.
            seen = new if request.subresource == "ephemeralcontainers" else prepared
            managed = self._managers.after_update(
                request, options, old=old, new=seen, sent=sent_managed, shaped_as=compared_as(request, target)
            )
        if is_completed:
            # Admission plugins restore what they have set before, after the managers of what was sent are known.
            complete_updated(new, old)
            steps.add_fields(request, new, target, is_new=False)
            if not can_mutate:
                prepared = self._prepared(request, new, old, target)
        if can_mutate:
            set_managed_fields(new, managed)
            new = steps.admit_and_mutate(request, new, old, target, options, view)
            check_namespace(request, new)
            check_resource_version(new, old, request.resource, target.traits)
            problems = immutable_metadata_problems(new, old)
            prepared = self._prepared(request, new, old, target)
        if steps.check_escalation:
            steps.check_escalation(request, prepared, old)
        if steps.service_accounts and target.storage_id == PODS and request.subresource == "ephemeralcontainers":
            steps.service_accounts.check_ephemeral(request, prepared)
        return prepared, managed, problems

    def _prepared(self, request: APIRequest, new: JSONObject, old: JSONObject, target: Target) -> JSONObject:
        """Return the object with what this request cannot change; the given one may be changed."""
        if partial_update := PARTIAL_UPDATES.get(request.subresource):
            new = partial_update(new, old, target)
            if target.storage_id == _VOLUMES and request.subresource == "status":
                _set_transition_time(new, old, self._managers.now())
            return new
        prepare_for_update(new, old, target.stored_as, target.traits)
        if prepare := KIND_STRATEGIES.get(target.group_kind):
            prepare(new, old, request.user)
        return new


def _set_transition_time(new: JSONObject, old: JSONObject, now: str) -> None:
    """Set when the phase of a PersistentVolume changed, unless the client did."""
    status, before = ensure_object(new, "status"), object_at(old, "status")
    time, known = text_at(status, _TRANSITION), text_at(before, _TRANSITION)
    if text_at(status, "phase") != text_at(before, "phase"):
        if time in ("", known):
            status[_TRANSITION] = now
    elif not time and known:
        status[_TRANSITION] = known
