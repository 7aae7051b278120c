"""From a reference to a resource: at once where it is built in, else through a mapper when it is first needed."""

from __future__ import annotations

from listwatch.api.references import At, ByKind, Named, Reference
from listwatch.client.discovery.rest_mapper import RESTMapper
from listwatch.client.resources.builtin_resources import builtin_resources
from listwatch.client.resources.resource_reader import Find
from listwatch.meta import Resource

__all__ = ["locate", "provisional"]


def locate(reference: Reference, mapper: RESTMapper) -> Resource | Find:
    """The resource, or what finds it.

    A kind or path of one version is the same on every server. What a bare name means is for the server to say.
    """
    is_exact = isinstance(reference, Resource | At) or bool(_exact_part(reference))
    if is_exact and (match := builtin_resources().find(reference)):
        return match.resource
    return lambda: mapper.resource_for(reference)


def provisional(reference: Reference) -> Resource:
    """What to call a resource that was not looked for yet; only its name is to be relied on."""
    if match := builtin_resources().find(reference):
        return match.resource
    match reference:
        case At(group, version, plural):
            return Resource(group, version, "", plural)
        case ByKind(group, kind, version):
            return Resource(group, version, kind, kind.lower())
        case Named(name):
            return Resource("", "", "", name)
        case Resource():
            return reference


def _exact_part(reference: Reference) -> str:
    match reference:
        case ByKind(version=version):
            return version
        case Named(attribute=attribute):
            return attribute
        case _:
            return ""
