"""Writes the configurations of webhooks into a cluster, and keeps the authorities in them current."""

from __future__ import annotations

import base64
import logging
from typing import cast

from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import ConfigError, ListWatchError, NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.models.admissionregistration_v1 import MutatingWebhookConfiguration
from listwatch.models.apiextensions_v1 import CustomResourceDefinition
from listwatch.webhooks.configuration import Configuration, Endpoint, configurations, conversion
from listwatch.webhooks.webhooks import Webhooks

__all__ = ["Registration"]

_log = logging.getLogger("listwatch.webhooks")

_MANAGER = "listwatch-webhooks"


class Registration:
    """Applies the configurations of webhooks, or only writes the authorities into those that exist."""

    def __init__(self, client: ClientSet, webhooks: Webhooks) -> None:
        self._client = client
        self._webhooks = webhooks
        self._applied: dict[str, JSONObject] = {}
        """What was applied by this process, by kind and name."""

    async def publish(self, endpoint: Endpoint, ca_bundle: bytes) -> None:
        """Write all configurations that differ; raises the first error after all have been tried."""
        failures: list[ListWatchError] = []
        hooks = self._webhooks
        for each in configurations(hooks.name, hooks._admission.values(), endpoint, ca_bundle):
            try:
                await self._publish(each, ca_bundle)
            except ListWatchError as error:
                failures.append(error)
        for kind in hooks._conversions.kinds():
            try:
                await self._publish_conversion(hooks._conversions.definition_name(kind), endpoint, ca_bundle)
            except ListWatchError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    # --- admission ---------------------------------------------------------------------------------------------------

    async def _publish(self, wanted: Configuration, ca_bundle: bytes) -> None:
        resource = self._client.resource(_kind_of(wanted))
        tree: JSONObject = wanted.to_dict()
        key = f"{wanted.kind} {wanted.name}"
        try:
            found = await resource.get(wanted.name)
        except NotFoundError:
            if not self._webhooks._registers:
                raise ConfigError(
                    f"{key} does not exist: apply what `listwatch generate webhooks` prints, or pass register=True"
                ) from None
            self._applied.pop(key, None)
        else:
            expected = base64.b64encode(ca_bundle).decode()
            own = {each.name for each in wanted.webhooks}
            stale = [
                index
                for index, each in enumerate(found.to_dict().get("webhooks", ()))
                if ca_bundle and each.get("name") in own and each.get("clientConfig", {}).get("caBundle") != expected
            ]
            if not self._webhooks._registers:
                await self._inject(found, stale, expected)
                return
            if not stale and self._applied.get(key) == tree:
                return
        await resource.apply(tree, field_manager=_MANAGER, force=True)
        self._applied[key] = tree
        _log.info("Applied %s", key, extra={"object": key})

    async def _inject(self, found: Configuration, stale: list[int], ca_bundle: str) -> None:
        patch: list[JSONObject] = []
        webhooks = found.to_dict()["webhooks"]
        for index in stale:
            # The test fails if the list has changed since.
            patch += [
                {"op": "test", "path": f"/webhooks/{index}/name", "value": webhooks[index]["name"]},
                {"op": "add", "path": f"/webhooks/{index}/clientConfig/caBundle", "value": ca_bundle},
            ]
        if patch:
            await self._client.resource(_kind_of(found)).patch(found.name, patch, type="json", field_manager=_MANAGER)
            _log.info("Wrote the authorities into %s", found.describe(), extra={"object": found.describe()})

    # --- conversion --------------------------------------------------------------------------------------------------

    async def _publish_conversion(self, name: str, endpoint: Endpoint, ca_bundle: bytes) -> None:
        resource = self._client.resource(CustomResourceDefinition)
        try:
            found = await resource.get(name)
        except NotFoundError:
            raise ConfigError(
                f"CustomResourceDefinition {name} does not exist: apply what `listwatch generate crd` prints"
            ) from None
        wanted, current = conversion(endpoint, ca_bundle), found.to_dict()["spec"].get("conversion", {})
        if self._webhooks._registers:
            if not _contains(current, wanted):
                tree: JSONObject = {
                    "apiVersion": "apiextensions.k8s.io/v1",
                    "kind": "CustomResourceDefinition",
                    "metadata": {"name": name},
                    "spec": {"conversion": wanted},
                }
                await resource.apply(tree, field_manager=_MANAGER, force=True)
                _log.info("Applied the conversion of %s", name, extra={"object": name})
            return
        expected = base64.b64encode(ca_bundle).decode()
        if current.get("strategy") != "Webhook":
            raise ConfigError(
                f"CustomResourceDefinition {name} has no conversion webhook: apply what `listwatch generate crd` "
                "prints, or pass register=True"
            )
        if ca_bundle and current["webhook"]["clientConfig"].get("caBundle") != expected:
            path = "/spec/conversion/webhook/clientConfig/caBundle"
            patch: list[JSONObject] = [{"op": "add", "path": path, "value": expected}]
            await resource.patch(name, patch, type="json", field_manager=_MANAGER)
            _log.info("Wrote the authorities into the conversion of %s", name, extra={"object": name})


def _kind_of(configuration: Configuration) -> type[MutatingWebhookConfiguration]:
    """Return the class; that of validating webhooks has the same fields here."""
    return cast(type[MutatingWebhookConfiguration], type(configuration))


def _contains(found: JSON, wanted: JSON) -> bool:
    """Whether all wanted fields have their values; servers add others as defaults."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return all(name in found and _contains(found[name], value) for name, value in wanted.items())
    return found == wanted
