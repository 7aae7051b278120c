"""The configuration of a client, as frozen dataclasses. `kubeconfig` reads it from files; the transport uses it.

Each class validates its fields on creation and reports all problems in one error. No file is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args
from urllib.parse import SplitResult, urlsplit

from listwatch.api.http_messages import ContentType
from listwatch.client.config.validated_config import HIDDEN, ConfigProblem, ValidatedConfig, is_encodable
from listwatch.errors import UsageError
from listwatch.json_value import JSON

__all__ = ["ClientConfig", "ExecConfig", "Impersonation", "KubeconfigUser", "OIDCConfig", "ServerWarning"]

EXEC_API = "client.authentication.k8s.io"
_EXEC_VERSIONS = (f"{EXEC_API}/v1", f"{EXEC_API}/v1beta1")
_CONTENT_TYPES = get_args(ContentType)
_INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")
PROXY_SCHEMES = ("http", "https", "socks5")
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL_RULE = "use at most 63 lower-case letters, digits and dashes, with a letter or digit at both ends"
_URL = {"show": lambda url: repr(redact_url(url))}
_NOT_A_HEADER_NAME = re.compile(rb"[^!#$&'*+\-.^_`|~0-9A-Za-z]")


# --- Warnings ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ServerWarning:
    """A warning of the API server about a request, from a `Warning` header."""

    code: int
    agent: str
    text: str

    def __str__(self) -> str:
        return self.text


# --- Identity ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KubeconfigUser:
    """The user entry of a kubeconfig file that a plugin or provider was read from."""

    file: str
    user: str

    @property
    def entry(self) -> str:
        """The entry's name as error messages write it."""
        return f'user "{self.user}"'


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Impersonation(ValidatedConfig):
    """The user to act as. The server must permit the authenticated user to impersonate it."""

    user: str
    uid: str = ""
    groups: Sequence[str] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Return the impersonation headers; names repeat for groups and extra values."""
        found = [("Impersonate-User", self.user)]
        if self.uid:
            found.append(("Impersonate-Uid", self.uid))
        found += [("Impersonate-Group", group) for group in self.groups]
        for key, values in self.extra.items():
            found += [(f"Impersonate-Extra-{_escaped(key)}", value) for value in values]
        return tuple(found)

    def _problems(self) -> Iterator[ConfigProblem]:
        if not self.user:
            yield ConfigProblem("user", "is empty; uid, groups and extra require a user to impersonate")
        if any(not isinstance(values, list | tuple) for values in self.extra.values()):
            yield ConfigProblem("extra", "must be a mapping of lists of strings")
            return
        if "" in self.extra:
            yield ConfigProblem("extra", "has an empty key")
        sent = [("user", self.user), ("uid", self.uid), *(("groups", group) for group in self.groups)]
        sent += [("extra", text) for key, values in self.extra.items() for text in (key, *values)]
        for name in dict.fromkeys(name for name, text in sent if not is_header_value(text)):
            yield ConfigProblem(name, "must be text without line breaks and control characters")


def _escaped(key: str) -> str:
    """Percent-encode the key for a header name, as the server decodes it."""
    return _NOT_A_HEADER_NAME.sub(lambda byte: b"%%%02X" % byte[0][0], key.encode()).decode("ascii")


def is_header_value(value: object) -> bool:
    """Whether the value can be sent in an HTTP header."""
    return isinstance(value, str) and value.isprintable()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExecConfig(ValidatedConfig):
    """A credential plugin: the program that prints credentials, and how to run it."""

    command: str
    api_version: str = _EXEC_VERSIONS[0]
    args: Sequence[str] = field(default=(), metadata=HIDDEN)
    env: Mapping[str, str] = field(default_factory=dict, metadata={"show": lambda env: f"<hidden: {', '.join(env)}>"})
    interactive_mode: str = "IfAvailable"
    provide_cluster_info: bool = False
    cluster_config: JSON = field(default=None, metadata=HIDDEN)  # the cluster's extension for exec plugins
    install_hint: str = ""
    timeout: float | None = 60.0  # seconds for a run without a terminal, after which it is killed; None for no limit
    kubeconfig_user: KubeconfigUser | None = None  # where this was read from; errors name it

    def _problems(self) -> Iterator[ConfigProblem]:
        if not self.command:
            yield ConfigProblem("command", "is missing; name the program that prints the credentials")
        if self.api_version not in _EXEC_VERSIONS:
            yield ConfigProblem("api_version", _not_one_of(self.api_version, _EXEC_VERSIONS))
        if self.interactive_mode not in _INTERACTIVE_MODES:
            yield ConfigProblem("interactive_mode", _not_one_of(self.interactive_mode, _INTERACTIVE_MODES))
        if "" in self.env:
            yield ConfigProblem("env", "has a variable without a name")
        if not all(map(_is_process_text, (*self.env, *self.env.values()))) or any("=" in name for name in self.env):
            yield ConfigProblem("env", "must contain valid environment variables")
        if not all(map(_is_process_text, self.args)):
            yield ConfigProblem("args", "must contain valid program arguments")
        timeout: object = self.timeout
        if timeout is not None and not (isinstance(timeout, int | float) and timeout > 0):
            yield ConfigProblem("timeout", "must be a number above zero, or None for no limit")


def _is_process_text(text: object) -> bool:
    """Whether the text can be a program's argument or environment variable."""
    return isinstance(text, str) and is_encodable(text) and "\0" not in text


def _not_one_of(value: str, allowed: Iterable[str]) -> str:
    return f"{f'is {value!r}' if value else 'is missing'}; it must be one of {', '.join(allowed)}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OIDCConfig(ValidatedConfig):
    """An OpenID Connect provider that issues and refreshes ID tokens."""

    issuer_url: str = field(metadata=_URL)
    client_id: str
    client_secret: str = field(default="", metadata=HIDDEN)
    id_token: str = field(default="", metadata=HIDDEN)
    refresh_token: str = field(default="", metadata=HIDDEN)
    ca_file: str = ""
    ca_data: bytes = b""
    kubeconfig_user: KubeconfigUser | None = None  # new tokens are written to this entry

    def _problems(self) -> Iterator[ConfigProblem]:
        if not self.client_id:
            yield ConfigProblem("client_id", "is missing")
        yield from url_problems("issuer_url", self.issuer_url)
        if not is_header_value(self.id_token.strip()):
            yield ConfigProblem("id_token", "must be one line")
        if not (self.id_token or self.refresh_token):
            yield ConfigProblem("refresh_token", "there is neither a refresh token nor an ID token; log in again")


# --- The connection ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClientConfig(ValidatedConfig):
    """The API server's address, how to trust it, the credentials, and the options of requests."""

    host: str = field(default="", metadata=_URL)  # a URL, or host:port; its path is put before the path of each request
    namespace: str = "default"

    token: str = field(default="", metadata=HIDDEN)
    token_file: str = ""  # re-read regularly; takes precedence over `token`
    username: str = ""
    password: str = field(default="", metadata=HIDDEN)
    client_cert_file: str = ""
    client_key_file: str = ""
    client_cert_data: bytes = field(default=b"", metadata=HIDDEN)
    client_key_data: bytes = field(default=b"", metadata=HIDDEN)
    exec: ExecConfig | None = None
    auth_provider: OIDCConfig | None = None
    impersonate: Impersonation | None = None
    # Where the credentials were read from; errors name it.
    kubeconfig_user: KubeconfigUser | None = field(default=None, compare=False)

    ca_file: str = ""
    ca_data: bytes = field(default=b"", metadata={"show": lambda data: f"<{len(data)} bytes>"})
    tls_server_name: str = ""  # the name expected in the server's certificate, if it is not the host
    insecure_skip_tls_verify: bool = False

    proxy_url: str = field(default="", metadata=_URL)
    disable_compression: bool = False
    user_agent: str = ""
    timeout: float | None = 60.0  # seconds for one attempt of a request and its response; None for no limit
    max_retry_after: float | None = 60.0  # seconds; a longer Retry-After is shortened to this; None for no limit
    qps: float | None = None  # requests per second; None for no client-side limit
    burst: int = 10
    max_event_size: int | None = 16 * 2**20  # bytes of one watch event; 0 or None for no limit
    content_type: ContentType = "json"  # of built-in kinds; protobuf is smaller, but slower to access
    max_response_size: int | None = 2**30  # bytes of one response, such as a page of a list; 0 or None for no limit
    warning_handler: Callable[[ServerWarning], None] | None = None

    @property
    def base_url(self) -> str:
        """The server's URL, without a trailing slash."""
        return server_url(self.host, tls=self._wants_tls())

    @property
    def uses_tls(self) -> bool:
        """Whether the server is reached over https."""
        return self.base_url.startswith("https:")

    def _wants_tls(self) -> bool:
        certificates = (self.ca_file, self.ca_data, self.client_cert_file, self.client_cert_data)
        return self.insecure_skip_tls_verify or any(certificates)

    def _problems(self) -> Iterator[ConfigProblem]:
        yield from _server_problems(self)
        yield from _trust_problems(self)
        yield from _identity_problems(self)
        yield from _limit_problems(self)


def _server_problems(config: ClientConfig) -> Iterator[ConfigProblem]:
    try:
        server_url(config.host, tls=True)
    except ValueError as error:
        yield ConfigProblem("host", str(error))
    if not is_namespace(config.namespace):
        yield ConfigProblem("namespace", f"{config.namespace!r} is not a valid namespace; {_LABEL_RULE}")
    if config.proxy_url:
        yield from url_problems("proxy_url", config.proxy_url, PROXY_SCHEMES)
    if not is_header_value(config.user_agent):
        yield ConfigProblem("user_agent", "must be one line")
    if config.content_type not in _CONTENT_TYPES:
        yield ConfigProblem("content_type", _not_one_of(config.content_type, _CONTENT_TYPES))


def _trust_problems(config: ClientConfig) -> Iterator[ConfigProblem]:
    if config.ca_file and config.ca_data:
        yield ConfigProblem("ca_data", "the certificate authority is given both as data and as a file; choose one")
    if config.insecure_skip_tls_verify and (config.ca_file or config.ca_data):
        yield ConfigProblem("insecure_skip_tls_verify", "excludes a certificate authority; choose one")


def _identity_problems(config: ClientConfig) -> Iterator[ConfigProblem]:
    if config.client_cert_file and config.client_cert_data:
        yield ConfigProblem(
            "client_cert_data", "the client certificate is given both as data and as a file; choose one"
        )
    if config.client_key_file and config.client_key_data:
        yield ConfigProblem("client_key_data", "the client key is given both as data and as a file; choose one")
    has_certificate = bool(config.client_cert_file or config.client_cert_data)
    has_key = bool(config.client_key_file or config.client_key_data)
    if has_certificate and not has_key:
        yield ConfigProblem("client_key_file", "there is a client certificate without a client key")
    if has_key and not has_certificate:
        yield ConfigProblem("client_cert_file", "there is a client key without a client certificate")
    if (config.token or config.token_file) and (config.username or config.password):
        yield ConfigProblem("token", "a token and a user name with password exclude each other; choose one")
    if not is_header_value(config.token.strip()):
        yield ConfigProblem("token", "must be one line")
    for name, kind in (("exec", ExecConfig), ("auth_provider", OIDCConfig), ("impersonate", Impersonation)):
        if not isinstance(value := getattr(config, name), kind | None):
            yield ConfigProblem(name, f"must be an {kind.__name__} or None, is a {type(value).__name__}")
    if config.exec and config.auth_provider:
        yield ConfigProblem("exec", "an exec plugin and an auth provider exclude each other; choose one")


def _limit_problems(config: ClientConfig) -> Iterator[ConfigProblem]:
    limits: dict[str, object] = {
        "timeout": config.timeout,
        "max_retry_after": config.max_retry_after,
        "qps": config.qps,
    }
    for name, value in limits.items():
        if value is not None and not (isinstance(value, int | float) and value > 0):
            yield ConfigProblem(name, "must be a number above zero, or None for no limit")
    burst: object = config.burst
    if not isinstance(burst, int) or burst < 1:
        yield ConfigProblem("burst", "must be a whole number above zero")
    sizes: dict[str, object] = {"max_event_size": config.max_event_size, "max_response_size": config.max_response_size}
    for name, size in sizes.items():
        if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 0):
            yield ConfigProblem(name, "must be a number of bytes, or 0 for no limit")


def check_config(given: object) -> None:
    """Raise a UsageError unless the argument of a client is a ClientConfig."""
    if not isinstance(given, ClientConfig):
        # Names the type only: the value may be a URL with a password, or a dict with a token.
        advice = "pass listwatch.load_config() or listwatch.ClientConfig(host=...)"
        raise UsageError(f"a client needs a ClientConfig, not a {type(given).__name__}: {advice}")


def closed_client() -> UsageError:
    """Return the error of a request that is sent after the client was closed."""
    return UsageError(
        "the client is closed: its `async with` block has ended, or aclose() was called; send requests before that, or "
        "create a new client"
    )


# --- Hosts and URLs --------------------------------------------------------------------------------------------------


def is_namespace(text: str) -> bool:
    """Whether the text is a valid name of a namespace."""
    return _DNS_LABEL.fullmatch(text) is not None


def server_url(host: str, *, tls: bool) -> str:
    """Return the URL of a URL or `host:port`, which is https if `tls`; ValueError if it is invalid."""
    if not host:
        raise ValueError("is missing; pass the API server's URL, such as https://10.0.0.1:6443")
    url = _split(host)
    if not (url.scheme and url.netloc):
        url = _split(f"{'https' if tls else 'http'}://{host}")
        if url.path not in ("", "/"):
            raise ValueError("must be a URL, such as https://10.0.0.1:6443, or host:port")
    _check_url(url, ("https", "http"))
    if "@" in url.netloc:
        raise ValueError("must not contain a user or a password; use username and password")
    return f"{url.scheme}://{url.netloc}{url.path.rstrip('/')}"


def redact_url(url: str) -> str:
    """Return the URL without user and password, for messages."""
    before, at, after = url.rpartition("@")
    return f"{before.rpartition('//')[0]}//<hidden>@{after}" if at else url


def url_problems(name: str, url: str, schemes: tuple[str, ...] = ("https", "http")) -> Iterator[ConfigProblem]:
    """Yield what is wrong with a URL. The messages do not quote it, because it may contain a password."""
    try:
        _check_url(_split(url), schemes)
    except ValueError as error:
        yield ConfigProblem(name, str(error))


def _split(url: str) -> SplitResult:
    if not url.isprintable() or " " in url:
        raise ValueError("must be a URL without spaces and control characters")
    try:
        return urlsplit(url)
    except ValueError:
        pass
    # Raised outside the handler: the original error may quote a password in the URL.
    raise ValueError("must be a URL")


def _check_url(url: SplitResult, schemes: tuple[str, ...]) -> None:
    if url.scheme not in schemes:
        raise ValueError(f"must be a URL that starts with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    if not url.hostname:
        raise ValueError("must be a URL with a host")
    if not _has_valid_port(url):
        raise ValueError("must be a URL with a port between 0 and 65535, or without one")


def _has_valid_port(url: SplitResult) -> bool:
    try:
        return url.port is None or url.port >= 0
    except ValueError:
        return False
