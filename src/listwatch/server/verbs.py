"""Does what requests ask for: reads a body, applies the rules, writes to the storage, and answers.

    create   body ─▶ decode ─▶ convert ─▶ admit ─▶ begin_life, defaults, validate ─▶ storage
    update   body ─▶ decode ─▶ convert ─▶ carry_over, admit, defaults, validate ─▶ storage, or the end of a deletion
    patch    what is there ─▶ patch ─▶ as an update
    delete   what is there ─▶ plan_deletion ─▶ nothing, a mark, or the end

It is synchronous, so nothing comes between reading an object and writing it. `subresources` has the side doors,
`watching` the watches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

import msgspec

from listwatch.errors import (
    AlreadyExistsError,
    ForbiddenError,
    InvalidError,
    MethodNotAllowedError,
    NotFoundError,
    StatusCause,
    StatusDetails,
)
from listwatch.meta import GroupVersionKind, ObjectKey, Resource
from listwatch.server.conversion import convert
from listwatch.server.decoding import Decoded, decode_object
from listwatch.server.defaulting import apply_defaults
from listwatch.server.deletion import Keep, Mark, check_preconditions, is_finished, plan_deletion
from listwatch.server.list_options import check_reached, read_get_minimum, read_list_options
from listwatch.server.listing import list_objects
from listwatch.server.patching import apply_patch
from listwatch.server.registry import Registry, Traits
from listwatch.server.representations import encode_object
from listwatch.server.requests import Answer, APIRequest, ListAnswer
from listwatch.server.reviews import Identities, answer_review
from listwatch.server.schema import Schema
from listwatch.server.semantics import (
    begin_life,
    carry_over,
    check_name,
    check_namespace,
    check_version,
    is_unchanged,
    metadata_of,
)
from listwatch.server.storage import KeyExistsError, Storage, Stored
from listwatch.server.trees import Tree, child
from listwatch.server.validation import validate_create, validate_update
from listwatch.server.write_options import DeleteOptions, WriteOptions, read_delete_options, read_write_options

__all__ = ["Admission", "Origin", "Target", "Verbs"]

_NAME_TRIES = 8
_MAX_GENERATED_BASE = 58
_IMMORTAL = frozenset({"default", "kube-system", "kube-public"})
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


@dataclass(frozen=True, slots=True)
class Origin:
    """Where what cannot be computed comes from: the time, new identities, and chance."""

    now: Callable[[], datetime]
    new_uid: Callable[[], str]
    suffix: Callable[[], str]
    """Five characters to make a name unique with."""


class Admission(Protocol):
    """Looks at an object before it is written: may change `new`, or raise an APIError to refuse it."""

    def __call__(self, request: APIRequest, new: Tree | None, old: Tree | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about: the resource as it is stored, how it behaves, and its name in the storage."""

    form: Resource
    traits: Traits
    storage_id: str


class Verbs:
    """Answers every request for resources but watches."""

    def __init__(
        self,
        storage: Storage,
        registry: Registry,
        schema: Schema,
        origin: Origin,
        *,
        identities: Identities,
        admission: Sequence[Admission] = (),
    ) -> None:
        self.storage = storage
        self.registry = registry
        self.schema = schema
        self.origin = origin
        self.identities = identities
        self._admission = admission

    def answer(self, request: APIRequest) -> Answer:
        """Do what is asked on an object or a collection; raises the APIError to answer with."""
        match request.verb:
            case "get":
                return self.get(request)
            case "list":
                return self.list(request)
            case "create":
                return self.create(request)
            case "update":
                return self.update(request)
            case "patch":
                return self.patch(request)
            case "delete":
                return self.delete(request)
            case "deletecollection":
                return self.delete_collection(request)
            case verb:
                raise MethodNotAllowedError.of(request.resource.plural, verb, group=request.resource.group)

    def target(self, request: APIRequest) -> Target:
        """Where the objects that a request is about are kept."""
        resource = request.resource
        return Target(
            self.registry.storage_form(resource), self.registry.traits(resource), self.registry.storage_id(resource)
        )

    # --- reading -----------------------------------------------------------------------------------------------------

    def get(self, request: APIRequest) -> Answer:
        check_reached(read_get_minimum(request.query), self.storage.revision)
        return Answer(self.sent(self.stored(request), request.resource))

    def list(self, request: APIRequest) -> Answer:
        target = self.target(request)
        listing = list_objects(self.storage, target.storage_id, read_list_options(request, self.registry))
        return Answer(
            ListAnswer(
                request.resource,
                [self.sent(stored, request.resource) for stored in listing.items],
                str(listing.revision),
                listing.continue_token,
                listing.remaining_item_count,
            )
        )

    def stored(self, request: APIRequest) -> Stored:
        """The object that a request names; raises NotFoundError."""
        found = self.storage.get(self.target(request).storage_id, request.key)
        if found is None:
            raise NotFoundError.of(request.resource.plural, request.name, group=request.resource.group)
        return found

    def sent(self, stored: Stored, resource: Resource) -> bytes:
        """A stored object in the version that was asked for."""
        if self.registry.storage_form(resource) is resource:
            return stored.value
        return encode_object(convert(_decoded(stored), resource.gvk))

    # --- create ------------------------------------------------------------------------------------------------------

    def create(self, request: APIRequest) -> Answer:
        options = read_write_options(request)
        decoded = self.read_body(request, options)
        if not self.registry.traits(request.resource).stored:
            return answer_review(self.identities, request, decoded.tree)
        return self.create_object(request, decoded.tree, options, decoded.warnings)

    def create_object(
        self, request: APIRequest, tree: Tree, options: WriteOptions, warnings: tuple[str, ...] = ()
    ) -> Answer:
        """Store an object that is new, in the version that was asked for."""
        target = self.target(request)
        check_namespace(request, tree)
        self._check_room(request)
        tree = convert(tree, target.form.gvk)
        begin_life(tree, target.form, target.traits, uid=self.origin.new_uid(), now=self.origin.now())
        self._admit(request, tree, None)
        apply_defaults(tree, self.schema)
        stored = self._create_named(request, tree, target, options)
        return Answer(self.sent(stored, request.resource), code=201, warnings=warnings)

    def _create_named(self, request: APIRequest, tree: Tree, target: Target, options: WriteOptions) -> Stored:
        metadata = metadata_of(tree)
        base = metadata.get("generateName") if not metadata.get("name") else ""
        for tries_left in reversed(range(_NAME_TRIES if base else 1)):
            if base:
                metadata["name"] = base[:_MAX_GENERATED_BASE] + self.origin.suffix()
            self._check_valid(validate_create(tree, target.form), tree, target)
            key = ObjectKey(request.namespace, metadata["name"])
            try:
                return self._commit(target, key, tree, None, options)
            except KeyExistsError:
                if not tries_left:
                    raise AlreadyExistsError.of(
                        request.resource.plural, key.name, group=request.resource.group
                    ) from None
        raise AssertionError("a name is either taken or not")

    def _check_room(self, request: APIRequest) -> None:
        """Its namespace is there, and not about to go."""
        if not request.resource.namespaced:
            return
        namespace = self.storage.get("/namespaces", ObjectKey("", request.namespace))
        if namespace is None:
            raise NotFoundError.of("namespaces", request.namespace)
        if child(_decoded(namespace), "metadata", "deletionTimestamp"):
            why = f"unable to create new content in namespace {request.namespace} because it is being terminated"
            cause = StatusCause(
                "NamespaceTerminating", f"namespace {request.namespace} is being terminated", "metadata.namespace"
            )
            error = ForbiddenError.of(request.resource.plural, request.name, why, group=request.resource.group)
            details = StatusDetails(
                name=request.name, group=request.resource.group, kind=request.resource.plural, causes=(cause,)
            )
            raise ForbiddenError(error.message, details=details)

    # --- update ------------------------------------------------------------------------------------------------------

    def update(self, request: APIRequest) -> Answer:
        options = read_write_options(request)
        decoded = self.read_body(request, options)
        check_namespace(request, decoded.tree)
        check_name(request, decoded.tree)
        target = self.target(request)
        existing = self.storage.get(target.storage_id, request.key)
        if existing is None:
            if not target.traits.create_on_update:
                raise NotFoundError.of(request.resource.plural, request.name, group=request.resource.group)
            metadata_of(decoded.tree).pop("resourceVersion", None)
            return self.create_object(request, decoded.tree, options, decoded.warnings)
        return self.replace(request, existing, decoded.tree, options, decoded.warnings)

    def patch(self, request: APIRequest) -> Answer:
        options = read_write_options(request)
        existing = self.stored(request)
        patched = self.read_patch(request, msgspec.json.decode(self.sent(existing, request.resource)), options)
        check_namespace(request, patched.tree)
        check_name(request, patched.tree)
        return self.replace(request, existing, patched.tree, options, patched.warnings)

    def replace(
        self,
        request: APIRequest,
        existing: Stored,
        new: Tree,
        options: WriteOptions,
        warnings: tuple[str, ...] = (),
        *,
        change: Callable[[Tree, Tree, Target], Tree] | None = None,
    ) -> Answer:
        """Write a changed object, in the version that was asked for.

        `change` makes what is to be stored of what came and what is there; without it all but the server's own is new.
        """
        target = self.target(request)
        old = _decoded(existing)
        new = convert(new, target.form.gvk)
        check_version(new, old, request.resource, target.traits)
        if change is not None:
            new = change(new, old, target)
        else:
            carry_over(new, old, target.form, target.traits)
        self._admit(request, new, old)
        apply_defaults(new, self.schema)
        problems = validate_update(new, old, target.form, subresource=request.subresource)
        self._check_valid(problems, new, target)
        stored = existing if is_unchanged(new, old) else self._write_changed(target, existing, new, options)
        return Answer(self.sent(stored, request.resource), warnings=warnings)

    def _write_changed(self, target: Target, existing: Stored, new: Tree, options: WriteOptions) -> Stored:
        if is_finished(new):
            return self._remove(target, existing, new, dry_run=options.dry_run)
        return self._commit(target, existing.key, new, existing, options)

    # --- delete ------------------------------------------------------------------------------------------------------

    def delete(self, request: APIRequest) -> Answer:
        options = read_delete_options(request, self.schema)
        existing = self.stored(request)
        return self.delete_object(request, existing, options)

    def delete_object(self, request: APIRequest, existing: Stored, options: DeleteOptions) -> Answer:
        """Delete one object, or begin to."""
        target, old = self.target(request), _decoded(existing)
        self._check_mortal(request)
        check_preconditions(old, options, target.form)
        self._admit(request, None, old)
        plan = plan_deletion(old, options, target.form, target.traits, self.origin.now())
        match plan:
            case Keep():
                return self._deleted(request, existing, is_gone=False, options=options)
            case Mark(tree):
                marked = existing
                if not is_unchanged(tree, old):
                    marked = self._commit(target, existing.key, tree, existing, WriteOptions(dry_run=options.dry_run))
                return self._deleted(request, marked, is_gone=False, options=options)
            case _:
                removed = self._remove(target, existing, old, dry_run=options.dry_run)
                return self._deleted(request, removed, is_gone=True, options=options)

    def delete_collection(self, request: APIRequest) -> Answer:
        options = read_delete_options(request, self.schema)
        target = self.target(request)
        listing = list_objects(self.storage, target.storage_id, read_list_options(request, self.registry))
        for stored in listing.items:
            one = replace(request, namespace=stored.key.namespace, name=stored.key.name)
            self.delete_object(one, stored, options)
        items = [self.sent(stored, request.resource) for stored in listing.items]
        return Answer(ListAnswer(request.resource, items, str(listing.revision), listing.continue_token))

    def _deleted(self, request: APIRequest, stored: Stored, *, is_gone: bool, options: DeleteOptions) -> Answer:
        resource = request.resource
        if not is_gone or str(resource.group_resource) in _RETURN_THE_DELETED:
            # 202 says: not yet. Only the oldest way to ask is answered so.
            return Answer(self.sent(stored, resource), code=202 if options.orphan is False and not is_gone else 200)
        uid = child(_decoded(stored), "metadata", "uid")
        details = {"name": request.name, "kind": resource.plural, "uid": uid}
        if resource.group:
            details["group"] = resource.group
        return Answer({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})

    def _check_mortal(self, request: APIRequest) -> None:
        if str(request.resource.group_resource) == "namespaces" and request.name in _IMMORTAL:
            raise ForbiddenError.of("namespaces", request.name, "this namespace may not be deleted")

    # --- the steps of all of them ------------------------------------------------------------------------------------

    def read_body(self, request: APIRequest, options: WriteOptions, gvk: GroupVersionKind | None = None) -> Decoded:
        """The object in a request's body, of the resource's kind or of another."""
        expected = gvk or request.resource.gvk
        strictness = options.field_validation or "Warn"
        return decode_object(request.body, request.content_type, expected, self.schema, field_validation=strictness)

    def read_patch(self, request: APIRequest, tree: Tree, options: WriteOptions) -> Decoded:
        """What a request's patch makes of an object."""
        strictness = options.field_validation or "Warn"
        return apply_patch(request.content_type, request.body, tree, self.schema, field_validation=strictness)

    def _admit(self, request: APIRequest, new: Tree | None, old: Tree | None) -> None:
        for admit in self._admission:
            admit(request, new, old)

    def _check_valid(self, problems: Sequence[StatusCause], tree: Tree, target: Target) -> None:
        if problems:
            name = metadata_of(tree).get("name") or ""
            raise InvalidError.of(target.form.kind, name, problems, group=target.form.group)

    def _commit(
        self, target: Target, key: ObjectKey, tree: Tree, existing: Stored | None, options: WriteOptions
    ) -> Stored:
        """Write, or do all but that."""
        encode = _encoder(tree)
        if options.dry_run:
            if existing is None and self.storage.get(target.storage_id, key):
                raise KeyExistsError
            return Stored(key, encode(existing.revision if existing else 0), existing.revision if existing else 0)
        if existing is None:
            return self.storage.create(target.storage_id, key, encode)
        return self.storage.update(target.storage_id, key, encode, expected=existing.revision)

    def write(self, storage_id: str, existing: Stored, tree: Tree) -> Stored:
        """The server's own change of an object, which nobody has to allow; it may be the end of a deletion."""
        write = self.storage.delete if is_finished(tree) else self.storage.update
        return write(storage_id, existing.key, _encoder(tree), expected=existing.revision)

    def _remove(self, target: Target, existing: Stored, last: Tree, *, dry_run: bool) -> Stored:
        if dry_run:
            return existing
        self.storage.delete(target.storage_id, existing.key, _encoder(last), expected=existing.revision)
        # Who deleted it is answered with the object as it was; only those who watch see the version of its end.
        return existing


def _decoded(stored: Stored) -> Tree:
    return msgspec.json.decode(stored.value)


def _encoder(tree: Tree) -> Callable[[int], bytes]:
    def encode(revision: int) -> bytes:
        metadata = {**tree["metadata"]}
        metadata.pop("resourceVersion", None)
        if revision:
            metadata["resourceVersion"] = str(revision)
        return encode_object({**tree, "metadata": metadata})

    return encode
