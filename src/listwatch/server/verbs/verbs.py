"""Does what requests ask for: reads a body, applies the rules, writes to the storage, and answers.

    create   body ─▶ decode ─▶ convert ─▶ begin_life, admit, defaults, validate ─▶ storage
    update   body ─▶ decode ─▶ convert ─▶ carry_over, admit, defaults, validate ─▶ storage, or the end of a deletion
    patch    what is there ─▶ patch ─▶ as an update

It is synchronous, so nothing comes between reading an object and writing it. `deleting` has the deletions,
`subresources` the side doors, `watching` the watches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import msgspec

from listwatch.errors import (
    AlreadyExistsError,
    InvalidError,
    MethodNotAllowedError,
    NotFoundError,
    StatusCause,
    StatusDetails,
)
from listwatch.meta import GroupVersionKind, ObjectKey, Resource
from listwatch.server.apply.managed_fields import FieldManagers, differs_only_in_timestamps
from listwatch.server.codec.conversion import convert
from listwatch.server.codec.decoding import Decoded, decode_body
from listwatch.server.codec.defaulting import apply_defaults
from listwatch.server.codec.representations import encode_object, with_resource_version
from listwatch.server.crd.custom_decoding import decode_custom_body
from listwatch.server.crd.definitions import DEFINITIONS, Definitions
from listwatch.server.json_tree import Tree
from listwatch.server.lifecycle.creation import complete_changed, complete_new
from listwatch.server.lifecycle.definition_lifecycle import complete_definition
from listwatch.server.lifecycle.namespace_rules import check_room
from listwatch.server.lifecycle.semantics import (
    begin_life,
    carry_over,
    check_identity,
    check_name,
    check_namespace,
    check_version,
    is_unchanged,
    metadata_of,
    problems_of_identity,
    read_version,
)
from listwatch.server.lifecycle.service_addresses import SERVICES, assign_addresses
from listwatch.server.lifecycle.stored_objects import StoredObjects, decoded
from listwatch.server.patch.patching import apply_patch
from listwatch.server.protocol.list_options import check_reached, read_get_minimum, read_list_options
from listwatch.server.protocol.write_options import WriteOptions, read_write_options
from listwatch.server.requests import APIRequest, ListResponse, Response
from listwatch.server.rules.structural_validation import structural_problems
from listwatch.server.rules.validation import validate_create, validate_update
from listwatch.server.schema.registry import Registry, Traits
from listwatch.server.schema.schema import Schema
from listwatch.server.storage.storage import KeyExistsError, Storage, Stored
from listwatch.server.verbs.applying import apply, is_apply
from listwatch.server.verbs.deleting import delete, delete_collection
from listwatch.server.verbs.listing import list_objects
from listwatch.server.verbs.reviews import Identities, answer_review
from listwatch.server.verbs.subresources import answer_subresource, bind

__all__ = ["Admission", "Change", "Origin", "Target", "Verbs"]

_NAME_TRIES = 8
_MAX_GENERATED_BASE = 58


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
    is_built_in: bool = True


Change = Callable[[Tree, Tree, Target], Tree]
"""Makes what is to be stored of what came and what is there."""


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
        self.objects = StoredObjects(storage)
        self.registry = registry
        self.definitions = Definitions()
        self.managers = FieldManagers(schema, self.definitions, origin.now)
        self.schema = schema
        self.origin = origin
        self.identities = identities
        self._admission = admission
        self._targets: dict[tuple[str, str, str], Target] = {}
        self._targets_generation = registry.generation

    def respond(self, request: APIRequest) -> Response:
        """Do what is asked; raises the APIError to answer with."""
        version = self.definitions.version(request.resource)
        if version and version.warning:
            request.warnings.append(version.warning)
        return answer_subresource(self, request) if request.subresource else self._answer_plain(request)

    def _answer_plain(self, request: APIRequest) -> Response:
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
                return delete(self, request)
            case "deletecollection":
                return delete_collection(self, request)
            case verb:
                raise MethodNotAllowedError.of(request.resource.plural, verb, group=request.resource.group)

    def target(self, resource: Resource) -> Target:
        """Where the objects of a resource are kept."""
        registry = self.registry
        if registry.generation != self._targets_generation:
            self._targets, self._targets_generation = {}, registry.generation
        known = resource.group, resource.version, resource.plural
        target = self._targets.get(known)
        if target is None:
            form, storage_id = registry.storage_form(resource), registry.storage_id(resource)
            is_built_in = self.schema.type_of(resource.api_version, resource.kind) is not None
            target = Target(form, registry.traits(resource), storage_id, is_built_in)
            self._targets[known] = target
        return target

    # --- reading -----------------------------------------------------------------------------------------------------

    def get(self, request: APIRequest) -> Response:
        check_reached(read_get_minimum(request.query), self.storage.revision)
        return Response(self.sent(self.stored(request), request.resource))

    def list(self, request: APIRequest) -> Response:
        target = self.target(request.resource)
        listing = list_objects(self.storage, target.storage_id, read_list_options(request, self.registry))
        return Response(
            ListResponse(
                request.resource,
                self.all_sent(listing.items, request.resource),
                str(listing.revision),
                listing.continue_token,
                listing.remaining_item_count,
                items_keep_kind=not target.is_built_in,
            )
        )

    def stored(self, request: APIRequest) -> Stored:
        """The object that a request names; raises NotFoundError."""
        found = self.storage.get(self.target(request.resource).storage_id, request.key)
        if found is None:
            raise not_found(request)
        return found

    def sent(self, stored: Stored, resource: Resource) -> bytes:
        """A stored object in the version that was asked for."""
        return self.all_sent([stored], resource)[0]

    def all_sent(self, stored: Sequence[Stored], resource: Resource) -> Sequence[bytes]:
        if definition := self.definitions.of(resource):
            return [definition.sent(each, resource.version) for each in stored]
        if self.target(resource).form is resource:
            return [each.value for each in stored]
        return [encode_object(convert(decoded(each), resource.gvk)) for each in stored]

    def _loaded(self, stored: Stored, target: Target) -> Tree:
        """A stored object as a tree that nobody else holds, in the form in which such are stored now."""
        definition = self.definitions.of(target.form)
        return definition.converted(decoded(stored), target.form.version) if definition else decoded(stored)

    # --- create ------------------------------------------------------------------------------------------------------

    def create(self, request: APIRequest) -> Response:
        if request.resource.plural == "bindings" and not request.resource.group:
            return bind(self, request)
        options = read_write_options(request)
        body = self.read_body(request, options)
        if not self.registry.traits(request.resource).stored:
            return answer_review(self.identities, request, body.tree)
        return self.create_object(request, body, options)

    def create_object(
        self, request: APIRequest, body: Decoded, options: WriteOptions, managed: Tree | None = None
    ) -> Response:
        """Write a new object; `managed` says who manages its fields, if that is not who creates it."""
        target, now = self.target(request.resource), self.origin.now()
        check_namespace(request, body.tree)
        name = metadata_of(body.tree).get("name") or ""
        check_room(self.storage, request, name)
        self.definitions.check_accepting(request.resource, name)
        tree = convert(body.tree, target.form.gvk)
        begin_life(tree, target.form, target.traits, self.schema, uid=self.origin.new_uid(), now=now)
        self.admit(request, tree, None)
        apply_defaults(tree, self.schema)
        if managed is None:
            managed = self.managers.after_create(request, options, tree, target.form)
        _put_managed(tree, managed)
        stored = self._create_named(request, tree, target, options)
        return Response(self.sent(stored, request.resource), code=201)

    def _create_named(self, request: APIRequest, tree: Tree, target: Target, options: WriteOptions) -> Stored:
        metadata = metadata_of(tree)
        base = metadata.get("generateName") if not metadata.get("name") else ""
        for tries_left in reversed(range(_NAME_TRIES if base else 1)):
            if base:
                metadata["name"] = base[:_MAX_GENERATED_BASE] + self.origin.suffix()
            self._complete(tree, None, target)
            problems = [*validate_create(tree, target.form), *self._custom_problems(request.resource, tree)]
            self._check_valid(problems, tree, target)
            tree = self._in_stored_form(tree, target)
            key = ObjectKey(request.namespace, metadata["name"])
            try:
                return self.objects.create(target.storage_id, key, tree, dry_run=options.dry_run)
            except KeyExistsError:
                if not tries_left:
                    raise self._taken(request, key, target, generated=bool(base)) from None
        raise AssertionError("a name is either taken or not")

    def _taken(self, request: APIRequest, key: ObjectKey, target: Target, *, generated: bool) -> AlreadyExistsError:
        resource = request.resource
        error = AlreadyExistsError.of(resource.plural, key.name, group=resource.group)
        if generated:
            details = StatusDetails(name=key.name, group=resource.group, kind=resource.plural, retry_after_seconds=1)
            why = "the server was not able to generate a unique name for the object"
            return AlreadyExistsError(f"{error.message}, {why}", details=details)
        present = self.storage.get(target.storage_id, key)
        if present and "deletionTimestamp" in decoded(present)["metadata"]:
            return AlreadyExistsError(f"object is being deleted: {error.message}", details=error.details)
        return error

    # --- update ------------------------------------------------------------------------------------------------------

    def update(self, request: APIRequest) -> Response:
        options = read_write_options(request)
        body = self.read_body(request, options)
        check_namespace(request, body.tree)
        check_name(request, body.tree)
        target = self.target(request.resource)
        existing = self.storage.get(target.storage_id, request.key)
        if existing is not None:
            check_identity(body.tree, decoded(existing)["metadata"]["uid"], request.resource)
            return self.replace(request, existing, body, options)
        if not target.traits.create_on_update:
            raise not_found(request)
        check_identity(body.tree, "", request.resource)
        version = read_version(body.tree)
        metadata_of(body.tree).pop("resourceVersion", None)
        answer = self.create_object(request, body, options)
        if options.dry_run and version:
            assert isinstance(answer.body, bytes)
            answer.body = with_resource_version(answer.body, int(version))  # as the real server has it
        return answer

    def patch(self, request: APIRequest) -> Response:
        options = read_write_options(request)
        if is_apply(request):
            return apply(self, request, options)
        existing = self.stored(request)
        patched = self.read_patch(request, msgspec.json.decode(self.sent(existing, request.resource)), options)
        check_namespace(request, patched.tree)
        check_name(request, patched.tree)
        return self.replace(request, existing, patched, options)

    def replace(
        self,
        request: APIRequest,
        existing: Stored,
        body: Decoded,
        options: WriteOptions,
        *,
        change: Change | None = None,
        managed: Tree | None = None,
    ) -> Response:
        """Write a changed object, which came in the version that was asked for.

        Without a `change`, all is new but what is the server's own. `managed` says who manages its fields then, if that
        is known already.
        """
        target = self.target(request.resource)
        old = self._loaded(existing, target)
        new = convert(body.tree, target.form.gvk)
        apply_defaults(new, self.schema)
        if not request.subresource:
            complete_changed(new, old)
        check_version(new, old, request.resource, target.traits)
        problems = problems_of_identity(new, old)
        told = None if request.subresource else metadata_of(new).get("managedFields")
        sent = new
        if change is not None:
            new = change(new, old, target)
        else:
            carry_over(new, old, target.form, target.traits)
        self.admit(request, new, old)
        if self._admission:
            apply_defaults(new, self.schema)
        if managed is None:
            # Who adds a container to look around manages all that was sent, though nothing else of it is taken.
            seen = sent if request.subresource == "ephemeralcontainers" else new
            managed = self.managers.after_update(request, options, old=old, new=seen, sent=told, stored=target.form)
        _put_managed(new, managed)
        self._complete(new, old, target)
        problems += validate_update(new, old, target.form, subresource=request.subresource)
        problems += self._custom_problems(request.resource, new, old)
        self._check_valid(problems, new, target)
        new = self._in_stored_form(new, target)
        if not is_unchanged(new, old) and not differs_only_in_timestamps(new, old):
            existing = self.objects.change(target.storage_id, existing, new, dry_run=options.dry_run)
        return Response(self.sent(existing, request.resource))

    # --- the steps of all of them ------------------------------------------------------------------------------------

    def read_body(self, request: APIRequest, options: WriteOptions, gvk: GroupVersionKind | None = None) -> Decoded:
        """The object in a request's body, of the resource's kind or of another."""
        expected = gvk or request.resource.gvk
        strictness = options.field_validation or "Warn"
        content = request.body, request.content_type
        if gvk is None and (version := self.definitions.version(request.resource)):
            found = decode_custom_body(*content, version, self.schema, field_validation=strictness)
        else:
            found = decode_body(*content, expected, self.schema, field_validation=strictness)
        request.warnings += found.warnings
        return found

    def read_patch(self, request: APIRequest, tree: Tree, options: WriteOptions) -> Decoded:
        """What a request's patch makes of an object."""
        strictness = options.field_validation or "Warn"
        version = self.definitions.version(request.resource) if tree["kind"] == request.resource.kind else None
        found = apply_patch(
            request.content_type, request.body, tree, self.schema, field_validation=strictness, custom=version
        )
        request.warnings += found.warnings
        return found

    def admit(self, request: APIRequest, new: Tree | None, old: Tree | None) -> None:
        for admit in self._admission:
            admit(request, new, old)

    def _complete(self, new: Tree, old: Tree | None, target: Target) -> None:
        """What the server adds that depends on more than the object itself."""
        if old is None:
            complete_new(new)
        if target.storage_id == SERVICES:
            assign_addresses(new, old, self.storage.scan(SERVICES))
        elif target.storage_id == DEFINITIONS:
            complete_definition(new, old)

    def _custom_problems(self, resource: Resource, new: Tree, old: Tree | None = None) -> Sequence[StatusCause]:
        """What is wrong with a custom object by the schema of the version in which it came."""
        version = self.definitions.version(resource)
        if version is None:
            return ()
        return list(structural_problems(new, version.schema, *([] if old is None else [old])))

    def _in_stored_form(self, tree: Tree, target: Target) -> Tree:
        """With only what the version that is stored knows."""
        definition = self.definitions.of(target.form)
        if definition:
            definition.versions[target.form.version].drop_unknown(tree)
        return tree

    def _check_valid(self, problems: Sequence[StatusCause], tree: Tree, target: Target) -> None:
        if problems:
            name = metadata_of(tree).get("name") or ""
            raise InvalidError.of(target.form.kind, name, problems, group=target.form.group)


def _put_managed(tree: Tree, managed: Tree) -> None:
    metadata = metadata_of(tree)
    metadata.pop("managedFields", None)
    if managed:
        metadata["managedFields"] = managed


def not_found(request: APIRequest) -> NotFoundError:
    return NotFoundError.of(request.resource.plural, request.name, group=request.resource.group)
