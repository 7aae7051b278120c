import base64
import contextlib
import json
import logging
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml
from hypothesis import given
from hypothesis import strategies as st

from listwatch.client.config.client_config import ClientConfig, ExecConfig, Impersonation, KubeconfigUser, OIDCConfig
from listwatch.client.config.in_cluster import load_incluster_config
from listwatch.client.config.kubeconfig import load_config, load_kube_config, read_kubeconfig
from listwatch.client.config.kubeconfig_reader import parse_kubeconfig
from listwatch.client.config.kubeconfig_writer import write_kubeconfig, write_tokens
from listwatch.errors import ConfigError, EmptyConfigError, NotInClusterError

CANARY = "c4n4ry-in-the-mine"
AUTHORITY = trustme.CA()
CA_PEM = AUTHORITY.cert_pem.bytes()
CA_DATA = base64.b64encode(CA_PEM).decode()
ISSUED = AUTHORITY.issue_cert("client@example.com")
CERT_PEM, KEY_PEM = ISSUED.cert_chain_pems[0].bytes(), ISSUED.private_key_pem.bytes()

Write = Callable[..., Path]


def laughs(level: str) -> str:
    """A short document of which each level contains the level before it nine times."""
    lines = ["a0: &a0 {k: v}"]
    for number in range(1, 12):
        references = ", ".join([f"*a{number - 1}"] * 9)
        lines.append(f"a{number}: &a{number} {level.format(references=references)}")
    return "\n".join(lines)


@pytest.fixture(autouse=True)
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a kubeconfig, outside any pod."""
    for name in (
        "KUBECONFIG",
        "KUBERNETES_MASTER",
        "KUBERNETES_SERVICE_HOST",
        "KUBERNETES_SERVICE_PORT",
        "POD_NAMESPACE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: Any, name: str = "config") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return path

    return write


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The service account folder of a pod."""
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text("pod-token\n")
    (folder / "ca.crt").write_bytes(CA_PEM)
    (folder / "namespace").write_text("pod-namespace\n")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    return folder


def kubeconfig(
    cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, context: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A file with one context, c, and in it the cluster k and the user u."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "k", "cluster": {"server": "https://10.0.0.1:6443"} | (cluster or {})}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"} | (context or {})}],
    }


def exec_entry(**fields: Any) -> dict[str, Any]:
    version = "client.authentication.k8s.io/v1"
    return {"exec": {"command": "aws", "apiVersion": version, "interactiveMode": "Never"} | fields}


# Finding the files


def test_the_given_path_comes_first(write: Write, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KUBECONFIG", str(write(kubeconfig({"server": "https://environment"}), "environment")))
    write(kubeconfig({"server": "https://home"}), ".kube/config")
    given = write(kubeconfig({"server": "https://given"}), "given")
    assert load_config(given).host == "https://given"
    assert load_config(str(given)).host == "https://given"
    assert load_config("~/given").host == "https://given"
    assert load_config().host == "https://environment"
    assert load_config("").host == "https://environment"
    monkeypatch.setenv("KUBECONFIG", "")
    assert load_config().host == "https://home"


def test_the_given_path_must_exist(tmp_path: Path):
    with pytest.raises(ConfigError, match=f"{tmp_path}/nowhere: the file does not exist"):
        load_config(tmp_path / "nowhere")


def test_missing_files_of_the_list_are_ignored(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    there = write(kubeconfig())
    listed = [str(tmp_path / "nowhere"), "", str(there), str(there)]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(listed))
    assert read_kubeconfig().files == (str(there),)
    assert load_config().host == "https://10.0.0.1:6443"


def test_if_no_file_of_the_list_exists_there_is_one_error_or_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path}/one{os.pathsep}{tmp_path}/two")
    with pytest.raises(EmptyConfigError, match="no file of KUBECONFIG="):
        load_config()
    assert "KUBECONFIG" not in caplog.text
    monkeypatch.setenv("KUBERNETES_MASTER", "https://elsewhere")
    assert load_config().host == "https://elsewhere"
    assert f"None of the files in KUBECONFIG exists: {tmp_path}/one, {tmp_path}/two" in caplog.text


def test_without_any_file_the_error_names_the_searched_places():
    with pytest.raises(EmptyConfigError, match=r"KUBECONFIG is not set, ~/.kube/config does not exist, and") as caught:
        load_config()
    [advice] = caught.value.__notes__
    assert advice.startswith("Set KUBECONFIG, or start a server to try things out: python -m listwatch.server")


def test_all_invalid_files_are_reported_in_one_error(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "folder").mkdir()
    paths = [write("[", "one"), write(kubeconfig(), "two"), tmp_path / "folder"]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, paths)))
    with pytest.raises(ConfigError) as caught:
        load_config()
    assert str(caught.value) == (
        f"2 errors: {paths[0]}: is not valid YAML in line 2, column 1: did not find expected node content; "
        f"{paths[2]}: cannot be read: Is a directory"
    )


# Merging


def test_the_first_file_with_an_entry_wins(write: Write, monkeypatch: pytest.MonkeyPatch):
    first = {
        "clusters": [{"name": "both", "cluster": {"server": "https://first"}}],
        "contexts": [{"name": "c", "context": {"cluster": "both", "user": "second"}}],
    }
    second = {
        "current-context": "c",
        "clusters": [{"name": "both", "cluster": {"server": "https://second", "tls-server-name": "second"}}],
        "users": [{"name": "second", "user": {"token": "t"}}],
        "contexts": [{"name": "c", "context": {"cluster": "second", "namespace": "second"}}],
    }
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join([str(write(first, "1")), str(write(second, "2"))]))
    config = load_config()
    # Entries are not merged: nothing of the second cluster or context is used.
    assert (config.host, config.tls_server_name, config.namespace) == ("https://first", "", "default")
    assert config.token == "t"


def test_the_first_current_context_wins(write: Write, monkeypatch: pytest.MonkeyPatch):
    files = [
        {"clusters": [{"name": name, "cluster": {"server": f"https://{name}"}}]}
        | {"contexts": [{"name": name, "context": {"cluster": name}}]}
        | ({"current-context": name} if name != "a" else {})
        for name in "abc"
    ]
    paths = [str(write(content, str(number))) for number, content in enumerate(files)]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(paths))
    assert load_config().host == "https://b"
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(reversed(paths)))
    assert load_config().host == "https://c"


names = st.sampled_from("abcd")


@given(st.lists(st.tuples(names | st.just(""), st.sets(names), st.sets(names), st.sets(names)), max_size=4))
def test_each_merged_entry_comes_from_the_first_file_that_has_it(files: list[Any]):
    read = [
        parse_kubeconfig(
            yaml.safe_dump(
                {
                    "current-context": current,
                    "clusters": [{"name": name, "cluster": {"server": f"https://{number}"}} for name in clusters],
                    "users": [{"name": name, "user": {"username": str(number)}} for name in users],
                    "contexts": [{"name": name, "context": {"namespace": f"n{number}"}} for name in contexts],
                }
            ).encode(),
            file=f"/{number}",
        )
        for number, (current, clusters, users, contexts) in enumerate(files)
    ]
    merged = read_kubeconfig()
    for each in read:
        merged = merged.merge(each)
    assert merged.current_context == next((current for current, *_ in files if current), "")
    for position, found in ((1, merged.clusters), (2, merged.users), (3, merged.contexts)):
        wanted = {name: f"/{number}" for number, file in reversed(list(enumerate(files))) for name in file[position]}
        assert {name: named.file for name, named in found.items()} == wanted


def test_relative_paths_are_resolved_against_the_folder_of_their_file(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    for folder in ("one", "two"):
        (tmp_path / folder / "tls").mkdir(parents=True)
        (tmp_path / folder / "tls" / "ca.crt").write_bytes(CA_PEM)
        (tmp_path / folder / "tls" / "client.crt").write_bytes(CERT_PEM)
        (tmp_path / folder / "tls" / "client.key").write_bytes(KEY_PEM)
        (tmp_path / folder / "token").write_text("t")
    one = {"clusters": [{"name": "k", "cluster": {"server": "https://x", "certificate-authority": "tls/ca.crt"}}]}
    user = {"client-certificate": "tls/client.crt", "client-key": "./tls/client.key", "tokenFile": "../two/token"}
    two = kubeconfig(user=user)
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join([str(write(one, "one/config")), str(write(two, "two/config"))]))
    config = load_config()
    assert config.ca_file == str(tmp_path / "one/tls/ca.crt")
    assert config.client_cert_file == str(tmp_path / "two/tls/client.crt")
    assert config.client_key_file == str(tmp_path / "two/tls/client.key")
    assert config.token_file == str(tmp_path / "two/token")


@pytest.mark.parametrize(
    ("command", "resolved"),
    [
        ("aws", "aws"),
        ("./plugin", "{home}/plugin"),
        ("bin/plugin", "{home}/bin/plugin"),
        ("/bin/plugin", "/bin/plugin"),
    ],
)
def test_a_command_with_a_slash_is_a_path_and_one_without_is_kept(
    write: Write, tmp_path: Path, command: str, resolved: str
):
    config = load_config(write(kubeconfig(user=exec_entry(command=command))))
    assert config.exec is not None
    assert config.exec.command == resolved.format(home=tmp_path)


# Reading one file


@pytest.mark.parametrize("content", ["", "---\n", "# nothing\n", "{}", "null", "clusters: null\nusers:\n"])
def test_an_empty_file_is_an_empty_config(write: Write, content: str):
    with pytest.raises(EmptyConfigError, match="config: no API server is configured"):
        load_config(write(content))


def test_json_is_read_as_well_even_with_tabs(write: Write):
    config = load_config(write(json.dumps(kubeconfig(user={"token": "t"}), indent="\t")))
    assert (config.host, config.token) == ("https://10.0.0.1:6443", "t")


def test_json_may_contain_surrogate_pairs(write: Write):
    text = json.dumps(kubeconfig(user={"username": "🐳"}))
    assert r"\ud83d\udc33" in text, "which is no YAML"
    assert load_config(write(text)).username == "🐳"


def test_flow_style_yaml_is_not_mistaken_for_json(write: Write):
    assert (
        load_config(
            write(
                "{current-context: c, contexts: [{name: c, context: {cluster: k}}], clusters: "
                "[{name: k, cluster: {server: 'https://x'}}]}"
            )
        ).host
        == "https://x"
    )


def test_unknown_fields_and_nulls_are_ignored(write: Write):
    content = kubeconfig({"colour": "blue", "proxy-url": None}, {"token": None, "exec": None, "auth-provider": None})
    others: dict[Any, Any] = {"preferences": {"colors": True}, "extensions": None, 5: 6}
    assert load_config(write(content | others)) == ClientConfig(host="https://10.0.0.1:6443")


def test_null_means_absent_inside_a_plugin_too(write: Write):
    user = exec_entry(args=None, env=[{"name": "A", "value": None}], installHint=None)
    plugin = load_config(write(kubeconfig(user=user))).exec
    assert plugin is not None
    assert (plugin.args, plugin.env, plugin.install_hint) == ((), {"A": ""}, "")


def test_names_may_look_like_dates(write: Write):
    text = yaml.safe_dump(kubeconfig()).replace("name: c", "name: 2024-01-01")
    assert load_config(write(text), "2024-01-01").host == "https://10.0.0.1:6443"


def test_extensions_are_kept_as_they_are(write: Write):
    content = kubeconfig({"extensions": [{"name": "minikube.sigs.k8s.io", "extension": {"a": [None, 1]}}]})
    [extension] = read_kubeconfig(write(content)).clusters["k"].body.extensions
    assert (extension.name, extension.extension) == ("minikube.sigs.k8s.io", {"a": [None, 1]})


WRONG_FILES = [
    ("3", "must be a mapping, is a number"),
    ("[]", "must be a mapping, is a list"),
    ("kind: Pod", "is not a kubeconfig; expected kind Config and apiVersion v1"),
    ("apiVersion: v2", "is not a kubeconfig; expected kind Config and apiVersion v1"),
    ("current-context: 5", "current-context: must be a string, is a number; put it in quotes"),
    ("clusters: {}", "clusters: must be a list, is a mapping"),
    ("clusters: [3]", "clusters[0]: must be a mapping, is a number"),
    ("clusters: [null]", "clusters[0]: must be a mapping, is empty"),
    ("clusters: [{cluster: {}}]", "clusters[0]: name: is missing"),
    ("clusters: [{name: [a]}]", "clusters[0]: name: must be a string, is a list"),
    ("clusters: [{name: k, cluster: []}]", 'cluster "k": must be a mapping, is a list'),
    (
        "clusters: [{name: k, cluster: {server: 1.5}}]",
        'cluster "k": server: must be a string, is a number; put it in quotes',
    ),
    (
        "clusters: [{name: k, cluster: {insecure-skip-tls-verify: 'yes'}}]",
        'cluster "k": insecure-skip-tls-verify: must be true or false, is a string',
    ),
    ("users: [{name: u, user: {token: 12345}}]", 'user "u": token: must be a string, is a number; put it in quotes'),
    ("users: [{name: u, user: {token: yes}}]", 'user "u": token: must be a string, is true or false; put it in quotes'),
    ("users: [{name: u, user: {password: !!binary aGk=}}]", 'user "u": password: must be a string, is binary data'),
    ("users: [{name: u, user: {as-groups: ops}}]", 'user "u": as-groups: must be a list, is a string'),
    ("users: [{name: u, user: {as-user-extra: {a: b}}}]", 'user "u": as-user-extra[...]: must be a list, is a string'),
    ("users: [{name: u, user: {exec: aws}}]", 'user "u": exec: must be a mapping, is a string'),
    (
        "users: [{name: u, user: {exec: {args: [1]}}}]",
        'user "u": exec.args[0]: must be a string, is a number; put it in quotes',
    ),
    (
        "users: [{name: u, user: {exec: {env: [{name: []}]}}}]",
        'user "u": exec.env[0].name: must be a string, is a list',
    ),
    (
        "users: [{name: u, user: {auth-provider: {config: [1]}}}]",
        'user "u": auth-provider.config: must be a mapping, is a list',
    ),
    (
        "contexts: [{name: c, context: {namespace: 1}}]",
        'context "c": namespace: must be a string, is a number; put it in quotes',
    ),
    ("contexts: [{name: c}, {name: c}]", 'context "c": this name appears twice in the file'),
    ("clusters: [{name: k}, {name: k}]", 'cluster "k": this name appears twice in the file'),
    ("users: [{name: u}, {name: u}]", 'user "u": this name appears twice in the file'),
    ("extensions: [{name: a}, {name: a}]", 'extensions: the extension "a" appears twice'),
    (
        "clusters: [{name: k, cluster: {extensions: [{name: a}, {name: a}]}}]",
        'cluster "k": extensions: the extension "a" appears twice',
    ),
    ("a: b\n c: d", "is not valid YAML in line 2, column 3: mapping values are not allowed in this context"),
    ("a: &a [1, *b]", "is not valid YAML in line 1, column 11"),
    ("a: &a [*a]", "has an alias that refers to itself"),
    (laughs("[{references}]"), "has aliases that expand to too much data"),
    (laughs("{{<<: [{references}]}}"), "has aliases that expand to too much data"),
    ("a: 1" + ":1" * 200_000, "no API server is configured"),
    ("a: 0x_", "is not valid YAML"),
    ("[" * 200_000, "is nested too deeply"),
    ('{"a":' * 200_000 + "1" + "}" * 200_000, "is nested too deeply"),
]


@pytest.mark.parametrize(("content", "message"), WRONG_FILES, ids=[message for _, message in WRONG_FILES])
def test_an_error_in_a_file_names_the_entry_and_the_field(write: Write, content: str, message: str):
    path = write(content)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value) == f"{path}: {message}"


def test_all_invalid_entries_of_a_file_are_reported_in_one_error(write: Write):
    path = write("users: [{name: u, user: 3}, {name: v}, {name: v}]\nclusters: [{}]")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value) == (
        f'{path}: 3 errors: clusters[0]: name: is missing; user "u": must be a mapping, is a number; '
        'user "v": this name appears twice in the file'
    )


def test_a_binary_file_is_rejected(tmp_path: Path):
    (tmp_path / "config").write_bytes(b"\xff\xfe\x00\xd8clusters")
    with pytest.raises(ConfigError, match="is not valid YAML"):
        load_config(tmp_path / "config")


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5)
keys = st.sampled_from(
    [
        "apiVersion",
        "kind",
        "current-context",
        "clusters",
        "contexts",
        "users",
        "name",
        "cluster",
        "user",
        "context",
        "server",
        "namespace",
        "token",
        "tokenFile",
        "exec",
        "env",
        "args",
        "command",
        "apiVersion",
        "interactiveMode",
        "auth-provider",
        "config",
        "as",
        "as-groups",
        "as-user-extra",
        "extensions",
        "extension",
        "certificate-authority",
        "certificate-authority-data",
        "client-certificate-data",
        "proxy-url",
        "client-key-data",
        "insecure-skip-tls-verify",
        "username",
        "password",
        "idp-issuer-url",
        "k",
        "u",
        "c",
    ]
)
trees = st.recursive(
    scalars | st.sampled_from(["Config", "v1", "k", "u", "c", "oidc", "https://x", "client.authentication.k8s.io/v1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys | scalars, inner, max_size=5),
    max_leaves=30,
)


def named(kind: str, name: str) -> st.SearchStrategy[Any]:
    return st.lists(trees | st.fixed_dictionaries({"name": st.just(name) | scalars, kind: trees}), max_size=2)


documents = trees | st.fixed_dictionaries(
    {"current-context": st.just("c"), "contexts": st.just([{"name": "c", "context": {"cluster": "k", "user": "u"}}])},
    optional={"clusters": named("cluster", "k"), "users": named("user", "u"), "kind": trees, "extensions": trees},
)


@given(documents)
def test_any_file_gives_a_config_or_a_config_error(tmp_path_factory: pytest.TempPathFactory, tree: Any):
    path = tmp_path_factory.getbasetemp() / "random"
    path.write_text(yaml.safe_dump(tree, allow_unicode=True))
    with contextlib.suppress(ConfigError):
        assert load_kube_config(path).host


# Contexts, clusters and users


def several() -> dict[str, Any]:
    return {
        "current-context": "one",
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}"}} for name in ("a", "b")],
        "users": [{"name": name, "user": {"token": name}} for name in ("jane", "joe")],
        "contexts": [
            {"name": "one", "context": {"cluster": "a", "user": "jane", "namespace": "n1"}},
            {"name": "two", "context": {"cluster": "b", "user": "joe", "namespace": "n2"}},
            {"name": "lost", "context": {"cluster": "x", "user": "y"}},
            {"name": "unknown-user", "context": {"cluster": "a", "user": "y"}},
            {"name": "anonymous", "context": {"cluster": "a"}},
            {"name": "nowhere", "context": {"user": "jane"}},
        ],
    }


def test_a_context_selects_its_cluster_user_and_namespace(write: Write):
    path = write(several())
    assert load_config(path) == ClientConfig(host="https://a", token="jane", namespace="n1")
    assert load_config(path, "two") == ClientConfig(host="https://b", token="joe", namespace="n2")
    assert load_config(path, context="anonymous") == ClientConfig(host="https://a")


def test_cluster_user_and_namespace_can_be_selected_separately(write: Write):
    path = write(several())
    assert load_config(path, cluster="b") == ClientConfig(host="https://b", token="jane", namespace="n1")
    assert load_config(path, user="joe") == ClientConfig(host="https://a", token="joe", namespace="n1")
    assert load_config(path, namespace="n3") == ClientConfig(host="https://a", token="jane", namespace="n3")
    assert load_config(path, "lost", cluster="b", user="joe") == ClientConfig(host="https://b", token="joe")
    assert load_config(path, "nowhere", host="https://z") == ClientConfig(host="https://z", token="jane")


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({"context": "x"}, 'context "x": does not exist; known: anonymous, lost, nowhere, one, two, unknown-user'),
        ({"cluster": "x"}, 'cluster "x": does not exist; known: a, b'),
        ({"user": "x"}, 'user "x": does not exist; known: jane, joe'),
        ({"context": "lost"}, 'context "lost": cluster: there is no cluster "x"; known: a, b'),
        ({"context": "unknown-user"}, 'context "unknown-user": user: there is no user "y"; known: jane, joe'),
        ({"context": "nowhere"}, 'context "nowhere": cluster: is missing'),
        ({"namespace": "No"}, "namespace: 'No' is not a valid namespace"),
    ],
)
def test_selected_entries_must_exist(write: Write, selection: dict[str, Any], message: str):
    with pytest.raises(ConfigError) as caught:
        load_config(write(several()), **selection)
    assert message in str(caught.value)
    assert not isinstance(caught.value, EmptyConfigError)


def test_a_missing_current_context_is_an_error_even_in_a_pod(write: Write, pod: Path):
    with pytest.raises(ConfigError, match='context "gone": does not exist'):
        load_config(write(several() | {"current-context": "gone"}), service_account_folder=pod)


def test_without_a_current_context_the_error_lists_the_known_ones(write: Write):
    with pytest.raises(EmptyConfigError, match="no current context is set; pass `context`; known: anonymous"):
        load_config(write(several() | {"current-context": ""}))


# Overrides


def test_overriding_the_certificate_authority_replaces_every_trust_setting(write: Write, tmp_path: Path):
    (tmp_path / "ca.crt").write_bytes(CA_PEM)
    ca_file = str(tmp_path / "ca.crt")
    with_data = write(kubeconfig({"certificate-authority-data": CA_DATA}), "1")
    insecure = write(kubeconfig({"insecure-skip-tls-verify": True}), "2")
    host = "https://10.0.0.1:6443"
    assert load_config(with_data, insecure_skip_tls_verify=True) == ClientConfig(
        host=host, insecure_skip_tls_verify=True
    )
    assert load_config(with_data, ca_file=ca_file) == ClientConfig(host=host, ca_file=ca_file)
    assert load_config(insecure, ca_file=ca_file) == ClientConfig(host=host, ca_file=ca_file)
    assert load_config(insecure, ca_data=CA_PEM) == ClientConfig(host=host, ca_data=CA_PEM)
    assert load_config(insecure, insecure_skip_tls_verify=False) == ClientConfig(host=host)
    nonsense = write(kubeconfig({"certificate-authority-data": "?"}), "3")
    assert load_config(nonsense, ca_data=CA_PEM) == ClientConfig(host=host, ca_data=CA_PEM)
    assert load_config(with_data, insecure_skip_tls_verify=False) == ClientConfig(host=host, ca_data=CA_PEM)


def test_another_server_does_not_inherit_the_name_in_the_certificate(write: Write):
    path = write(kubeconfig({"tls-server-name": "inside"}))
    assert load_config(path).tls_server_name == "inside"
    assert load_config(path, host="https://other").tls_server_name == ""
    assert load_config(path, tls_server_name="mine").tls_server_name == "mine"
    assert load_config(path, host="https://other", tls_server_name="mine").tls_server_name == "mine"


def test_overriding_certificate_and_key_replaces_data_and_files(write: Write, tmp_path: Path):
    (tmp_path / "crt").write_bytes(CERT_PEM)
    (tmp_path / "key").write_bytes(KEY_PEM)
    user = {"client-certificate-data": CA_DATA, "client-key-data": CA_DATA}
    path = write(kubeconfig(user=user))
    config = load_config(path, client_cert_file=str(tmp_path / "crt"), client_key_file=str(tmp_path / "key"))
    assert (config.client_cert_data, config.client_key_data) == (b"", b"")


@pytest.mark.parametrize(
    "user",
    [
        {"token": "old"},
        {"username": "u", "password": "p"},
        {"tokenFile": "nowhere"},
        exec_entry(command=""),
        {"auth-provider": {"name": "gcp"}},
    ],
    ids=lambda user: next(iter(user)),
)
def test_a_token_replaces_every_other_login_method(write: Write, user: dict[str, Any]):
    config = load_config(write(kubeconfig(user=user)), token="new")
    assert config == ClientConfig(host="https://10.0.0.1:6443", token="new")


def test_none_and_empty_values_override_nothing(write: Write):
    path = write(kubeconfig({"proxy-url": "http://proxy:3128"}, {"token": "t"}, {"namespace": "n"}))
    expected = load_config(path)
    assert load_config(path, token="", host=None, proxy_url="", ca_data=b"", namespace="", timeout=None) == expected


def test_options_that_a_kubeconfig_does_not_have_can_be_passed(write: Write):
    config = load_config(write(kubeconfig()), timeout=5.0, qps=50.0, burst=100, user_agent="me")
    assert (config.timeout, config.qps, config.burst, config.user_agent) == (5.0, 50.0, 100, "me")


def test_an_option_that_does_not_exist_is_a_type_error(write: Write):
    with pytest.raises(TypeError, match="colour"):
        load_config(write(kubeconfig()), colour="blue")  # type: ignore[call-arg]  # the error under test


# Users


def test_credentials_are_read_from_data_and_files(write: Write, tmp_path: Path):
    encoded = {"client-certificate-data": CERT_PEM, "client-key-data": KEY_PEM}
    user = {name: base64.encodebytes(data).decode() for name, data in encoded.items()}  # with line breaks
    config = load_config(write(kubeconfig({"certificate-authority-data": CA_DATA}, user)))
    assert (config.client_cert_data, config.client_key_data, config.ca_data) == (CERT_PEM, KEY_PEM, CA_PEM)


def test_a_token_and_a_token_file_may_be_combined(write: Write, tmp_path: Path):
    config = load_config(write(kubeconfig(user={"token": "t", "tokenFile": "nowhere"})))
    assert (config.token, config.token_file) == ("t", str(tmp_path / "nowhere"))


def test_impersonation_is_read(write: Write):
    user = {"as": "jane", "as-uid": "42", "as-groups": ["dev"], "as-user-extra": {"k": ["v", "w"]}}
    expected = Impersonation(user="jane", uid="42", groups=["dev"], extra={"k": ["v", "w"]})
    assert load_config(write(kubeconfig(user=user))).impersonate == expected


@pytest.mark.parametrize("scheme", ["http", "https", "socks5"])
def test_a_proxy_is_read(write: Write, scheme: str):
    config = load_config(write(kubeconfig({"proxy-url": f"{scheme}://proxy:3128", "disable-compression": True})))
    assert (config.proxy_url, config.disable_compression) == (f"{scheme}://proxy:3128", True)


def test_an_exec_plugin_is_read_with_its_cluster_extension(write: Write, tmp_path: Path):
    cluster = {"extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a", "b": None}}]}
    user = exec_entry(
        args=["token"],
        env=[{"name": "A", "value": "b"}, {"name": "C", "value": "d"}],
        provideClusterInfo=True,
        installHint="\x1b[31minstall\x1b[0m it\nwith care",
    )
    path = write(kubeconfig(cluster, user))
    assert load_config(path).exec == ExecConfig(
        command="aws",
        args=["token"],
        env={"A": "b", "C": "d"},
        interactive_mode="Never",
        provide_cluster_info=True,
        cluster_config={"audience": "a", "b": None},
        install_hint="[31minstall[0m it\nwith care",
        kubeconfig_user=KubeconfigUser(str(path), "u"),
    )


def test_exec_v1beta1_defaults_to_a_terminal_if_available(write: Write):
    version = "client.authentication.k8s.io/v1beta1"
    config = load_config(write(kubeconfig(user={"exec": {"command": "aws", "apiVersion": version}})))
    assert config.exec is not None
    assert (config.exec.api_version, config.exec.interactive_mode) == (version, "IfAvailable")


def test_exec_plugins_can_be_forbidden_or_allowed_by_name(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    plugin = tmp_path / "bin" / "login"
    plugin.parent.mkdir()
    plugin.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(plugin.parent))
    by_name = write(kubeconfig(user=exec_entry(command="login")), "1")
    by_path = write(kubeconfig(user=exec_entry(command=str(plugin))), "2")
    for path in (by_name, by_path):
        for allowed in (True, ["login"], [str(plugin)], {"other", "login"}, "login", str(plugin)):
            assert load_config(path, allow_exec=allowed).exec
        for rejected in (False, [], ["other"], ["/elsewhere/login"], "", "a-login", f"{plugin}2"):
            with pytest.raises(ConfigError, match=r'user "u": exec\.command: allow_exec does not permit this plugin'):
                load_config(path, allow_exec=rejected)
    assert load_config(by_name, token="t", allow_exec=False).token == "t"


def test_an_identity_provider_is_read(write: Write, tmp_path: Path):
    provider = {
        "idp-issuer-url": "https://idp",
        "client-id": "me",
        "client-secret": "s",
        "id-token": "i",
        "refresh-token": "r",
        "idp-certificate-authority": "idp.crt",
        "idp-certificate-authority-data": CA_DATA,
    }
    path = write(kubeconfig(user={"auth-provider": {"name": "oidc", "config": provider}}))
    assert load_config(path).auth_provider == OIDCConfig(
        issuer_url="https://idp",
        client_id="me",
        client_secret="s",
        id_token="i",
        refresh_token="r",
        ca_file=str(tmp_path / "idp.crt"),
        ca_data=CA_PEM,
        kubeconfig_user=KubeconfigUser(str(path), "u"),
    )


def test_credentials_of_a_file_are_not_sent_unencrypted(write: Write, caplog: pytest.LogCaptureFixture):
    user = {"token": CANARY, "client-certificate": "nowhere", "client-key": "nowhere", "as": "jane"}
    path = write(kubeconfig({"server": "http://10.0.0.1:8080"}, user))
    assert load_config(path) == ClientConfig(host="http://10.0.0.1:8080", impersonate=Impersonation(user="jane"))
    assert "are not sent, because the connection to http://10.0.0.1:8080 is not encrypted" in caplog.text
    # An explicit override is sent.
    assert load_config(path, token="t").token == "t"


def test_a_server_without_a_scheme_uses_tls_if_an_authority_is_configured(write: Write):
    path = write(kubeconfig({"server": "10.0.0.1:6443", "certificate-authority-data": CA_DATA}, {"token": "t"}))
    config = load_config(path)
    assert (config.base_url, config.token) == ("https://10.0.0.1:6443", "t")


WRONG_ENTRIES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"server": ""}, {}, 'cluster "k": server: is missing'),
    ({"server": "https://"}, {}, 'cluster "k": server: must be a URL'),
    ({"proxy-url": "ftp://x"}, {}, 'cluster "k": proxy-url: must be a URL that starts with http://'),
    ({"certificate-authority-data": "!"}, {}, 'cluster "k": certificate-authority-data: is not valid base64'),
    (
        {"certificate-authority-data": "aGk="},
        {},
        'cluster "k": certificate-authority-data: contains no certificate in PEM format',
    ),
    (
        {"certificate-authority": "nowhere"},
        {},
        'cluster "k": certificate-authority: {home}/nowhere: cannot be read: No such file or directory',
    ),
    (
        {"certificate-authority": "empty"},
        {},
        'cluster "k": certificate-authority: {home}/empty: contains no certificate in PEM format',
    ),
    (
        {"certificate-authority": "a", "certificate-authority-data": CA_DATA},
        {},
        'cluster "k": certificate-authority-data: the certificate authority is given both as data and as a file',
    ),
    (
        {"certificate-authority-data": CA_DATA, "insecure-skip-tls-verify": True},
        {},
        'cluster "k": insecure-skip-tls-verify: excludes a certificate authority',
    ),
    ({}, {"client-certificate": "a"}, 'user "u": client-key: there is a client certificate without a client key'),
    (
        {},
        {"client-certificate": "nowhere", "client-key": "nowhere"},
        'user "u": client-certificate: {home}/nowhere: cannot be read: No such file or directory',
    ),
    (
        {},
        {"client-certificate": "empty", "client-key": "nowhere"},
        'user "u": client-key: {home}/nowhere: cannot be read: No such file or directory',
    ),
    (
        {},
        {"client-certificate-data": CA_DATA, "client-key-data": CA_DATA},
        'user "u": client-key-data: the client certificate or its key is not in PEM format',
    ),
    (
        {},
        {"client-certificate": "a", "client-certificate-data": "aGk=", "client-key": "b"},
        'user "u": client-certificate-data: the client certificate is given both as data and as a file',
    ),
    (
        {},
        {"client-certificate": "a", "client-key-data": "aGk=", "client-key": "b"},
        'user "u": client-key-data: the client key is given both as data and as a file',
    ),
    ({}, {"token": "t", "username": "u"}, 'user "u": token: a token and a user name with password exclude'),
    (
        {},
        {"tokenFile": "nowhere"},
        'user "u": tokenFile: {home}/nowhere: the token cannot be read: No such file or directory',
    ),
    ({}, {"tokenFile": "empty"}, 'user "u": tokenFile: {home}/empty: the file is empty'),
    ({}, {"as-groups": ["g"]}, 'user "u": as: is empty; uid, groups and extra require a user'),
    ({}, exec_entry(command=""), 'user "u": exec.command: is missing'),
    ({}, exec_entry(apiVersion=""), 'user "u": exec.apiVersion: is missing'),
    (
        {},
        exec_entry(apiVersion="client.authentication.k8s.io/v1alpha1"),
        "user \"u\": exec.apiVersion: is 'client.authentication.k8s.io/v1alpha1'; it must be one of",
    ),
    ({}, exec_entry(interactiveMode=""), 'user "u": exec.interactiveMode: is missing; it must be one of Never'),
    ({}, exec_entry(interactiveMode="Maybe"), "user \"u\": exec.interactiveMode: is 'Maybe'; it must be one of Never"),
    ({}, exec_entry(env=[{"value": "b"}]), 'user "u": exec.env: has a variable without a name'),
    ({}, exec_entry(args=["\0"]), 'user "u": exec.args: must contain valid program arguments'),
    ({}, {"as": "a\nb"}, 'user "u": as: must be text without line breaks'),
    ({}, {"as": "a", "as-user-extra": {"": ["b"]}}, 'user "u": as-user-extra: has an empty key'),
    (
        {},
        exec_entry()
        | {
            "auth-provider": {
                "name": "oidc",
                "config": {"idp-issuer-url": "https://i", "client-id": "c", "id-token": "t"},
            }
        },
        'user "u": exec: an exec plugin and an auth provider exclude each other',
    ),
    (
        {},
        {"auth-provider": {"name": "gcp"}},
        "user \"u\": auth-provider.name: the auth provider 'gcp' is not supported;",
    ),
    ({}, {"auth-provider": {"name": "azure"}}, "install kubelogin and run `kubelogin convert-kubeconfig`"),
    (
        {},
        {"auth-provider": {"name": "openstack"}},
        "the auth provider 'openstack' is not supported; use an exec plugin",
    ),
    (
        {},
        {"auth-provider": {"name": "oidc", "config": {"idp-issuer-url": "https://i", "id-token": "t"}}},
        'user "u": auth-provider.config.client-id: is missing',
    ),
    (
        {},
        {"auth-provider": {"name": "oidc", "config": {"client-id": "c", "id-token": "t"}}},
        'user "u": auth-provider.config.idp-issuer-url: must be a URL',
    ),
]


@pytest.mark.parametrize(("cluster", "user", "message"), WRONG_ENTRIES, ids=[message for *_, message in WRONG_ENTRIES])
def test_an_invalid_entry_is_reported_with_its_field(
    write: Write, tmp_path: Path, cluster: dict[str, Any], user: dict[str, Any], message: str
):
    write("", "empty")
    path = write(kubeconfig(cluster, user))
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert message.format(home=tmp_path) in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


def test_errors_of_cluster_user_and_context_are_reported_together(write: Write):
    with pytest.raises(ConfigError) as caught:
        load_config(write(kubeconfig({"proxy-url": "x"}, exec_entry(command=""), {"namespace": "No"})))
    message = str(caught.value)
    assert ": 3 errors: " in message
    assert all(part in message for part in ("proxy-url: ", "exec.command: ", "namespace: "))


def test_invalid_entries_that_are_not_selected_are_ignored(write: Write):
    content = kubeconfig()
    content["clusters"].append({"name": "other", "cluster": {"certificate-authority-data": "!", "proxy-url": "?"}})
    content["users"].append({"name": "other", "user": {"auth-provider": {"name": "gcp"}}})
    content["contexts"].append({"name": "other", "context": {"cluster": "gone"}})
    assert load_config(write(content)).host == "https://10.0.0.1:6443"


# Secrets


def secrets_everywhere() -> dict[str, Any]:
    data = base64.b64encode(CANARY.encode()).decode()
    return {
        "token": CANARY,
        "username": "u",
        "password": CANARY,
        "client-certificate-data": data,
        "client-key-data": data,
        **exec_entry(args=[CANARY], env=[{"name": "", "value": CANARY}], interactiveMode=""),
        "auth-provider": {
            "name": "oidc",
            "config": {"client-secret": CANARY, "id-token": CANARY, "refresh-token": CANARY, "client-id": ""},
        },
    }


def shown(error: BaseException | None) -> str:
    """The texts of an error, its cause and its context."""
    return f"{error!r} {error} {shown(error.__cause__)} {shown(error.__context__)}" if error else ""


@pytest.mark.parametrize(
    "breaking",
    [
        lambda text: text,
        lambda text: f"{text}\nusers: *{CANARY}",
        lambda text: f"{text}\nx: !{CANARY}",
        lambda text: f"{text}\nx: &{CANARY} 1\ny: &{CANARY} 2\nz: [",
        lambda text: f'{text}\nx: "\\{CANARY}"',
        lambda text: f"{text}\n\t{CANARY}: [",
        lambda text: f"{text}\n{CANARY}",
        lambda text: text.replace(f"token: {CANARY}", f"token: [{CANARY}]"),
        lambda text: text.replace(f"token: {CANARY}", f"token: {{{CANARY}: 1}}"),
        lambda text: text.replace("name: u", f"name: u\n- {CANARY}"),
        lambda text: text.replace("name: u", "name: u\n- name: u"),
        lambda text: text.replace("kind: Config", f"kind: {CANARY}"),
    ],
)
def test_no_secret_of_a_file_appears_in_an_error_or_a_log(
    write: Write, caplog: pytest.LogCaptureFixture, breaking: Callable[[str], str]
):
    caplog.set_level(logging.DEBUG)
    path = write(breaking(yaml.safe_dump(kubeconfig(user=secrets_everywhere()))))
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert CANARY not in shown(caught.value) + caplog.text


def test_no_secret_appears_in_the_repr_of_a_kubeconfig(write: Write):
    path = write(kubeconfig(user=secrets_everywhere()))
    assert CANARY not in repr(read_kubeconfig(path))
    assert "token" in repr(read_kubeconfig(path).users["u"])


# In a pod


def test_in_a_pod_the_service_account_is_used(pod: Path):
    expected = ClientConfig(
        host="https://10.96.0.1:443",
        token_file=str(pod / "token"),
        ca_file=str(pod / "ca.crt"),
        namespace="pod-namespace",
    )
    assert load_incluster_config(service_account_folder=pod) == expected
    assert load_config(service_account_folder=pod) == expected


def test_the_address_of_the_cluster_may_be_ipv6(pod: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    assert load_incluster_config(service_account_folder=pod).host == "https://[fd00::1]:443"


def test_the_namespace_of_a_pod_may_come_from_its_environment(pod: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("POD_NAMESPACE", "from-environment")
    assert load_incluster_config(service_account_folder=pod).namespace == "from-environment"
    monkeypatch.delenv("POD_NAMESPACE")
    (pod / "namespace").unlink()
    assert load_incluster_config(service_account_folder=pod).namespace == "default"


@pytest.mark.parametrize("missing", ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"])
def test_without_host_or_port_this_is_not_a_pod(pod: Path, monkeypatch: pytest.MonkeyPatch, missing: str):
    monkeypatch.delenv(missing)
    with pytest.raises(NotInClusterError, match="this is not a pod"):
        load_incluster_config(service_account_folder=pod)
    with pytest.raises(EmptyConfigError):
        load_config(service_account_folder=pod)


def test_a_pod_needs_a_readable_token(pod: Path):
    (pod / "token").write_text(" \n")
    with pytest.raises(ConfigError, match=r"serviceaccount/token: .*: the file is empty"):
        load_incluster_config(service_account_folder=pod)
    (pod / "token").unlink()
    with pytest.raises(ConfigError, match=r"serviceaccount/token: .*: the token cannot be read: No such file"):
        load_incluster_config(service_account_folder=pod)
    with pytest.raises(EmptyConfigError):
        load_config(service_account_folder=pod)


def test_a_pod_without_a_valid_authority_uses_the_systems(pod: Path, caplog: pytest.LogCaptureFixture):
    (pod / "ca.crt").write_text("nonsense")
    assert load_incluster_config(service_account_folder=pod).ca_file == ""
    assert "ca.crt: ca_file: contains no certificate in PEM format" in caplog.text


def test_a_kubeconfig_wins_over_the_service_account(write: Write, pod: Path):
    path = write(kubeconfig(user={"token": "t"}))
    assert load_config(path, service_account_folder=pod).host == "https://10.0.0.1:6443"
    empty = write("", "empty")
    assert load_config(empty, service_account_folder=pod).host == "https://10.96.0.1:443"
    with pytest.raises(EmptyConfigError):
        load_kube_config(empty)


def test_a_context_without_a_namespace_uses_that_of_the_pod(write: Write, pod: Path):
    without, named = write(kubeconfig(), "1"), write(kubeconfig(context={"namespace": "n"}), "2")
    assert load_config(without, service_account_folder=pod).namespace == "pod-namespace"
    assert load_config(named, service_account_folder=pod).namespace == "n"
    assert load_config(named, namespace="mine", service_account_folder=pod).namespace == "mine"
    assert load_kube_config(without).namespace == "default"


def test_overrides_apply_in_a_pod_too(write: Write, pod: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    config = load_config(service_account_folder=pod, host="https://other", token="t", namespace="n")
    assert config == ClientConfig(host="https://other", token="t", namespace="n")
    monkeypatch.setenv("KUBECONFIG", str(write({"users": [{"name": "jane", "user": {"token": "j"}}]})))
    config = load_config(service_account_folder=pod, user="jane")
    assert (config.host, config.token, config.token_file) == ("https://10.96.0.1:443", "j", "")
    config = load_config(service_account_folder=pod, token="t")
    assert (config.host, config.token, config.token_file) == ("https://10.96.0.1:443", "t", "")


def test_the_server_in_kubernetes_master_has_the_lowest_precedence(
    write: Write, pod: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("KUBERNETES_MASTER", "http://127.0.0.1:8001")
    assert load_config() == ClientConfig(host="http://127.0.0.1:8001")
    assert load_config(service_account_folder=pod).host == "https://10.96.0.1:443"
    assert load_config(write(kubeconfig())).host == "https://10.0.0.1:6443"
    assert load_config(write(kubeconfig({"server": ""}))).host == "http://127.0.0.1:8001"


# Writing


FULL = ClientConfig(
    host="https://10.0.0.1:6443/prefix",
    namespace="web",
    ca_data=CA_PEM,
    client_cert_data=CERT_PEM,
    client_key_data=KEY_PEM,
    tls_server_name="inside",
    proxy_url="http://proxy:3128",
    disable_compression=True,
    impersonate=Impersonation(user="jane", uid="1", groups=["g"], extra={"k": ["v"]}),
)


@pytest.mark.parametrize(
    "config",
    [
        FULL,
        ClientConfig(host="http://127.0.0.1:8001"),
        ClientConfig(host="https://x", token="t"),
        ClientConfig(host="https://x", username="u", password="päss: 'word'", insecure_skip_tls_verify=True),
    ],
)
def test_a_written_config_is_read_back_unchanged(tmp_path: Path, config: ClientConfig):
    write_kubeconfig(tmp_path / "new" / "config", config)
    assert load_config(tmp_path / "new" / "config") == config


def test_plugins_and_providers_are_read_back_unchanged(tmp_path: Path):
    path, entry = tmp_path / "config", KubeconfigUser(str(tmp_path / "config"), "mine")
    plugin = ExecConfig(
        command="aws",
        args=["a"],
        env={"A": "b"},
        provide_cluster_info=True,
        cluster_config={"x": 1},
        kubeconfig_user=entry,
    )
    write_kubeconfig(path, ClientConfig(host="https://x", exec=plugin), name="mine")
    assert load_config(path).exec == plugin
    provider = OIDCConfig(issuer_url="https://i", client_id="c", id_token="t", ca_data=CA_PEM, kubeconfig_user=entry)
    write_kubeconfig(path, ClientConfig(host="https://x", auth_provider=provider), name="mine")
    assert load_config(path, "mine").auth_provider == provider


def test_a_written_file_is_readable_by_its_owner_only_and_replaces_the_old_one(write: Write, tmp_path: Path):
    path = write("old")
    path.chmod(0o644)
    write_kubeconfig(path, FULL)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["config"]


def test_relative_paths_are_written_as_absolute_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ca.crt").write_bytes(CA_PEM)
    write_kubeconfig(tmp_path / "sub" / "config", ClientConfig(host="https://x", ca_file="ca.crt"))
    assert load_config(tmp_path / "sub" / "config").ca_file == str(tmp_path / "ca.crt")


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path):
    (tmp_path / "config").mkdir()
    with pytest.raises(ConfigError, match="config: cannot be written: Is a directory"):
        write_kubeconfig(tmp_path / "config", FULL)
    assert [each.name for each in tmp_path.iterdir()] == ["config"]


PROVIDER = {"auth-provider": {"name": "oidc", "config": {"client-id": "c", "id-token": "old"}}}


def test_new_tokens_change_nothing_else_in_a_file(write: Write, tmp_path: Path):
    content = kubeconfig(user=PROVIDER)
    content["users"].append({"name": "other", "user": PROVIDER})
    path = write(content)
    (tmp_path / "link").symlink_to(path)
    write_tokens(KubeconfigUser(str(tmp_path / "link"), "u"), {"id-token": "new", "refresh-token": "r"})
    content["users"][0]["user"]["auth-provider"]["config"] |= {"id-token": "new", "refresh-token": "r"}
    assert yaml.safe_load(path.read_text()) == content
    assert (tmp_path / "link").is_symlink()


def test_a_locked_file_is_not_changed(write: Write):
    path = write(kubeconfig(user=PROVIDER))
    before = path.read_bytes()
    lock = path.with_name("config.lock")
    lock.touch()
    with pytest.raises(ConfigError, match=r"is locked by another process; .* remove .*config\.lock"):
        write_tokens(KubeconfigUser(str(path), "u"), {"id-token": "new"})
    assert path.read_bytes() == before
    lock.unlink()
    write_tokens(KubeconfigUser(str(path), "u"), {"id-token": "new"})
    assert not lock.exists()


@pytest.mark.parametrize("content", ["", "[", "users: [{name: u, user: {}}]", "users: 3", "users: [3]"])
def test_tokens_are_not_written_into_a_file_that_has_changed(write: Write, content: str):
    path = write(content)
    with pytest.raises(ConfigError, match='user "u": the tokens cannot be written: the entry was removed or changed'):
        write_tokens(KubeconfigUser(str(path), "u"), {"id-token": CANARY})
    assert path.read_text() == content


# Files that are no files, or too large


def test_a_kubeconfig_of_any_size_is_an_error(tmp_path: Path):
    path = tmp_path / "config"
    path.touch()
    os.truncate(path, 2**40)  # takes no space
    with pytest.raises(ConfigError, match="cannot be read: it has more than 16,777,216 bytes"):
        load_config(path)


def test_a_kubeconfig_without_an_end_is_an_error():
    with pytest.raises(ConfigError, match="cannot be read: it has more than 16,777,216 bytes"):
        load_config("/dev/zero")


def test_an_empty_device_is_an_empty_kubeconfig():
    with pytest.raises(EmptyConfigError):
        load_config("/dev/null")


def test_a_kubeconfig_can_be_read_from_a_pipe():
    reader, writer = os.pipe()
    os.write(writer, b"clusters: [{name: c, cluster: {server: https://10.0.0.1}}]")
    os.close(writer)
    try:
        assert load_config(f"/dev/fd/{reader}", cluster="c").host == "https://10.0.0.1"
    finally:
        os.close(reader)


@pytest.mark.parametrize("path", ["/dev/zero", "fifo"])
def test_certificates_are_not_read_from_devices_and_pipes(tmp_path: Path, path: str):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(ConfigError, match="cannot be read: it is not a regular file"):
        load_config(host="https://10.0.0.1", ca_file=str(tmp_path / path))


def test_the_limits_of_responses_can_be_overridden():
    config = load_config(host="https://10.0.0.1", max_event_size=5, max_response_size=0)
    assert (config.max_event_size, config.max_response_size) == (5, 0)
