"""Keep a Deployment for every labelled ConfigMap, whose data has the image and the number of replicas."""

import asyncio

import listwatch as lw
from listwatch.controller import resource_version_changed, set_controller
from listwatch.models.apps_v1 import Deployment, DeploymentSpec
from listwatch.models.core_v1 import ConfigMap, Container, PodSpec, PodTemplateSpec
from listwatch.models.meta_v1 import LabelSelector
from listwatch.objects import ObjectMeta


def deployment_for(settings: ConfigMap) -> Deployment:
    labels = {"app": settings.name}
    image, replicas = settings.data.get("image", ""), settings.data.get("replicas", "1")
    if not image or not replicas.isdecimal():
        raise lw.errors.PermanentError(f"ConfigMap {settings.name} needs an image and a number of replicas")
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
    # The server deletes the Deployment with its owner, and changes of the Deployment reconcile the owner.
    set_controller(deployment, settings)
    return deployment


async def reconcile(key: lw.ObjectKey, context: lw.ReconcileContext[ConfigMap]) -> None:
    settings = context.get()
    if settings is None:
        print(f"{key} deleted", flush=True)
        return
    desired, current = deployment_for(settings), context.indexer(Deployment).get(key)
    deployments = context.client.apps_v1.deployments(key.namespace)
    if current is None:
        await deployments.create(desired)
        context.record_event(settings, "Normal", "Created", f"created Deployment {key.name}")
        print(f"{key} created", flush=True)
    elif differs(current, desired):
        changed = current.copy()
        changed.spec.replicas = desired.spec.replicas
        changed.spec.template.spec.containers[0].image = desired.spec.template.spec.containers[0].image
        await deployments.update(changed)
        print(f"{key} updated", flush=True)


def differs(current: Deployment, desired: Deployment) -> bool:
    images = [each.spec.template.spec.containers[0].image for each in (current, desired)]
    return current.spec.replicas != desired.spec.replicas or images[0] != images[1]


async def main() -> None:
    async with lw.ClientSet(lw.load_config()) as client:
        labelled = lw.Watch(ConfigMap, label_selector="deploy=yes", when=resource_version_changed)
        manager = lw.Manager(client)
        manager.add(lw.Controller(reconcile, for_=labelled, owns=[Deployment], name="deployments"))
        await manager.run()  # until Ctrl-C or SIGTERM
    print("stopped")


if __name__ == "__main__":
    asyncio.run(main())
