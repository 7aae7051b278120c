"""The search for kube-apiserver, etcd and kubectl."""

from pathlib import Path

import pytest

from listwatch.errors import ConfigError
from listwatch.testing.real.real_binaries import ASSETS, BinaryCache, RealBinaries


@pytest.fixture
def assets(tmp_path: Path) -> Path:
    return tmp_path / "assets"


@pytest.fixture
def environment(tmp_path: Path, assets: Path) -> dict[str, str]:
    return {ASSETS: str(assets), "XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.fixture
def cache(environment: dict[str, str]) -> BinaryCache:
    return BinaryCache.of_user(environment)


def install(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return path


def test_the_folder_that_the_environment_names_comes_first(assets: Path, cache: BinaryCache, environment):
    for program in ("kube-apiserver", "etcd", "kubectl"):
        install(assets / program)
        install(cache.place("any", "v9.9.9", program))
    found = RealBinaries.find(environment=environment)
    assert found == RealBinaries(assets / "kube-apiserver", assets / "etcd", assets / "kubectl")


def test_programs_missing_in_that_folder_are_taken_from_the_cache(assets: Path, cache: BinaryCache, environment):
    install(assets / "kube-apiserver")
    etcd = install(cache.place("etcd", "v3.6.16", "etcd"))
    found = RealBinaries.find(environment=environment)
    assert found == RealBinaries(assets / "kube-apiserver", etcd, kubectl=None)


def test_the_newest_in_the_cache_is_taken(cache: BinaryCache, environment):
    for version in ("v3.6.9", "v3.10.1", "v3.6.16"):
        install(cache.place("etcd", version, "etcd"))
    assert cache.find("etcd") == cache.place("etcd", "v3.10.1", "etcd")


@pytest.mark.parametrize("version", ["v3.5.12", "3.5.12"])
def test_a_version_can_be_chosen_and_is_never_taken_from_a_folder_of_unknown_versions(
    assets: Path, cache: BinaryCache, environment, version: str
):
    install(assets / "kube-apiserver")
    install(assets / "etcd")
    install(cache.place("etcd", "v3.6.16", "etcd"))
    old = install(cache.place("etcd", "v3.5.12", "etcd"))
    assert RealBinaries.find(etcd=version, environment=environment).etcd == old


def test_a_missing_version_is_named(assets: Path, cache: BinaryCache, environment):
    install(assets / "kube-apiserver")
    install(cache.place("etcd", "v3.6.16", "etcd"))
    with pytest.raises(ConfigError, match=r"etcd v3\.5\.1 was not found below .*cache/listwatch/real"):
        RealBinaries.find(etcd="v3.5.1", environment=environment)


def test_the_error_of_a_missing_program_names_the_places_and_the_variable(assets: Path, environment):
    with pytest.raises(ConfigError) as error:
        RealBinaries.find(environment=environment)
    assert f"kube-apiserver was not found, neither in {assets} (KUBEBUILDER_ASSETS) nor below" in str(error.value)
    del environment[ASSETS]
    message = r"neither in KUBEBUILDER_ASSETS \(not set\) nor below .*; set KUBEBUILDER_ASSETS"
    with pytest.raises(ConfigError, match=message):
        RealBinaries.find(environment=environment)


def test_a_file_that_is_not_executable_is_skipped(assets: Path, cache: BinaryCache, environment):
    for place in (assets / "etcd", cache.place("etcd", "v3.9.0", "etcd")):
        install(place).chmod(0o644)
    install(assets / "kube-apiserver")
    etcd = install(cache.place("etcd", "v3.6.16", "etcd"))
    assert RealBinaries.find(environment=environment).etcd == etcd


def test_programs_of_other_platforms_are_skipped(cache: BinaryCache):
    install(cache.folder / "etcd-v3.6.16-plan9-mips" / "etcd")
    assert cache.find("etcd") is None


def test_the_cache_is_in_the_home_folder_unless_the_environment_overrides_it():
    assert BinaryCache.of_user({}).folder == Path.home() / ".cache" / "listwatch" / "real"
