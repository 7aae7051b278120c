"""The pins of `make test-lowest` are the lower bounds in pyproject.toml."""

from typing import Any

import pytest

from tools.lowest_requirements import lowest_requirements


def project(*dependencies: str, **extras: list[str]) -> dict[str, Any]:
    return {"name": "listwatch", "dependencies": list(dependencies), "optional-dependencies": extras}


def test_each_lower_bound_becomes_a_pin():
    found = lowest_requirements(
        project("aiohttp>=3.14.4,<3.15", "PyYAML >= 6.0.2; python_version>'3'", "x~=1.2.3", "y==2")
    )
    assert found == ["PyYAML==6.0.2", "aiohttp==3.14.4", "x==1.2.3", "y==2"]


def test_extras_are_pinned_too_except_those_that_no_test_needs():
    found = lowest_requirements(project("a>=1", tls=["b[c]>=2"], test=["listwatch[tls]"], check=["d==3"], bench=["e"]))
    assert found == ["a==1", "b==2"]


@pytest.mark.parametrize("requirement", ["a", "a<2", "a!=1"])
def test_a_dependency_without_a_lower_bound_is_an_error(requirement: str):
    with pytest.raises(ValueError, match="has no lower bound"):
        lowest_requirements(project(requirement))


def test_two_lower_bounds_of_one_dependency_are_an_error():
    with pytest.raises(ValueError, match="a is declared with two lower bounds, 1 and 2"):
        lowest_requirements(project("a>=1", tls=["a>=2"]))
