"""What a connection to one API server needs, as frozen values, made by `kubeconfig` from files and used by `transport`.

Each value checks itself when it is made, as far as that needs no file; what is wrong is said for all fields at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from listwatch.client.config.validated_config import HIDDEN, Checked, Mistake, is_unicode
from listwatch.errors import UsageError

__all__ = ["ClientConfig", "ExecConfig", "Impersonation", "OIDCConfig", "Origin", "ServerWarning"]

EXEC_API = "client.authentication.k8s.io"
_EXEC_VERSIONS = (f"{EXEC_API}/v1", f"{EXEC_API}/v1beta1")
_INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")
PROXY_SCHEMES = ("http", "https", "socks5")
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL_RULE = "it has at most 63 lower-case letters, digits and dashes, and starts and ends with a letter or digit"
_URL = {"show": lambda url: repr(without_password(url))}
_NOT_A_HEADER_NAME = re.compile(rb"[^!#$&'*+\-.^_`|~0-9A-Za-z]")


# --- The server's warnings --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ServerWarning:
    """What the server wants the author of a request to know, in a `Warning` header."""

    code: int
    agent: str
    text: str

    def __str__(self) -> str:
        return self.text


# --- Who is asking ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Origin:
    """The user entry of a kubeconfig file that credentials were described in."""

    file: str
    user: str

    @property
    def entry(self) -> str:
        return f'user "{self.user}"'


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Impersonation(Checked):
    """Whom to act as; the server must allow the real user to do so."""

    user: str
    uid: str = ""
    groups: Sequence[str] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Every header that says so; names repeat for groups and for extra values."""
        found = [("Impersonate-User", self.user)]
        if self.uid:
            found.append(("Impersonate-Uid", self.uid))
        found += [("Impersonate-Group", group) for group in self.groups]
        for key, values in self.extra.items():
            found += [(f"Impersonate-Extra-{_escaped(key)}", value) for value in values]
        return tuple(found)

    @classmethod
    def _rules(cls, values: Mapping[str, Any]) -> Iterator[Mistake]:
        if not values["user"]:
            yield Mistake("user", "is empty; uid, groups and extra can only be impersonated together with a user")
        if any(not isinstance(several, list | tuple) for several in values["extra"].values()):
            yield Mistake("extra", "must be a mapping of lists of texts")
            return
        if "" in values["extra"]:
            yield Mistake("extra", "has a key that is empty")
        said = [("user", values["user"]), ("uid", values["uid"]), *(("groups", group) for group in values["groups"])]
        for key, several in values["extra"].items():
            said += [("extra", text) for text in (key, *several)]
        for name in dict.fromkeys(name for name, text in said if not fits_header(text)):
            yield Mistake(name, "must be text without line breaks and control characters")


def _escaped(key: str) -> str:
    """Written so that it may be part of a header's name; the server reads it back."""
    return _NOT_A_HEADER_NAME.sub(lambda byte: b"%%%02X" % byte[0][0], key.encode()).decode("ascii")


def fits_header(value: object) -> bool:
    """Whether it can be sent as the value of an HTTP header."""
    return isinstance(value, str) and value.isprintable()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExecConfig(Checked):
    """A program that prints credentials, and how to run it."""

    command: str
    api_version: str = _EXEC_VERSIONS[0]
    args: Sequence[str] = field(default=(), metadata=HIDDEN)
    env: Mapping[str, str] = field(default_factory=dict, metadata={"show": lambda env: f"<hidden: {', '.join(env)}>"})
    interactive_mode: str = "IfAvailable"
    provide_cluster_info: bool = False
    cluster_config: Any = field(default=None, metadata=HIDDEN)  # the cluster's extension for exec plugins
    install_hint: str = ""
    origin: Origin | None = None

    @classmethod
    def _rules(cls, values: Mapping[str, Any]) -> Iterator[Mistake]:
        if not values["command"]:
            yield Mistake("command", "is missing; it names the program that prints the credentials")
        if values["api_version"] not in _EXEC_VERSIONS:
            yield Mistake("api_version", _is_none_of(values["api_version"], _EXEC_VERSIONS))
        if values["interactive_mode"] not in _INTERACTIVE_MODES:
            yield Mistake("interactive_mode", _is_none_of(values["interactive_mode"], _INTERACTIVE_MODES))
        if "" in values["env"]:
            yield Mistake("env", "has a variable without a name")
        env = values["env"]
        if not all(map(_can_be_passed, (*env, *env.values()))) or any("=" in name for name in env):
            yield Mistake("env", "must be texts that can be environment variables")
        if not all(map(_can_be_passed, values["args"])):
            yield Mistake("args", "must be texts that can be arguments of a program")


def _can_be_passed(text: object) -> bool:
    return isinstance(text, str) and is_unicode(text) and "\0" not in text


def _is_none_of(value: str, allowed: Iterable[str]) -> str:
    return f"{f'is {value!r}' if value else 'is missing'}; it must be one of {', '.join(allowed)}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OIDCConfig(Checked):
    """An identity provider that renews ID tokens; with an origin, new tokens are written back there."""

    issuer_url: str = field(metadata=_URL)
    client_id: str
    client_secret: str = field(default="", metadata=HIDDEN)
    id_token: str = field(default="", metadata=HIDDEN)
    refresh_token: str = field(default="", metadata=HIDDEN)
    ca_file: str = ""
    ca_data: bytes = b""
    origin: Origin | None = None

    @classmethod
    def _rules(cls, values: Mapping[str, Any]) -> Iterator[Mistake]:
        if not values["client_id"]:
            yield Mistake("client_id", "is missing")
        yield from url_mistakes("issuer_url", values["issuer_url"])
        if not fits_header(values["id_token"].strip()):
            yield Mistake("id_token", "must be one line")
        if not (values["id_token"] or values["refresh_token"]):
            yield Mistake("refresh_token", "there is neither a refresh token nor an ID token; log in again")


# --- The connection ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClientConfig(Checked):
    """Where the API server is, how to trust it, who is asking, and how to ask."""

    host: str = field(default="", metadata=_URL)  # a URL, or host:port; a path in it comes before every request's own
    namespace: str = "default"

    token: str = field(default="", metadata=HIDDEN)
    token_file: str = ""  # read again and again; what it says comes before `token`
    username: str = ""
    password: str = field(default="", metadata=HIDDEN)
    client_cert_file: str = ""
    client_key_file: str = ""
    client_cert_data: bytes = field(default=b"", metadata=HIDDEN)
    client_key_data: bytes = field(default=b"", metadata=HIDDEN)
    exec: ExecConfig | None = None
    auth_provider: OIDCConfig | None = None
    impersonate: Impersonation | None = None

    ca_file: str = ""
    ca_data: bytes = field(default=b"", metadata={"show": lambda data: f"<{len(data)} bytes>"})
    tls_server_name: str = ""  # the name that the server's certificate must have, if it is not the host's
    insecure_skip_tls_verify: bool = False

    proxy_url: str = field(default="", metadata=_URL)
    disable_compression: bool = False
    user_agent: str = ""
    timeout: float | None = 60.0  # seconds for one request and its answer; None for no limit
    qps: float | None = None  # requests per second; None for no limit of our own
    burst: int = 10
    warning_handler: Callable[[ServerWarning], None] | None = None

    @property
    def base_url(self) -> str:
        """The server's URL, without a slash at the end."""
        return server_url(self.host, tls=self._wants_tls())

    @property
    def uses_tls(self) -> bool:
        return self.base_url.startswith("https:")

    def _wants_tls(self) -> bool:
        certificates = (self.ca_file, self.ca_data, self.client_cert_file, self.client_cert_data)
        return self.insecure_skip_tls_verify or any(certificates)

    @classmethod
    def _rules(cls, values: Mapping[str, Any]) -> Iterator[Mistake]:
        yield from _server_mistakes(values)
        yield from _trust_mistakes(values)
        yield from _identity_mistakes(values)
        yield from _pace_mistakes(values)


def _server_mistakes(values: Mapping[str, Any]) -> Iterator[Mistake]:
    try:
        server_url(values["host"], tls=True)
    except ValueError as error:
        yield Mistake("host", str(error))
    if not is_namespace(values["namespace"]):
        yield Mistake("namespace", f"{values['namespace']!r} is no namespace; {_LABEL_RULE}")
    if values["proxy_url"]:
        yield from url_mistakes("proxy_url", values["proxy_url"], PROXY_SCHEMES)
    if not fits_header(values["user_agent"]):
        yield Mistake("user_agent", "must be one line")


def _trust_mistakes(values: Mapping[str, Any]) -> Iterator[Mistake]:
    if values["ca_file"] and values["ca_data"]:
        yield Mistake("ca_data", "the certificate authority is given both as data and as a file; choose one")
    if values["insecure_skip_tls_verify"] and (values["ca_file"] or values["ca_data"]):
        yield Mistake("insecure_skip_tls_verify", "excludes a certificate authority; choose one")


def _identity_mistakes(values: Mapping[str, Any]) -> Iterator[Mistake]:
    for what, part in (("certificate", "client_cert"), ("key", "client_key")):
        if values[f"{part}_file"] and values[f"{part}_data"]:
            yield Mistake(f"{part}_data", f"the client {what} is given both as data and as a file; choose one")
    has_certificate = bool(values["client_cert_file"] or values["client_cert_data"])
    has_key = bool(values["client_key_file"] or values["client_key_data"])
    if has_certificate != has_key:
        missing, there = ("key", "certificate") if has_certificate else ("certificate", "key")
        yield Mistake(f"client_{missing[:4]}_file", f"there is a client {there} without a client {missing}")
    if (values["token"] or values["token_file"]) and (values["username"] or values["password"]):
        yield Mistake("token", "a token and a user name with password exclude each other; choose one")
    if not fits_header(values["token"].strip()):
        yield Mistake("token", "must be one line")
    for name, kind in (("exec", ExecConfig), ("auth_provider", OIDCConfig), ("impersonate", Impersonation)):
        if not isinstance(values[name], kind | None):
            yield Mistake(name, f"must be an {kind.__name__} or None, is a {type(values[name]).__name__}")
    if values["exec"] and values["auth_provider"]:
        yield Mistake("exec", "an exec plugin and an auth provider exclude each other; choose one")


def _pace_mistakes(values: Mapping[str, Any]) -> Iterator[Mistake]:
    for name in ("timeout", "qps"):
        value = values[name]
        if value is not None and not (isinstance(value, int | float) and value > 0):
            yield Mistake(name, "must be a number above zero, or None for no limit")
    if not isinstance(values["burst"], int) or values["burst"] < 1:
        yield Mistake("burst", "must be a whole number above zero")


def check_config(given: object) -> None:
    """Say to those who give a client something else what it needs."""
    if not isinstance(given, ClientConfig):
        # Of what kind it is, and nothing more: it may be a URL with a password, or a dict with a token.
        way_out = "pass listwatch.load_config(), or listwatch.ClientConfig(host=...)"
        raise UsageError(f"a client cannot be made of this {type(given).__name__}: {way_out}")


# --- Texts ------------------------------------------------------------------------------------------------------------


def is_namespace(text: str) -> bool:
    return _DNS_LABEL.fullmatch(text) is not None


def server_url(host: str, *, tls: bool) -> str:
    """The URL for a URL or `host:port`, https if `tls` and nothing else is said; a ValueError says what is wrong."""
    if not host:
        raise ValueError("is missing; give the API server's URL, such as https://10.0.0.1:6443")
    url = _split(host)
    if not (url.scheme and url.netloc):
        url = _split(f"{'https' if tls else 'http'}://{host}")
        if url.path not in ("", "/"):
            raise ValueError("must be a URL, such as https://10.0.0.1:6443, or host:port")
    _check_url(url, ("https", "http"))
    if "@" in url.netloc:
        raise ValueError("must not contain a user or a password; a user entry or the other options are for that")
    return f"{url.scheme}://{url.netloc}{url.path.rstrip('/')}"


def without_password(url: str) -> str:
    """The same URL, fit to be shown."""
    before, at, after = url.rpartition("@")
    return f"{before.rpartition('//')[0]}//<hidden>@{after}" if at else url


def url_mistakes(name: str, url: str, schemes: tuple[str, ...] = ("https", "http")) -> Iterator[Mistake]:
    """What is wrong with a URL, of which nothing is repeated."""
    try:
        _check_url(_split(url), schemes)
    except ValueError as error:
        yield Mistake(name, str(error))


def _split(url: str) -> SplitResult:
    if not url.isprintable() or " " in url:
        raise ValueError("must be a URL without blanks and control characters")
    try:
        return urlsplit(url)
    except ValueError:
        pass
    # Raised out here: the foreign error may quote a password that is part of the URL.
    raise ValueError("must be a URL")


def _check_url(url: SplitResult, schemes: tuple[str, ...]) -> None:
    if url.scheme not in schemes:
        raise ValueError(f"must be a URL that starts with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    if not url.hostname:
        raise ValueError("must be a URL with a host in it")
    if not _has_valid_port(url):
        raise ValueError("must be a URL with a port between 0 and 65535, or none")


def _has_valid_port(url: SplitResult) -> bool:
    try:
        return url.port is None or url.port >= 0
    except ValueError:
        return False
