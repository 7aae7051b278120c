"""`listwatch generate`: definitions of the classes in a file, and classes of definitions."""

from __future__ import annotations

from pathlib import Path

from aiohttp import web
from tests.cli.conftest import Run

from listwatch.client import ClientSet
from listwatch.models.admissionregistration_v1 import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from listwatch.models.apiextensions_v1 import CustomResourceDefinition
from listwatch.server import APIServer

FLEET = '''\
import listwatch as lw


class FleetSpec(lw.Model):
    """What is wanted."""

    ships: int = 3
    """How many ships."""


class Fleet(lw.CustomResource, group="fleet.example.com", version="v1", kind="Fleet"):
    spec: FleetSpec = FleetSpec()
'''


def written(folder: Path, text: str, name: str = "fleet.py") -> str:
    file = folder / name
    file.write_text(text)
    return str(file)


async def test_the_definition_of_a_file_is_printed_and_makes_the_same_class(run: Run, tmp_path: Path):
    done = await run("generate", "crd", written(tmp_path, FLEET, "one_fleet.py"))
    assert (done.code, done.errors) == (0, "")
    assert "description: How many ships." in done.out
    again = await run("generate", "models", written(tmp_path, done.out, "crd.yaml"))
    assert again.code == 0
    assert '    ships: int = 3\n    """How many ships."""\n' in again.out


async def test_check_fails_until_the_files_are_up_to_date(run: Run, tmp_path: Path):
    file = written(tmp_path, FLEET, "two_fleet.py")
    command = ("generate", "crd", file, "-o", str(tmp_path / "crds"))
    missing = await run(*command, "--check")
    assert missing.code == 1
    assert "fleets.fleet.example.com.yaml is not up to date: run the command without --check" in missing.errors
    assert (await run(*command)).out == f"{tmp_path}/crds/fleets.fleet.example.com.yaml\n"
    assert (await run(*command, "--check")).code == 0


async def test_the_definitions_of_a_cluster_become_modules(run: Run, client: ClientSet, tmp_path: Path):
    done = await run("generate", "crd", written(tmp_path, FLEET, "three_fleet.py"))
    await client.apiextensions_v1.customresourcedefinitions().create(CustomResourceDefinition.from_yaml(done.out))
    folder = tmp_path / "models"
    assert (await run("generate", "models", "-o", str(folder))).out == f"{folder}/fleet_v1.py\n"
    other = await run("generate", "models", "--group", "other.example.com")
    assert other.code == 2
    assert "the cluster has no CustomResourceDefinitions of the group other.example.com" in other.errors


async def test_a_folder_may_contain_files_of_kustomize(run: Run, tmp_path: Path):
    folder = tmp_path / "crds"
    await run("generate", "crd", written(tmp_path, FLEET, "four_fleet.py"), "-o", str(folder))
    written(folder, "resources: [fleets.yaml]\n", "kustomization.yaml")
    assert (await run("generate", "models", str(folder))).code == 0


async def test_a_file_without_custom_resources_says_what_to_write(run: Run, tmp_path: Path):
    done = await run("generate", "crd", written(tmp_path, "x = 1\n", "no_fleet.py"))
    assert done.code == 1
    assert "no_fleet.py defines no custom resource; write `class Fleet(lw.CustomResource" in done.errors


async def test_what_a_schema_cannot_express_is_named_with_its_field(run: Run, tmp_path: Path):
    file = written(tmp_path, FLEET.replace("ships: int = 3", "ships: int | list[int] = 3"), "odd_fleet.py")
    done = await run("generate", "crd", file)
    assert done.code == 2
    assert done.errors.startswith("error: FleetSpec.ships: a schema gives a value one type, so int | list[int] cannot")


WEBHOOKS = (
    FLEET
    + """

class OldFleet(Fleet, group="fleet.example.com", version="v1beta1", kind="Fleet"): ...


lw.crd(storage=True)(Fleet)
lw.crd(storage=False)(OldFleet)
hooks = lw.Webhooks("fleets", service="fleets/operator")


@hooks.mutate(Fleet)
def default_ships(fleet: Fleet) -> None: ...


@hooks.validate(Fleet)
def few_ships(fleet: Fleet) -> None: ...


@hooks.convert(Fleet, OldFleet)
def to_old(fleet: Fleet) -> OldFleet: ...


@hooks.convert(OldFleet, Fleet)
def to_new(fleet: OldFleet) -> Fleet: ...
"""
)


async def test_the_configurations_of_webhooks_are_printed_and_accepted(run: Run, client: ClientSet, tmp_path: Path):
    file = written(tmp_path, WEBHOOKS, "hooked_fleet.py")
    bundle = written(tmp_path, "PEM", "ca.crt")
    done = await run("generate", "webhooks", file, "--ca-bundle", bundle)
    assert (done.code, done.errors) == (0, "")
    mutating, validating = done.out.split("---\n")
    created = MutatingWebhookConfiguration.from_yaml(mutating)
    assert created.webhooks[0].client_config.ca_bundle == b"PEM"
    await client.admissionregistration_v1.mutatingwebhookconfigurations().create(created)
    made = ValidatingWebhookConfiguration.from_yaml(validating)
    await client.admissionregistration_v1.validatingwebhookconfigurations().create(made)
    definition = CustomResourceDefinition.from_yaml((await run("generate", "crd", file)).out)
    assert definition.spec.conversion is not None
    assert definition.spec.conversion.strategy == "Webhook"
    await client.apiextensions_v1.customresourcedefinitions().create(definition)

    folder = str(tmp_path / "manifests")
    assert (await run("generate", "webhooks", file, "-o", folder, "--check")).code == 1
    names = ("mutatingwebhookconfiguration-fleets.yaml", "validatingwebhookconfiguration-fleets.yaml")
    written_files = (await run("generate", "webhooks", file, "-o", folder)).out
    assert written_files == "".join(f"{folder}/{name}\n" for name in names)
    assert (await run("generate", "webhooks", file, "-o", folder, "--check")).code == 0


async def test_the_error_for_a_file_without_webhooks_shows_what_to_write(run: Run, tmp_path: Path):
    done = await run("generate", "webhooks", written(tmp_path, FLEET, "plain_fleet.py"))
    assert done.code == 1
    assert "plain_fleet.py defines no webhooks: assign lw.Webhooks(…) to a variable" in done.errors


async def test_definitions_are_read_from_a_url(tmp_path: Path, server: APIServer, run: Run):
    done = await run("generate", "crd", written(tmp_path, FLEET, "six_fleet.py"))

    async def respond(request: web.Request) -> web.Response:
        if request.path != "/crds.yaml":
            raise web.HTTPNotFound
        return web.Response(text=done.out)

    application = web.Application()
    application.router.add_get("/{tail}", respond)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        models = await run("generate", "models", f"{url}/crds.yaml")
        assert (models.code, "class Fleet(lw.CustomResource" in models.out) == (0, True)
        applied = await run("apply", "-f", f"{url}/crds.yaml")
        assert applied.out == "customresourcedefinition.apiextensions.k8s.io/fleets.fleet.example.com created\n"
        missing = await run("generate", "models", f"{url}/no.yaml")
        assert (missing.code, missing.errors) == (2, f"error: cannot read {url}/no.yaml: Not Found\n")
    finally:
        await runner.cleanup()
    gone = await run("diff", "-f", f"{url}/crds.yaml")
    assert (gone.code, gone.errors.startswith(f"error: cannot read {url}/crds.yaml: ")) == (2, True)
