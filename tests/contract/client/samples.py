"""Objects that a real server accepts."""

from listwatch.models.apps_v1 import Deployment, DeploymentSpec
from listwatch.models.core_v1 import ConfigMap, Container, Pod, PodSpec, PodTemplateSpec
from listwatch.models.meta_v1 import LabelSelector
from listwatch.objects.metadata import ObjectMeta

APP = {"app": "web"}
HOLD = "example.com/hold"
RELEASE = {"metadata": {"finalizers": None}}


def config_map(
    name: str, *, labels: dict[str, str] | None = None, finalizers: list[str] | None = None, **data: str
) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, labels=labels or {}, finalizers=finalizers or []), data=data)


def pod(name: str, *, node: str = "") -> Pod:
    return Pod(metadata=ObjectMeta(name=name, labels=APP), spec=_pod_spec(node))


def deployment(name: str, *, replicas: int = 1) -> Deployment:
    template = PodTemplateSpec(metadata=ObjectMeta(labels=APP), spec=_pod_spec())
    spec = DeploymentSpec(replicas=replicas, selector=LabelSelector(match_labels=APP), template=template)
    return Deployment(metadata=ObjectMeta(name=name), spec=spec)


def _pod_spec(node: str = "") -> PodSpec:
    return PodSpec(containers=[Container(name="web", image="web:1")], node_name=node or None)
