"""The objects that make an API server call webhooks."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from listwatch.json_value import JSON, JSONObject
from listwatch.webhooks.hooks import AdmissionHook

if TYPE_CHECKING:
    from listwatch.models.admissionregistration_v1 import MutatingWebhookConfiguration, ValidatingWebhookConfiguration

__all__ = ["CONVERSION_PATH", "Configuration", "Endpoint", "configurations", "conversion"]

CONVERSION_PATH = "/convert"
_GROUP_VERSION = "admissionregistration.k8s.io/v1"

Configuration: TypeAlias = "MutatingWebhookConfiguration | ValidatingWebhookConfiguration"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where API servers reach webhooks: a Service, or a URL."""

    service: str = ""
    """`namespace/name` or `namespace/name:port`."""
    url: str = ""

    def client_config(self, path: str, ca_bundle: bytes) -> JSONObject:
        """Return the clientConfig of one webhook."""
        bundle: JSONObject = {"caBundle": base64.b64encode(ca_bundle).decode()} if ca_bundle else {}
        if not self.service:
            return {"url": f"{self.url}{path}", **bundle}
        namespace, _, name = self.service.partition("/")
        name, _, port = name.partition(":")
        service: JSONObject = {"namespace": namespace, "name": name, "path": path, "port": int(port or 443)}
        return {"service": service, **bundle}


def configurations(
    name: str, hooks: Iterable[AdmissionHook], endpoint: Endpoint, ca_bundle: bytes
) -> list[Configuration]:
    """Return the configurations of webhooks, in the order of declaration, in which mutating ones are called."""
    # Programs that only declare webhooks do not load the models.
    from listwatch.models.admissionregistration_v1 import MutatingWebhookConfiguration, ValidatingWebhookConfiguration

    declared = [*hooks]
    found: list[Configuration] = []
    if mutating := [_webhook(each, endpoint, ca_bundle) for each in declared if each.action == "mutate"]:
        found.append(MutatingWebhookConfiguration.from_dict(_object("Mutating", name, mutating)))
    if validating := [_webhook(each, endpoint, ca_bundle) for each in declared if each.action == "validate"]:
        found.append(ValidatingWebhookConfiguration.from_dict(_object("Validating", name, validating)))
    return found


def conversion(endpoint: Endpoint, ca_bundle: bytes) -> JSONObject:
    """Return `spec.conversion` of a CustomResourceDefinition."""
    client_config = endpoint.client_config(CONVERSION_PATH, ca_bundle)
    return {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client_config, "conversionReviewVersions": ["v1"]},
    }


def _object(action: Literal["Mutating", "Validating"], name: str, webhooks: list[JSONObject]) -> JSONObject:
    return {
        "apiVersion": _GROUP_VERSION,
        "kind": f"{action}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": cast(list[JSON], webhooks),
    }


def _webhook(hook: AdmissionHook, endpoint: Endpoint, ca_bundle: bytes) -> JSONObject:
    options, rule = hook.options, hook.rule
    tree: JSONObject = {
        "name": hook.name,
        "clientConfig": endpoint.client_config(hook.path, ca_bundle),
        "rules": [
            {
                "apiGroups": [rule.group],
                "apiVersions": [rule.version],
                "operations": [*options.operations],
                "resources": [rule.path],
                "scope": options.scope,
            }
        ],
        "failurePolicy": options.failure_policy,
        "matchPolicy": "Equivalent",
        "sideEffects": options.side_effects,
        "timeoutSeconds": math.ceil(options.timeout),
        "admissionReviewVersions": ["v1"],
    }
    if options.namespace_selector:
        tree["namespaceSelector"] = cast(JSONObject, dict(options.namespace_selector))
    if options.object_selector:
        tree["objectSelector"] = cast(JSONObject, dict(options.object_selector))
    if options.match_conditions:
        conditions = options.match_conditions.items()
        tree["matchConditions"] = [{"name": name, "expression": expression} for name, expression in conditions]
    if hook.action == "mutate":
        tree["reinvocationPolicy"] = "IfNeeded" if options.reinvoke else "Never"
    return tree
