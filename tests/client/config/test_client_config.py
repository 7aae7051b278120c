import copy
import dataclasses
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.client.config.client_config import ClientConfig, ExecConfig, Impersonation, KubeconfigUser, OIDCConfig
from listwatch.errors import ConfigError

CANARY = "c4n4ry-in-the-mine"
HOST = "https://10.0.0.1:6443"


# Secrets


@pytest.mark.parametrize(
    "fields",
    [
        {"token": CANARY},
        {"username": "u", "password": CANARY},
        {"client_cert_data": b"certificate", "client_key_data": CANARY.encode()},
        {"proxy_url": f"http://user:{CANARY}@proxy:3128"},
        {"exec": ExecConfig(command="aws", args=["--secret", CANARY])},
        {"exec": ExecConfig(command="aws", env={"SECRET": CANARY})},
        {"exec": ExecConfig(command="aws", cluster_config={"secret": CANARY})},
        {"auth_provider": OIDCConfig(issuer_url="https://idp", client_id="a", client_secret=CANARY, id_token="x")},
        {"auth_provider": OIDCConfig(issuer_url="https://idp", client_id="a", id_token=CANARY)},
        {"auth_provider": OIDCConfig(issuer_url="https://idp", client_id="a", refresh_token=CANARY)},
        {"auth_provider": OIDCConfig(issuer_url=f"https://u:{CANARY}@idp", client_id="a", refresh_token="r")},
    ],
    ids=lambda fields: list(fields)[-1],
)
def test_a_secret_shows_that_it_is_set_and_nothing_more(fields: dict[str, Any]):
    config = ClientConfig(host=HOST, **fields)
    assert CANARY not in f"{config!r} {config} {vars(type(config)).keys()}"
    assert "<hidden" in repr(config)


@pytest.mark.parametrize(
    "fields",
    [
        {"token": f"{CANARY}\nX-Injected: yes"},
        {"token": CANARY, "username": "u", "password": CANARY},
        {"host": f"https://user:{CANARY}@10.0.0.1"},
        {"host": f"https://user:{CANARY}@[10.0.0.1"},
        {"host": f"https://user:{CANARY}@10.0.0.1:port"},
        {"host": f"https://{CANARY} /"},
        {"proxy_url": f"ftp://user:{CANARY}@proxy"},
        {"proxy_url": f"http://user:{CANARY}@proxy:99999"},
        {"proxy_url": f"http://user:{CANARY}@[proxy"},
        {"client_key_data": CANARY.encode()},
        {"password": CANARY.encode()},
    ],
)
def test_no_error_quotes_a_secret(fields: dict[str, Any]):
    with pytest.raises(ConfigError) as caught:
        ClientConfig(**{"host": HOST, **fields})
    chain = [caught.value, caught.value.__cause__, caught.value.__context__]
    assert CANARY not in " ".join(f"{error!r} {error}" for error in chain)


def test_fields_that_are_not_secret_are_shown_if_they_are_set():
    config = ClientConfig(host=HOST, namespace="web", ca_data=b"12345", impersonate=Impersonation(user="jane"))
    assert repr(config) == (
        "ClientConfig(host='https://10.0.0.1:6443', namespace='web', impersonate=Impersonation(user='jane'), "
        "ca_data=<5 bytes>)"
    )


# Invalid fields


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"host": ""}, "host: is missing"),
        ({"host": "https://"}, "host: must be a URL, such as"),
        ({"host": "https://:6443"}, "host: must be a URL with a host"),
        ({"host": "ftp://10.0.0.1"}, "host: must be a URL that starts with https:// or http://"),
        ({"host": "https://10.0.0.1:66666"}, "host: must be a URL with a port"),
        ({"host": "10.0.0.1:6443/prefix"}, "host: must be a URL, such as"),
        ({"host": 6443}, "host: must be a str, is a int"),
        ({"namespace": "Web"}, "namespace: 'Web' is not a valid namespace"),
        ({"namespace": ""}, "namespace: '' is not a valid namespace"),
        ({"password": "\ud800"}, "password: contains half of a surrogate pair, which cannot be encoded"),
        ({"token": None}, "token: must be a str, is a NoneType"),
        ({"ca_file": "/ca.crt", "ca_data": b"x"}, "ca_data: the certificate authority is given both"),
        ({"ca_file": "/ca.crt", "insecure_skip_tls_verify": True}, "insecure_skip_tls_verify: excludes"),
        ({"client_cert_file": "/tls.crt"}, "client_key_file: there is a client certificate without a client key"),
        ({"client_key_data": b"x"}, "client_cert_file: there is a client key without a client certificate"),
        (
            {"client_cert_file": "/tls.crt", "client_cert_data": b"x", "client_key_file": "/tls.key"},
            "client_cert_data: the client certificate is given both",
        ),
        (
            {"client_cert_file": "/tls.crt", "client_key_data": b"x", "client_key_file": "/tls.key"},
            "client_key_data: the client key is given both",
        ),
        ({"token": "t", "username": "u"}, "token: a token and a user name"),
        ({"token_file": "/token", "password": "p"}, "token: a token and a user name"),
        ({"proxy_url": "socks4://proxy"}, "proxy_url: must be a URL that starts with http:// or https:// or socks5://"),
        ({"proxy_url": "proxy:3128"}, "proxy_url: must be a URL that starts"),
        ({"timeout": 0}, "timeout: must be a number above zero"),
        ({"qps": -1.0}, "qps: must be a number above zero"),
        ({"burst": 0}, "burst: must be a whole number above zero"),
        ({"user_agent": "a\r\nb"}, "user_agent: must be one line"),
        ({"exec": {"command": "aws"}}, "exec: must be an ExecConfig or None, is a dict"),
        (
            {
                "exec": ExecConfig(command="aws"),
                "auth_provider": OIDCConfig(issuer_url="https://idp", client_id="a", id_token="b"),
            },
            "exec: an exec plugin and an auth provider exclude each other",
        ),
    ],
)
def test_an_error_names_the_field(fields: dict[str, Any], message: str):
    with pytest.raises(ConfigError) as caught:
        ClientConfig(**{"host": HOST, **fields})
    assert str(caught.value).startswith(f"ClientConfig: {message}")


def test_all_invalid_fields_are_reported_in_one_error():
    with pytest.raises(ConfigError, match=r"host: .*; namespace: .*; burst: "):
        ClientConfig(host="ftp://x", namespace="A", burst=0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"command": ""}, "command: is missing"),
        ({"api_version": ""}, "api_version: is missing; it must be one of client.authentication.k8s.io/v1,"),
        ({"api_version": "client.authentication.k8s.io/v1alpha1"}, "api_version: is 'client.authentication.k8s.io/v1a"),
        ({"interactive_mode": "Sometimes"}, "interactive_mode: is 'Sometimes'; it must be one of Never, IfAvailable"),
        ({"env": {"": "x"}}, "env: has a variable without a name"),
        ({"env": [("A", "b")]}, "env: must be a mapping of strings, is a list"),
        ({"args": "--one"}, "args: must be a list of strings, is a str"),
        ({"args": ["a\0b"]}, "args: must contain valid program arguments"),
        ({"args": ["\ud800"]}, "args: must contain valid program arguments"),
        ({"env": {"A=B": "c"}}, "env: must contain valid environment variables"),
        ({"env": {"A": 1}}, "env: must contain valid environment variables"),
        ({"env": {"A": "\0"}}, "env: must contain valid environment variables"),
    ],
)
def test_an_invalid_exec_plugin_is_rejected(fields: dict[str, Any], message: str):
    with pytest.raises(ConfigError) as caught:
        ExecConfig(**{"command": "aws", **fields})
    assert str(caught.value).startswith(f"ExecConfig: {message}")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"client_id": ""}, "client_id: is missing"),
        ({"issuer_url": "idp.example.com"}, "issuer_url: must be a URL that starts with https://"),
        ({"id_token": "a\nb"}, "id_token: must be one line"),
        ({"refresh_token": ""}, "refresh_token: there is neither a refresh token nor an ID token; log in again"),
    ],
)
def test_an_invalid_oidc_provider_is_rejected(fields: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=f"OIDCConfig: {message}"):
        OIDCConfig(**{"issuer_url": "https://idp", "client_id": "a", "refresh_token": "r", **fields})


@given(st.text(), st.text(), st.text())
def test_any_strings_give_a_config_or_a_config_error(host: str, proxy_url: str, namespace: str):
    try:
        config = ClientConfig(host=host, proxy_url=proxy_url, namespace=namespace or "default")
    except ConfigError:
        return
    assert config.base_url.startswith(("http://", "https://"))
    assert repr(config)


# The server's URL


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("https://10.0.0.1:6443", "https://10.0.0.1:6443"),
        ("https://10.0.0.1:6443/", "https://10.0.0.1:6443"),
        ("https://rancher/k8s/clusters/c-1/", "https://rancher/k8s/clusters/c-1"),
        ("https://server/prefix?query#fragment", "https://server/prefix"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("localhost", "http://localhost"),
        ("localhost:8080", "http://localhost:8080"),
        ("10.0.0.1:8080", "http://10.0.0.1:8080"),
        ("HTTPS://Server", "https://Server"),
    ],
)
def test_the_base_url_has_a_scheme_and_no_trailing_slash(host: str, url: str):
    config = ClientConfig(host=host)
    assert config.base_url == url
    assert config.uses_tls == url.startswith("https")


@pytest.mark.parametrize(
    "fields",
    [
        {"ca_file": "/ca.crt"},
        {"ca_data": b"ca"},
        {"insecure_skip_tls_verify": True},
        {"client_cert_data": b"c", "client_key_data": b"k"},
    ],
)
def test_a_host_without_a_scheme_uses_tls_if_a_tls_option_is_set(fields: dict[str, Any]):
    assert ClientConfig(host="10.0.0.1:6443", **fields).base_url == "https://10.0.0.1:6443"
    assert ClientConfig(host="http://10.0.0.1:6443", **fields).base_url == "http://10.0.0.1:6443"


# Impersonation


def test_impersonation_headers_repeat_for_groups_and_extra_values():
    impersonation = Impersonation(user="jane", uid="42", groups=["dev", "ops"], extra={"scopes": ["view", "edit"]})
    assert impersonation.headers() == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "42"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Extra-scopes", "view"),
        ("Impersonate-Extra-scopes", "edit"),
    )


@pytest.mark.parametrize(
    ("key", "escaped"),
    [
        ("example.com/thing", "example.com%2Fthing"),
        ("with space", "with%20space"),
        ("100%", "100%25"),
        ("ü", "%C3%BC"),
        ("a:b", "a%3Ab"),
        ("plain-1_2.3~|^`", "plain-1_2.3~|^`"),
    ],
)
def test_extra_keys_are_percent_encoded_in_header_names(key: str, escaped: str):
    assert Impersonation(user="u", extra={key: ["v"]}).headers()[1] == (f"Impersonate-Extra-{escaped}", "v")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"user": "", "groups": ["a"]}, "user: is empty; uid, groups and extra require a user"),
        ({"user": "a\r\nb"}, "user: must be text without line breaks"),
        ({"groups": ["a\nb"]}, "groups: must be text without line breaks"),
        ({"groups": "ops"}, "groups: must be a list of strings, is a str"),
        ({"extra": {"k": "v"}}, "extra: must be a mapping of lists"),
        ({"extra": {"k": ["a\0"]}}, "extra: must be text without line breaks"),
        ({"extra": {"k\ud800": ["a"]}}, "extra: must be text without line breaks"),
        ({"extra": {1: ["a"]}}, "extra: must be text without line breaks"),
        ({"extra": {"": ["a"]}}, "extra: has an empty key"),
    ],
)
def test_an_impersonation_that_cannot_be_sent_is_rejected(fields: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        Impersonation(**{"user": "u", **fields})


# Value semantics


def test_a_config_can_be_replaced_copied_and_pickled():
    config = ClientConfig(
        host=HOST,
        token="t",
        exec=ExecConfig(command="aws", env={"A": "b"}, kubeconfig_user=KubeconfigUser("/config", "u")),
        impersonate=Impersonation(user="u", groups=["g"], extra={"k": ["v"]}),
    )
    assert copy.deepcopy(config) == config
    assert pickle.loads(pickle.dumps(config)) == config
    assert dataclasses.replace(config, namespace="web").namespace == "web"


def test_a_config_copies_its_lists_and_mappings():
    groups, args, env = ["g"], ["a"], {"A": "b"}
    impersonation, plugin = Impersonation(user="u", groups=groups), ExecConfig(command="c", args=args, env=env)
    for each in (groups, args):
        each.append("more")
    env["B"] = "c"
    assert (impersonation.groups, plugin.args, plugin.env) == (("g",), ("a",), {"A": "b"})
