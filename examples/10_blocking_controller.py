"""Keep a Deployment for every ConfigMap that asks for one, in a program without an event loop."""

import listwatch as lw
from listwatch import blocking
from listwatch.controller import resource_version_changed, set_controller
from listwatch.models.apps_v1 import Deployment, DeploymentSpec
from listwatch.models.core_v1 import ConfigMap, Container, PodSpec, PodTemplateSpec
from listwatch.models.meta_v1 import LabelSelector
from listwatch.objects.metadata import ObjectMeta


def wanted_for(settings: ConfigMap) -> Deployment:
    labels = {"app": settings.name}
    image, replicas = settings.data.get("image", ""), settings.data.get("replicas", "1")
    if not image or not replicas.isdecimal():
        raise lw.errors.PermanentError(f"{settings.name} needs an image, and replicas that are a number")
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
    # With it goes the Deployment, and changes of the Deployment lead back to it.
    set_controller(deployment, settings)
    return deployment


def main() -> None:
    with blocking.ClientSet(lw.load_config()) as client:

        def reconcile(key: lw.ObjectKey) -> None:
            settings = controller.get(key)
            if settings is None:
                print(f"{key} is gone", flush=True)
                return
            wanted, present = wanted_for(settings), controller.indexer(Deployment).get(key)
            deployments = client.apps_v1.deployments(key.namespace)
            if present is None:
                deployments.create(wanted)
                print(f"{key} created", flush=True)
            elif differs(present, wanted):
                changed = present.copy()
                changed.spec.replicas = wanted.spec.replicas
                changed.spec.template.spec.containers[0].image = wanted.spec.template.spec.containers[0].image
                deployments.update(changed)
                print(f"{key} updated", flush=True)

        asking = lw.Watch(ConfigMap, label_selector="deploy=yes", when=resource_version_changed)
        manager = blocking.Manager(client)
        controller = manager.add(blocking.Controller(reconcile, for_=asking, owns=[Deployment], name="deployments"))
        manager.run()  # until Ctrl-C or SIGTERM
    print("bye")


def differs(present: Deployment, wanted: Deployment) -> bool:
    now, then = present.spec, wanted.spec
    images = [spec.template.spec.containers[0].image for spec in (now, then)]
    return now.replicas != then.replicas or images[0] != images[1]


if __name__ == "__main__":
    main()
