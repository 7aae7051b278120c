"""Webhooks that API servers call: admission and conversion of objects, served by a Manager."""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "AdmissionRequest": "listwatch.webhooks.admission_request",
    "CertificateFiles": "listwatch.webhooks.certificates.certificate_files",
    "HookStatistics": "listwatch.webhooks.statistics",
    "ManagedCertificates": "listwatch.webhooks.certificates.managed_certificates",
    "Operation": "listwatch.webhooks.admission_request",
    "UserInfo": "listwatch.webhooks.admission_request",
    "WebhookStatistics": "listwatch.webhooks.statistics",
    "Webhooks": "listwatch.webhooks.webhooks",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.webhooks.admission_request import AdmissionRequest as AdmissionRequest
    from listwatch.webhooks.admission_request import Operation as Operation
    from listwatch.webhooks.admission_request import UserInfo as UserInfo
    from listwatch.webhooks.certificates.certificate_files import CertificateFiles as CertificateFiles
    from listwatch.webhooks.certificates.managed_certificates import ManagedCertificates as ManagedCertificates
    from listwatch.webhooks.statistics import HookStatistics as HookStatistics
    from listwatch.webhooks.statistics import WebhookStatistics as WebhookStatistics
    from listwatch.webhooks.webhooks import Webhooks as Webhooks
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
