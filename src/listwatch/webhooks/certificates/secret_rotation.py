"""Managed certificates: created and rotated in a Secret that all replicas share."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import Clock
from listwatch.errors import AlreadyExistsError, ConfigError, ConflictError, NotFoundError
from listwatch.models.core_v1 import Secret
from listwatch.objects.metadata import ObjectMeta
from listwatch.webhooks.certificates.managed_certificates import ManagedCertificates
from listwatch.webhooks.certificates.rotation_state import Action, next_action
from listwatch.webhooks.certificates.serving_certificate import ServingCertificate

__all__ = ["SecretRotation"]

_log = logging.getLogger("listwatch.webhooks")

_ATTEMPTS = 10
"""Replicas that start together write the Secret at the same time; each attempt reads what another has written."""
_LABELS = {"app.kubernetes.io/managed-by": "listwatch"}


class SecretRotation:
    """Reads the Secret, and executes the steps that are due; after a conflict, it uses what another replica wrote."""

    def __init__(
        self,
        client: ClientSet,
        options: ManagedCertificates,
        *,
        name: str,
        namespace: str,
        hosts: Sequence[str],
        clock: Clock,
    ) -> None:
        try:
            from listwatch.webhooks.certificates.secret_contents import SecretContents
        except ImportError as error:
            raise ConfigError(
                "managed certificates need the cryptography package: pip install 'listwatch[webhooks]', or pass "
                "certificates=CertificateFiles(…)"
            ) from error
        self._client = client
        self._options = options
        self._name = options.secret or f"{name}-webhook-certificates"
        self._namespace = options.namespace or namespace
        self._clock = clock
        self._contents = SecretContents(
            name=f"{name}-webhooks",
            hosts=tuple(hosts),
            validity=options.validity,
            authority_validity=options.authority_validity,
        )
        self.published = b""
        """The authorities that are in all configurations."""

    async def load(self) -> ServingCertificate:
        """Return the current certificate, rotated if that is due."""
        namespace = self._namespace or self._client.rest.config.namespace
        secrets = self._client.resource(Secret, namespace=namespace)
        for _ in range(_ATTEMPTS):
            try:
                found = await secrets.get(self._name)
            except NotFoundError:
                found = None
            data = {} if found is None else dict(found.data)
            now = self._clock.now()
            action = next_action(
                self._contents.facts(data),
                now,
                overlap=self._options.overlap,
                is_published=self.published == data.get("ca.crt"),
            )
            source = f"secret {namespace}/{self._name}"
            if action is Action.KEEP:
                return ServingCertificate(data["tls.crt"], data["tls.key"], data["ca.crt"], source=source)
            changed = self._contents.after(action, data, now)
            try:
                if found is None:
                    metadata = ObjectMeta(name=self._name, namespace=namespace, labels=dict(_LABELS))
                    await secrets.create(Secret(metadata=metadata, type="kubernetes.io/tls", data=changed))
                else:
                    found.data = changed
                    await secrets.update(found)
            except (AlreadyExistsError, ConflictError, NotFoundError):
                continue  # another replica has written it
            self._log_action(action, source)
        raise ConfigError(f"{source} was changed during each of {_ATTEMPTS} updates: no other program may manage it")

    def _log_action(self, action: Action, source: str) -> None:
        message = {
            Action.CREATE: "Created an authority and a certificate for the webhooks in %s",
            Action.PREPARE: "Created the next authority for the webhooks in %s",
            Action.SWITCH: "The next authority issues the certificate of the webhooks in %s from now on",
            Action.ISSUE: "Issued a new certificate for the webhooks in %s",
        }[action]
        _log.info(message, source, extra={"source": source})
