"""Who an object belongs to. The server's garbage collector takes away what belongs to nobody any more.

pod.metadata.owner_references            all owners
set_controller(pod, deployment)          this one manages it: `owns=[Pod]` leads from the pod to the deployment
"""

from __future__ import annotations

from listwatch.errors import UsageError
from listwatch.meta import split_api_version
from listwatch.objects.metadata import OwnerReference
from listwatch.objects.object import Object

__all__ = ["controller_of", "is_controlled_by", "owner_reference", "set_controller", "set_owner"]


def owner_reference(owner: Object, *, controller: bool = True, block_owner_deletion: bool = True) -> OwnerReference:
    """What an object says of its owner."""
    if not owner.uid:
        raise UsageError(f"{owner.describe()} cannot own anything yet: it has no uid, so it did not come from a server")
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.name,
        uid=owner.uid,
        controller=controller or None,
        block_owner_deletion=block_owner_deletion or None,
    )


def controller_of(item: Object) -> OwnerReference | None:
    """The owner that manages this object, if it has one."""
    return next((each for each in item.metadata.owner_references if each.controller), None)


def is_controlled_by(item: Object, owner: Object) -> bool:
    """Whether this very owner, and not another of its name, manages the object."""
    found = controller_of(item)
    return found is not None and found.uid == owner.uid


def set_controller(item: Object, owner: Object, *, block_owner_deletion: bool = True) -> None:
    """Make the owner the one that manages this object, which is changed; UsageError if another one does."""
    present = controller_of(item)
    if present is not None and present.uid != owner.uid:
        raise UsageError(
            f"{item.describe()} is managed by {present.kind} {present.name} and cannot be by {owner.describe()} too"
        )
    _add(item, owner, owner_reference(owner, block_owner_deletion=block_owner_deletion))


def set_owner(item: Object, owner: Object, *, block_owner_deletion: bool = False) -> None:
    """Make the object, which is changed, go when all of its owners are gone; others may manage it."""
    _add(item, owner, owner_reference(owner, controller=False, block_owner_deletion=block_owner_deletion))


def _add(item: Object, owner: Object, reference: OwnerReference) -> None:
    if owner.namespace and owner.namespace != item.namespace:
        place = f"namespace {item.namespace!r}" if item.namespace else "no namespace"
        raise UsageError(f"{owner.describe()} cannot own {item.describe()}, which is in {place}: owners are local")
    others = [each for each in item.metadata.owner_references if not _is_same(each, reference)]
    item.metadata.owner_references = [*others, reference]


def _is_same(one: OwnerReference, other: OwnerReference) -> bool:
    if one.uid and one.uid == other.uid:
        return True
    groups = {split_api_version(each.api_version)[0] for each in (one, other)}
    return len(groups) == 1 and (one.kind, one.name) == (other.kind, other.name)
