import pytest

from listwatch.client.transport.proxies import proxy_for
from listwatch.errors import ConfigError

CANARY = "c4n4ry"
PROXY = "http://proxy:3128"


@pytest.mark.parametrize(
    ("url", "environment", "expected"),
    [
        ("https://10.0.0.1:6443", {"HTTPS_PROXY": PROXY}, PROXY),
        ("https://10.0.0.1:6443", {"https_proxy": PROXY}, PROXY),
        ("https://10.0.0.1:6443", {"https_proxy": "http://other", "HTTPS_PROXY": PROXY}, PROXY),
        ("https://10.0.0.1:6443", {"HTTP_PROXY": PROXY}, ""),
        ("https://10.0.0.1:6443", {"ALL_PROXY": PROXY}, ""),
        ("http://10.0.0.1", {"HTTP_PROXY": PROXY}, PROXY),
        ("http://10.0.0.1", {"HTTP_PROXY": PROXY, "REQUEST_METHOD": "GET"}, ""),
        ("https://10.0.0.1", {"HTTPS_PROXY": "proxy:3128"}, PROXY),
        ("https://10.0.0.1", {"HTTPS_PROXY": "socks5://proxy"}, "socks5://proxy"),
        ("https://10.0.0.1", {"HTTPS_PROXY": "socks5h://proxy"}, "socks5h://proxy"),
        ("https://10.0.0.1", {}, ""),
    ],
)
def test_the_environment_names_a_proxy_for_each_scheme(url: str, environment: dict[str, str], expected: str):
    assert proxy_for(url, configured="", environment=environment) == expected


@pytest.mark.parametrize(
    "proxy",
    [
        f"socks5://joe:{CANARY}/x@proxy:1080",
        f"http://joe:{CANARY}/x@proxy:3128",
        f"joe:{CANARY}/x@proxy:3128",
        f"socks4://joe:{CANARY}@proxy",
        f"http://joe:{CANARY}@[proxy",
        f"http://joe:{CANARY} @proxy",
    ],
)
@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy"])
def test_an_invalid_proxy_in_the_environment_is_reported_without_its_password(proxy: str, variable: str):
    with pytest.raises(ConfigError, match=f"the environment: {variable}: must be a URL") as caught:
        proxy_for("https://10.0.0.1", configured="", environment={variable: proxy})
    chain = [caught.value, caught.value.__cause__, caught.value.__context__]
    assert CANARY not in " ".join(f"{error!r} {error}" for error in chain)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.10", "[::1]"])
def test_loopback_addresses_are_never_proxied(host: str):
    assert proxy_for(f"https://{host}:6443", configured="", environment={"HTTPS_PROXY": PROXY}) == ""


@pytest.mark.parametrize("host", ["localhost", "10.0.0.1"])
def test_a_configured_proxy_is_used_for_all_hosts(host: str):
    environment = {"NO_PROXY": "*", "HTTPS_PROXY": "http://other"}
    assert proxy_for(f"https://{host}", configured=PROXY, environment=environment) == PROXY


@pytest.mark.parametrize(
    ("host", "rules", "is_excepted"),
    [
        ("10.0.0.1", "*", True),
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("10.0.0.1", "10.0.0.0/8", True),
        ("11.0.0.1", "10.0.0.0/8", False),
        ("10.0.0.1", "10.0.0.5/8", True),
        ("10.0.0.1", "no/network", False),
        ("10.0.0.1:6443", "10.0.0.1:6443", True),
        ("10.0.0.1:6443", "10.0.0.1:443", False),
        ("10.0.0.1", "10.0.0.1:443", True),
        ("[fd00::1]:6443", "fd00::1", True),
        ("[fd00::1]:6443", "[fd00::1]:6443", True),
        ("[fd00::1]:6443", "fd00::/8", True),
        ("api.example.com", "example.com", True),
        ("example.com", "example.com", True),
        ("badexample.com", "example.com", False),
        ("api.example.com", ".example.com", True),
        ("example.com", ".example.com", False),
        ("api.example.com", "*.example.com", True),
        ("api.example.com", "other.com, EXAMPLE.com ,", True),
        ("api.example.com:8443", "example.com:8443", True),
        ("api.example.com:8443", "example.com:443", False),
        ("api.example.com", "10.0.0.0/8", False),
        ("api.example.com", "", False),
    ],
)
def test_no_proxy_is_interpreted_as_in_go(host: str, rules: str, is_excepted: bool):
    environment = {"HTTPS_PROXY": PROXY, "NO_PROXY": rules}
    assert proxy_for(f"https://{host}", configured="", environment=environment) == ("" if is_excepted else PROXY)
