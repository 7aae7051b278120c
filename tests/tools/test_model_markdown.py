"""The documentation of a model as Markdown."""

import pytest

from tools.models.markdown import class_names, model_as_markdown


def test_a_model_has_a_heading_its_description_and_its_fields():
    text = model_as_markdown("core_v1.ContainerPort", level=3)
    assert text.startswith("### ContainerPort\n\nContainerPort represents a network port in a single container.\n\n")
    assert (
        "**`container_port: int`**  \n"
        "JSON: `containerPort`. Required.\n\n"
        "Number of port to expose on the pod's IP address. This must be a valid port number, 0 &lt; x &lt; 65536.\n"
    ) in text
    assert '**`protocol: str | None`**  \nJSON: `protocol`. Default: `"TCP"`, set by the server.\n\n' in text


def test_every_model_can_be_rendered():
    for name in class_names("apps_v1"):
        assert model_as_markdown(f"apps_v1.{name}").startswith(f"## {name}\n")


def test_an_unknown_class_is_an_error():
    with pytest.raises(LookupError, match=r"listwatch\.models\.core_v1 has no class Podd"):
        model_as_markdown("core_v1.Podd")
