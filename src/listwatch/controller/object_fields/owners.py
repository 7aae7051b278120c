"""Owner references. The garbage collector of the server deletes an object when all of its owners are gone.

pod.metadata.owner_references            all owners
set_controller(pod, deployment)          the managing owner: with `owns=[Pod]`, a change of the pod reconciles it
"""

from __future__ import annotations

from listwatch.errors import UsageError
from listwatch.meta import split_api_version
from listwatch.objects.metadata import OwnerReference
from listwatch.objects.object import Object

__all__ = ["controller_of", "is_controlled_by", "owner_reference", "set_controller", "set_owner"]


def owner_reference(owner: Object, *, controller: bool = True, block_owner_deletion: bool = True) -> OwnerReference:
    """The reference to an owner, as in `metadata.owner_references`."""
    if not owner.uid:
        raise UsageError(
            f"{owner.describe()} cannot be an owner: it has no uid; use an object that was read from a server"
        )
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.name,
        uid=owner.uid,
        controller=controller or None,
        block_owner_deletion=block_owner_deletion or None,
    )


def controller_of(item: Object) -> OwnerReference | None:
    """The reference to the managing owner, which has `controller: true`; None if there is none."""
    return next((each for each in item.metadata.owner_references if each.controller), None)


def is_controlled_by(item: Object, owner: Object) -> bool:
    """Whether this owner, by uid, manages the object."""
    found = controller_of(item)
    return found is not None and found.uid == owner.uid


def set_controller(item: Object, owner: Object, *, block_owner_deletion: bool = True) -> None:
    """Set the managing owner of an object, in place; raises UsageError if another owner manages it."""
    present = controller_of(item)
    if present is not None and present.uid != owner.uid:
        raise UsageError(
            f"{item.describe()} is already managed by {present.kind} {present.name} "
            f"and cannot be managed by {owner.describe()}"
        )
    _add(item, owner, owner_reference(owner, block_owner_deletion=block_owner_deletion))


def set_owner(item: Object, owner: Object, *, block_owner_deletion: bool = False) -> None:
    """Add an owner that does not manage the object, in place; the object is deleted with the last of its owners."""
    _add(item, owner, owner_reference(owner, controller=False, block_owner_deletion=block_owner_deletion))


def _add(item: Object, owner: Object, reference: OwnerReference) -> None:
    if owner.namespace and owner.namespace != item.namespace:
        place = f"in namespace {item.namespace!r}" if item.namespace else "cluster-scoped"
        raise UsageError(
            f"{owner.describe()} cannot own {item.describe()}, which is {place}: "
            "a namespaced owner must be in the same namespace"
        )
    others = [each for each in item.metadata.owner_references if not _is_same(each, reference)]
    item.metadata.owner_references = [*others, reference]


def _is_same(one: OwnerReference, other: OwnerReference) -> bool:
    if one.uid and one.uid == other.uid:
        return True
    groups = {split_api_version(each.api_version)[0] for each in (one, other)}
    return len(groups) == 1 and (one.kind, one.name) == (other.kind, other.name)
