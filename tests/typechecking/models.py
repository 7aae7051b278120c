# pyright: strict
"""The types of fields of models."""

from datetime import datetime
from typing import assert_type

from listwatch.models.apps_v1 import Deployment, DeploymentList, StatefulSet
from listwatch.models.core_v1 import Container, Event, PersistentVolumeClaim, Pod, PodSpec, Secret
from listwatch.models.meta_v1 import ObjectMeta

pod = Pod(metadata=ObjectMeta(name="web"), spec=PodSpec(containers=[Container(name="web")]))
assert_type(pod.spec, PodSpec)
assert_type(pod.spec.containers[0].image, str | None)
assert_type(pod.spec.containers[0].name, str)
assert_type(pod.spec.containers[0].resources.limits, dict[str, str])
assert_type(pod.metadata.creation_timestamp, datetime | None)
assert_type(Event().event_time, datetime | None)
assert_type(Secret().data, dict[str, bytes])
assert_type(Deployment().spec.template.spec, PodSpec)
assert_type(StatefulSet().spec.volume_claim_templates, list[PersistentVolumeClaim])
assert_type(DeploymentList()[0], Deployment)
