"""The tables of role bindings, certificates and admission."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.json_value import JSONObject
from listwatch.server.json_tree import integer_at, object_at, objects_at, text_at, texts_at, value_at
from listwatch.server.tables.cells import NONE, UNSET, Cell, count, labels, of, reference, text
from listwatch.server.tables.columns import AGE, NAME, Column, Table, described, wide
from listwatch.server.tables.durations import duration_text

__all__ = ["ACCESS"]


# --- Role bindings ----------------------------------------------------------------------------------------------------


def _subjects(kind: str) -> Cell:
    def subjects(binding: JSONObject) -> str:
        return ", ".join(_subject(each) for each in objects_at(binding, "subjects") if each.get("kind") == kind)

    return of(subjects)


def _subject(subject: JSONObject) -> str:
    name = text_at(subject, "name")
    return f"{text_at(subject, 'namespace')}/{name}" if subject.get("kind") == "ServiceAccount" else name


def _bindings(kind: str, role: str) -> Table:
    return Table(
        NAME,
        Column("Role", reference("roleRef"), role),
        AGE,
        wide("Users", _subjects("User"), f"Users in the {kind}"),
        wide("Groups", _subjects("Group"), f"Groups in the {kind}"),
        wide("ServiceAccounts", _subjects("ServiceAccount"), f"ServiceAccounts in the {kind}"),
    )


# --- Certificates -----------------------------------------------------------------------------------------------------


def _request_condition(request: JSONObject) -> str:
    types = {text_at(each, "type") for each in objects_at(request, "status", "conditions")}
    states = [next((type_ for type_ in ("Denied", "Approved") if type_ in types), "Pending")]
    if "Failed" in types:
        states.append("Failed")
    if text_at(request, "status", "certificate"):
        states.append("Issued")
    return ",".join(states)


def _requested_duration(request: JSONObject) -> str:
    seconds = value_at(request, "spec", "expirationSeconds")
    return NONE if seconds is None else duration_text(integer_at(request, "spec", "expirationSeconds"))


def _pod_certificate_state(request: JSONObject) -> str:
    found = [text_at(each, "type") for each in objects_at(request, "status", "conditions")]
    return next((type_ for type_ in reversed(found) if type_ in ("Issued", "Denied", "Failed")), "Pending")


# --- Admission --------------------------------------------------------------------------------------------------------


def _parameter_kind(policy: JSONObject) -> str:
    kind = value_at(policy, "spec", "paramKind")
    return f"{text_at(kind, 'apiVersion')}/{text_at(kind, 'kind')}" if isinstance(kind, dict) else UNSET


def _parameter(binding: JSONObject) -> str:
    reference = object_at(binding, "spec", "paramRef")
    if name := text_at(reference, "name"):
        return f"{text_at(reference, 'namespace') or '*'}/{name}"
    selector = reference.get("selector")
    return _go_selector(selector) if isinstance(selector, dict) else UNSET


def _go_selector(selector: JSONObject) -> str:
    """Format a label selector as Go formats the message of it."""
    labels = object_at(selector, "matchLabels")
    pairs = "".join(f"{name}: {labels[name]}," for name in sorted(labels))
    requirements = "".join(
        f"LabelSelectorRequirement{{Key:{text_at(each, 'key')},Operator:{text_at(each, 'operator')},"
        f"Values:[{' '.join(texts_at(each, 'values'))}],}},"
        for each in objects_at(selector, "matchExpressions")
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{pairs}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{requirements}}},}}"
    )


def _policies(counted: str, path: str, description: str) -> Table:
    return Table(
        NAME,
        Column(counted, count(path), description, "integer"),
        Column(
            "ParamKind",
            of(_parameter_kind),
            "ParamKind specifies the kind of resources used to parameterize this policy",
        ),
        AGE,
    )


_POLICY_BINDINGS = Table(
    NAME,
    Column(
        "PolicyName",
        text("spec.policyName"),
        "PolicyName indicates the policy definition which the policy binding binded to",
    ),
    Column("ParamRef", of(_parameter), "ParamRef indicates the param resource which sets the configuration param"),
    AGE,
)
_WEBHOOKS = Table(
    NAME,
    Column(
        "Webhooks",
        count("webhooks"),
        "Webhooks indicates the number of webhooks registered in this configuration",
        "integer",
    ),
    AGE,
)

# --- Tables -----------------------------------------------------------------------------------------------------------

_pod_request = "certificates.v1beta1.PodCertificateRequestSpec"

ACCESS: Mapping[tuple[str, str], Table] = {
    ("rbac.authorization.k8s.io", "RoleBinding"): _bindings(
        "roleBinding",
        "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the "
        "RoleRef cannot be resolved, the Authorizer must return an error.",
    ),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _bindings(
        "clusterRoleBinding",
        "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the "
        "Authorizer must return an error.",
    ),
    # These descriptions are of a version of the API that is no longer served.
    ("certificates.k8s.io", "CertificateSigningRequest"): Table(
        NAME,
        AGE,
        Column(
            "SignerName",
            text("spec.signerName", NONE),
            "Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. If empty, "
            "it will be defaulted:\n"
            " 1. If it's a kubelet client certificate, it is assigned\n"
            '    "kubernetes.io/kube-apiserver-client-kubelet".\n'
            " 2. If it's a kubelet serving certificate, it is assigned\n"
            '    "kubernetes.io/kubelet-serving".\n'
            ' 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".\n'
            "Distribution of trust for signers happens out of band. You can select on this field using "
            "`spec.signerName`.",
        ),
        Column("Requestor", text("spec.username"), "Base64-encoded PKCS#10 CSR data"),
        Column(
            "RequestedDuration",
            of(_requested_duration),
            described("certificates.v1.CertificateSigningRequestSpec.expirationSeconds"),
        ),
        Column("Condition", of(_request_condition), "Conditions applied to the request, such as approval or denial."),
    ),
    ("certificates.k8s.io", "ClusterTrustBundle"): Table(
        NAME,
        Column(
            "SignerName",
            text("spec.signerName", NONE),
            described("certificates.v1beta1.ClusterTrustBundleSpec.signerName"),
        ),
    ),
    ("certificates.k8s.io", "PodCertificateRequest"): Table(
        NAME,
        Column("PodName", text("spec.podName"), described(f"{_pod_request}.podName")),
        Column("ServiceAccountName", text("spec.serviceAccountName"), described(f"{_pod_request}.serviceAccountName")),
        Column("NodeName", text("spec.nodeName"), described(f"{_pod_request}.nodeName")),
        Column("SignerName", text("spec.signerName"), described(f"{_pod_request}.signerName")),
        Column("State", of(_pod_certificate_state), "Is the request Pending, Issued, Denied, or Failed?"),
        Column(
            "UnverifiedUserAnnotations",
            labels("spec.unverifiedUserAnnotations"),
            described(f"{_pod_request}.unverifiedUserAnnotations"),
        ),
    ),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _WEBHOOKS,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _WEBHOOKS,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): _policies(
        "Validations",
        "spec.validations",
        "Validations indicates the number of validation rules defined in this configuration",
    ),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): _policies(
        "Mutations", "spec.mutations", "Mutation indicates the number of mutations rules defined in this configuration"
    ),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): _POLICY_BINDINGS,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): _POLICY_BINDINGS,
}
