"""The kinds and types of `lifecycle.k8s.io/v1alpha1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from datetime import datetime

from listwatch.models import meta_v1
from listwatch.objects.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class EvictionPodReference(Model):
    name: str = ""
    """JSON: `name`. Required."""
    uid: str = ""
    """JSON: `uid`. Required."""


class EvictionRequestPodReference(Model):
    name: str = ""
    """JSON: `name`. Required."""
    uid: str = ""
    """JSON: `uid`. Required."""


class EvictionRequestTarget(Model):
    pod: EvictionRequestPodReference | None = None
    """JSON: `pod`. Default: absent."""


class EvictionRequestSpec(Model):
    intent: str = ""
    """JSON: `intent`. Required."""
    requester: str = ""
    """JSON: `requester`. Required."""
    target: EvictionRequestTarget = ...
    """JSON: `target`. Required."""


class EvictionRequestStatus(Model):
    conditions: list[meta_v1.Condition] = []
    """JSON: `conditions`. Default: absent."""
    observed_generation: int | None = None
    """JSON: `observedGeneration`. Default: absent."""


class EvictionTarget(Model):
    pod: EvictionPodReference | None = None
    """JSON: `pod`. Default: absent."""


class EvictionSpec(Model):
    target: EvictionTarget = ...
    """JSON: `target`. Required."""


class EvictionStatus(Model):
    conditions: list[meta_v1.Condition] = []
    """JSON: `conditions`. Default: absent."""
    observed_generation: int | None = None
    """JSON: `observedGeneration`. Default: absent."""
    requesters: list[Requester] = []
    """JSON: `requesters`. Default: absent."""
    responders: list[ResponderStatus] = []
    """JSON: `responders`. Default: absent."""
    target_responders: list[TargetResponder] = []
    """JSON: `targetResponders`. Default: absent."""


class Requester(Model):
    intent: str = ""
    """JSON: `intent`. Required."""
    name: str = ""
    """JSON: `name`. Required."""


class ResponderStatus(Model):
    completion_time: datetime | None = None
    """JSON: `completionTime`. Default: absent."""
    expected_completion_time: datetime | None = None
    """JSON: `expectedCompletionTime`. Default: absent."""
    heartbeat_time: datetime | None = None
    """JSON: `heartbeatTime`. Default: absent."""
    message: str | None = None
    """JSON: `message`. Default: absent."""
    name: str = ""
    """JSON: `name`. Required."""
    start_time: datetime | None = None
    """JSON: `startTime`. Default: absent."""


class TargetResponder(Model):
    name: str = ""
    """JSON: `name`. Required."""
    priority: int = 0
    """JSON: `priority`. Required."""
    state: str = ""
    """JSON: `state`. Required."""


class Eviction(Object):
    spec: EvictionSpec = ...
    """JSON: `spec`. Required."""
    status: EvictionStatus = ...
    """JSON: `status`. Default: `{}`."""


class EvictionRequest(Object):
    spec: EvictionRequestSpec = ...
    """JSON: `spec`. Required."""
    status: EvictionRequestStatus = ...
    """JSON: `status`. Default: `{}`."""


class EvictionList(ObjectList[Eviction], item=Eviction):
    """A list of objects, as returned by one request."""


class EvictionRequestList(ObjectList[EvictionRequest], item=EvictionRequest):
    """A list of objects, as returned by one request."""
