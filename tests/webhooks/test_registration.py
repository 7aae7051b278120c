"""Configurations of webhooks: as objects, applied to a server, and kept current."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from tests.controller.worlds import world
from tests.webhooks.reviews import AUTHORITY, Fleet, serving, write_certificate
from tests.webhooks.scenario import check_admission, check_conversion, declared, define, managed

import listwatch as lw
from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import ConfigError, DeniedError, ForbiddenError, UsageError
from listwatch.generate import custom_resource_definitions
from listwatch.models.admissionregistration_v1 import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from listwatch.server import APIServer
from listwatch.webhooks import CertificateFiles, Webhooks
from listwatch.webhooks.configuration import Endpoint
from listwatch.webhooks.registration import Registration

ENDPOINT = Endpoint(service="default/hooks")


async def test_the_embedded_server_calls_webhooks_with_certificates_of_their_own():
    async with world() as (_, client):
        await define(client)
        async with managed(client, declared(only_v1=True)):
            await check_admission(client)
            await check_conversion(client, admits_v1beta1=False)


async def test_the_embedded_server_calls_the_webhooks_of_a_service(tmp_path: Path):
    write_certificate(tmp_path)
    hooks = Webhooks(
        "fleets",
        service="default/hooks",
        host="127.0.0.1",
        port=0,
        certificates=CertificateFiles(tmp_path),
        register=False,
    )

    @hooks.validate("configmaps")
    def refuse(obj: lw.Unstructured) -> None:
        raise DeniedError(f"no {obj.name}")

    async with serving(hooks) as (manager, _):
        services = {"default/hooks": f"https://127.0.0.1:{manager.webhook_port}"}
        async with APIServer(webhook_services=services) as server, ClientSet(server.config) as client:
            for each in hooks.configurations(ca_bundle=AUTHORITY.certificate):
                await lw.apply(each, client=client)
            with pytest.raises(ForbiddenError, match=r'webhook "refuse.configmaps.core" denied the request: no a'):
                await client.core_v1.configmaps("default").create({"metadata": {"name": "a"}})


def test_configurations_have_all_options():
    hooks = Webhooks("fleets", service="ns/hooks:8443")

    @hooks.mutate(
        Fleet,
        operations=["CREATE"],
        namespace_selector={"matchLabels": {"a": "b"}},
        object_selector={"matchExpressions": [{"key": "c", "operator": "Exists"}]},
        match_conditions={"not-me": "request.userInfo.username != 'me'"},
        failure_policy="Ignore",
        side_effects="NoneOnDryRun",
        scope="Namespaced",
        timeout=2.5,
        reinvoke=True,
    )
    def change(obj: Fleet) -> None: ...

    @hooks.validate(Fleet, resource="fleets.example.com/status", name="status.fleets.example.com")
    def status(obj: Fleet) -> None: ...

    mutating, validating = hooks.configurations(ca_bundle=b"PEM")
    service = {"namespace": "ns", "name": "hooks", "port": 8443}
    rule = {"apiGroups": ["example.com"], "apiVersions": ["v1"]}
    assert mutating.to_dict() == {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "fleets"},
        "webhooks": [
            {
                "name": "change.fleets.example.com",
                "clientConfig": {
                    "service": {**service, "path": "/mutate/change.fleets.example.com"},
                    "caBundle": base64.b64encode(b"PEM").decode(),
                },
                "rules": [{**rule, "operations": ["CREATE"], "resources": ["fleets"], "scope": "Namespaced"}],
                "failurePolicy": "Ignore",
                "matchPolicy": "Equivalent",
                "sideEffects": "NoneOnDryRun",
                "timeoutSeconds": 3,
                "admissionReviewVersions": ["v1"],
                "namespaceSelector": {"matchLabels": {"a": "b"}},
                "objectSelector": {"matchExpressions": [{"key": "c", "operator": "Exists"}]},
                "matchConditions": [{"name": "not-me", "expression": "request.userInfo.username != 'me'"}],
                "reinvocationPolicy": "IfNeeded",
            }
        ],
    }
    assert isinstance(validating, ValidatingWebhookConfiguration)
    [webhook] = validating.webhooks
    assert webhook.name == "status.fleets.example.com"
    assert webhook.rules[0].resources == ["fleets/status"]
    # Definitions without a conversion stay as they are.
    [definition] = custom_resource_definitions(Fleet)
    assert hooks.with_conversion(definition) is definition
    with pytest.raises(UsageError, match="the port is selected when the manager runs"):
        Webhooks("fleets", port=0).configurations()
    address = Webhooks("fleets", host="::1")
    address.validate(Fleet)(status)
    assert (
        address.configurations()[0].webhooks[0].client_config.url
        == "https://[::1]:9443/validate/status.fleets.example.com"
    )


async def test_deleted_and_changed_configurations_are_applied_again():
    hooks = declared()
    async with world() as (server, client):
        await define(client)
        registration = Registration(client, hooks)
        mutating = client.resource(MutatingWebhookConfiguration)
        definitions = client.apiextensions_v1.customresourcedefinitions()

        async def bundles() -> set[str]:
            found = [
                each
                for kind in (MutatingWebhookConfiguration, ValidatingWebhookConfiguration)
                for each in await client.resource(kind).list()
            ]
            configs = [webhook.client_config for each in found for webhook in each.webhooks]
            conversion = (await definitions.get("fleets.webhooks.example.com")).spec.conversion
            assert conversion is not None
            assert conversion.webhook is not None
            assert len(configs) == 2
            return {(each.ca_bundle or b"").decode() for each in [*configs, conversion.webhook.client_config] if each}

        await registration.publish(ENDPOINT, b"one")
        assert await bundles() == {"one"}
        server.requests.clear()
        await registration.publish(ENDPOINT, b"one")
        assert {each.verb for each in server.requests} == {"get"}
        await registration.publish(ENDPOINT, b"two")
        assert await bundles() == {"two"}
        await mutating.delete("fleets")
        found = await definitions.get("fleets.webhooks.example.com")
        found.spec.conversion.strategy, found.spec.conversion.webhook = "None", None  # type: ignore[union-attr]  # it has one
        await definitions.update(found)
        await registration.publish(ENDPOINT, b"two")
        assert await bundles() == {"two"}


async def test_without_registration_only_the_authorities_are_written():
    hooks = declared(register=False, service="default/hooks")
    async with world() as (server, client):
        registration = Registration(client, hooks)
        with pytest.raises(ConfigError, match=r"MutatingWebhookConfiguration fleets does not exist: apply what"):
            await registration.publish(ENDPOINT, b"one")
        for each in hooks.configurations():
            tree = each.to_dict()
            foreign = {**tree["webhooks"][0], "name": "other.example.com.hooks"}
            await lw.apply(type(each).from_dict({**tree, "webhooks": [foreign, *tree["webhooks"]]}), client=client)
        with pytest.raises(ConfigError, match=r"CustomResourceDefinition fleets.webhooks.example.com does not exist"):
            await registration.publish(ENDPOINT, b"one")
        await define(client)
        with pytest.raises(ConfigError, match="has no conversion webhook: apply what `listwatch generate crd` prints"):
            await registration.publish(ENDPOINT, b"one")
        definitions = client.apiextensions_v1.customresourcedefinitions()
        found = await definitions.get("fleets.webhooks.example.com")
        await definitions.update(hooks.with_conversion(found))
        await registration.publish(ENDPOINT, b"one")
        for kind in (MutatingWebhookConfiguration, ValidatingWebhookConfiguration):
            webhooks = (await client.resource(kind).get("fleets")).webhooks
            assert [each.client_config.ca_bundle for each in webhooks] == [None, b"one"]
        converted = (await definitions.get(found.name)).spec.conversion
        assert converted is not None
        assert converted.webhook is not None
        assert converted.webhook.client_config is not None
        assert converted.webhook.client_config.ca_bundle == b"one"
        server.requests.clear()
        await registration.publish(ENDPOINT, b"one")
        assert {each.verb for each in server.requests} == {"get"}
