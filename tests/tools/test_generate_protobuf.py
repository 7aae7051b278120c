"""The generator of the protobuf schemas, on a Go package small enough to check by eye."""

from pathlib import Path

import pytest

from tools.generate_protobuf import generate, read_packages, write

PROTO = """\
syntax = "proto2";

package k8s.io.api.toys.v1;

import "k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto";

// Toy is played with.
message Toy {
  // +optional
  optional .k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1;

  optional ToySource source = 4;

  optional int32 size = 2;

  repeated string colours = 3;

  map<string, Marks> marks = 5;
}

message ToySource {
  optional bool sold = 1;

  optional string toyID = 2;
}

// +protobuf.nullable=true
message Marks {
  // items, if empty, will result in an empty slice

  repeated string items = 1;
}
"""
GO = """\
package v1

const GroupName = "toys.example.com"

// Toy is played with.
type Toy struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero" protobuf:"bytes,1,opt,name=metadata"`

	ToySource `json:",inline" protobuf:"bytes,4,opt,name=source"`
	Size      *int32           `json:"size,omitempty" protobuf:"varint,2,opt,name=size"`
	Colours   []string         `json:"colours" protobuf:"bytes,3,rep,name=colours"`
	Marks     map[string]Marks `json:"marks,omitempty" protobuf:"bytes,5,rep,name=marks"`
}

type ToySource struct {
	Sold bool   `json:"sold" protobuf:"varint,1,opt,name=sold"`
	ID   string `json:"toyID,omitempty" protobuf:"bytes,2,opt,name=toyID"`
}

type Marks []string
"""
META_PROTO = """\
package k8s.io.apimachinery.pkg.apis.meta.v1;

message ObjectMeta {
  optional string name = 1;
}
"""
META_GO = """\
package v1

type ObjectMeta struct {
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
}
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    for folder, proto, go in [("toys/v1", PROTO, GO), ("meta/v1", META_PROTO, META_GO)]:
        place = tmp_path / "module" / folder
        place.mkdir(parents=True)
        (place / "generated.proto").write_text(proto)
        (place / "types.go").write_text(go)
        (place / "types_test.go").write_text("type Toy struct {\n}\n")
    return tmp_path / "module"


def test_a_module_has_a_line_per_message(module: Path):
    files = dict(generate(read_packages([module]), ["toys.example.com/v1"], "v9"))
    assert sorted(files) == ["index.py", "meta_v1.py", "toys_v1.py"]
    assert '    "toys.example.com/v1": "toys_v1",\n' in files["index.py"]
    assert files["toys_v1.py"].splitlines()[5:] == [
        'MESSAGES = """\\',
        "Marks[] 1:items:[s!",
        "Toy 1:metadata:#meta_v1.ObjectMeta~@ObjectMeta 4::#ToySource!@ToySource 2:size:i* 3:colours:[s!"
        " 5:marks:{#Marks",
        "ToySource 1:sold:b! 2:toyID:s@ID",
        '"""',
    ]


def test_a_group_version_without_messages_is_an_error(module: Path):
    with pytest.raises(ValueError, match="no protobuf messages for games/v1"):
        dict(generate(read_packages([module]), ["games/v1"], "v9"))


def test_stale_modules_are_removed(tmp_path: Path):
    for name in ("__init__.py", "old_v1.py"):
        (tmp_path / name).touch()
    write({"new_v1.py": "x = 1\n"}, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["__init__.py", "new_v1.py"]
