"""Keep a Deployment for every labelled ConfigMap, whose data has the image and the number of replicas."""

import asyncio

import listwatch as lw
from listwatch.controller import resource_version_changed, set_controller
from listwatch.models.apps_v1 import Deployment, DeploymentSpec
from listwatch.models.core_v1 import ConfigMap, Container, PodSpec, PodTemplateSpec
from listwatch.models.meta_v1 import LabelSelector
from listwatch.objects import ObjectMeta


def wanted_for(settings: ConfigMap) -> Deployment:
    labels = {"app": settings.name}
    image, replicas = settings.data.get("image", ""), settings.data.get("replicas", "1")
    if not image or not replicas.isdecimal():
        raise lw.errors.PermanentError(f"{settings.name} needs an image and a number of replicas")
    deployment = Deployment(
        metadata=ObjectMeta(name=settings.name, namespace=settings.namespace),
        spec=DeploymentSpec(
            replicas=int(replicas),
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels),
                spec=PodSpec(containers=[Container(name="main", image=image)]),
            ),
        ),
    )
    # The Deployment is deleted with the ConfigMap, and its changes reconcile the ConfigMap.
    set_controller(deployment, settings)
    return deployment


async def reconcile(key: lw.ObjectKey, context: lw.ReconcileContext[ConfigMap]) -> None:
    settings = context.get()
    if settings is None:
        print(f"{key} deleted", flush=True)
        return
    wanted, present = wanted_for(settings), context.indexer(Deployment).get(key)
    deployments = context.client.apps_v1.deployments(key.namespace)
    if present is None:
        await deployments.create(wanted)
        context.record_event(settings, "Normal", "Created", f"created Deployment {key.name}")
        print(f"{key} created", flush=True)
    elif differs(present, wanted):
        changed = present.copy()
        changed.spec.replicas = wanted.spec.replicas
        changed.spec.template.spec.containers[0].image = wanted.spec.template.spec.containers[0].image
        await deployments.update(changed)
        print(f"{key} updated", flush=True)


async def main() -> None:
    async with lw.ClientSet(lw.load_config()) as client:
        labelled = lw.Watch(ConfigMap, label_selector="deploy=yes", when=resource_version_changed)
        manager = lw.Manager(client)
        manager.add(lw.Controller(reconcile, for_=labelled, owns=[Deployment], name="deployments"))
        await manager.run()  # until Ctrl-C or SIGTERM
    print("stopped")


def differs(present: Deployment, wanted: Deployment) -> bool:
    now, then = present.spec, wanted.spec
    images = [spec.template.spec.containers[0].image for spec in (now, then)]
    return now.replicas != then.replicas or images[0] != images[1]


if __name__ == "__main__":
    asyncio.run(main())
