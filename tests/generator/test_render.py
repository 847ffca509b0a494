"""Generated modules: golden files, coverage of templates, and strict types."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import kafka_message_generator.render
from kafka_message_generator import cli, definitions
from kafka_message_generator.render import environment, package
from kafka_message_generator.render.codec import message as codec
from kafka_message_generator.render.codec import read, write
from kafka_message_generator.render.identity import identity_of
from kafka_message_generator.render.steps import Choose, Function, Step
from tests.support.building import build_package, import_package, plan_of, print_module, unique_name, write_specs
from tests.support.goldens import GOLDENS, matches_golden, stale_goldens
from tests.support.lines import lines_of_functions, recording
from tests.support.samples import SAMPLES
from tests.support.specs import field, message
from tests.support.templates import Branches

FOLDER = GOLDENS / "modules"
RENDER = Path(kafka_message_generator.render.__file__).parent
LOWERING = [*(RENDER / "codec").glob("*.py"), *(RENDER / f"{name}.py" for name in ("literals", "naming", "prose"))]

APIS = (
    message(name="AskRequest", type="request", apiKey=1, listeners=["broker"], deprecatedVersions="0-1"),
    message(field("Count"), name="AskResponse", type="response", apiKey=1),
    message(name="GoneRequest", type="request", apiKey=2, validVersions="none"),
    message(name="GoneResponse", type="response", apiKey=2, validVersions="none"),
)
GONE = APIS[2:]
TELL = message(name="TellRequest", type="request", apiKey=4)


@pytest.mark.parametrize("name", SAMPLES)
def test_generated_module_matches_golden(name: str) -> None:
    matches_golden(FOLDER / f"{name}.py.txt", print_module(SAMPLES[name]))


def test_every_golden_module_is_used() -> None:
    assert stale_goldens(FOLDER, (f"{name}.py.txt" for name in SAMPLES)) == []


FULL = """
[package]
version = "4.9.9.1"
components = [
  "protocol", "history", "connection", "internal_topics", "secrets",
  "arrow", "explain", "testing",
]
import-name = "sample_package"
urls = { Source = "https://example.org/asks" }
[protocol]
headers = "kafka"
one-way = ["TellRequest"]
[internal-topics.logs]
__keys = "."

[definitions]
older = ["."]  # adds nothing
"""


def render_package(
    folder: Path,
    *each: Mapping[str, object],
    release: str | None = None,
    toml: str | None = None,
    **annotations: object,
) -> None:
    request = package.PackageRequest(write_specs(folder / "specs", *each), folder / "output", "sample_package")
    if release is not None:
        (request.specs / "SOURCE").write_text(json.dumps({"release": release}))
    for name, content in annotations.items():
        (request.specs / f"{name}.json").write_text(json.dumps(content))
    if toml is not None:
        (request.specs / "package.toml").write_text(toml)
    loaded = definitions.load(request.specs)
    package.render(identity_of(loaded, request.package), loaded)


def test_samples_cover_every_branch_of_every_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    branches = Branches(environment.ENVIRONMENT)
    branches.install(monkeypatch)
    branches.load_all()
    for sample in SAMPLES.values():
        codec.render(plan_of(sample))
    busy = {"name": "BUSY", "code": 7, "retriable": True, "refreshMetadata": True, "about": "Come back later."}
    errors = [{"name": "NONE", "code": 0, "retriable": False}, busy]
    members = [{"name": "ONE", "value": 1, "about": "Just one."}, {"name": "TWO", "value": 2}]
    enumerations = [{"name": "Few", "members": members}]
    secret = {"message": "Kinds", "fields": ["Blob"]}
    setting = {"message": "Kinds", "name": "Text", "value": "MaybeText"}
    secrets = {"secrets": [secret], "settings": [setting]}
    error_responses = [{"message": "AskResponse", "field": "Count", "value": "-1"}]
    named = {"source": "KIP-1", "entity": "brokerId", "fields": [{"message": "AskResponse", "fields": ["Count"]}]}
    annotations = {
        "entities": [named],
        "enumerations": enumerations,
        "error_responses": error_responses,
        "errors": errors,
        "restrictions": [{"message": "AskRequest", "versions": "0", "brokersOnly": True}],
        "secrets": secrets,
        "settings": [{"name": "a", "type": "INT"}],
    }
    samples = (*APIS, TELL, SAMPLES["KeysValue"], SAMPLES["EmptyKey"], SAMPLES["Kinds"])
    render_package(tmp_path / "full", *samples, release="4.9.9", toml=FULL, **annotations)
    render_package(tmp_path / "columns", message(), toml='[package]\ncomponents = ["arrow"]\n')
    render_package(tmp_path / "bare", message(), errors=[])
    render_package(tmp_path / "no names", message(), toml='[package]\ncomponents = ["enums"]\n')
    render_package(tmp_path / "gone", *GONE)
    assert branches.missing == []


def test_samples_cover_every_line_of_the_lowering() -> None:
    with recording(*LOWERING) as lines:
        for sample in SAMPLES.values():
            codec.render(plan_of(sample))
    assert lines.missing(lines_of_functions(LOWERING)) == []


def kinds_of(steps: tuple[Step, ...]) -> set[str]:
    inside = [kinds_of(body) for step in steps if isinstance(step, Choose) for _, body in step.branches]
    return {step.kind for step in steps}.union(*inside)


def test_samples_cover_every_kind_of_step() -> None:
    functions: list[Function] = []
    for sample in SAMPLES.values():
        plan = plan_of(sample)
        for struct in plan.structs:
            for layout in struct.layouts:
                functions += read.functions(struct, layout)
                functions += write.functions(plan, struct, layout)
    used = {kind for f in functions for steps in (f.before, f.steps, f.loop_end, f.after) for kind in kinds_of(steps)}
    assert used == {kind.kind for kind in Step.__subclasses__()}


def test_generated_modules_pass_strict_mypy(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    built = build_package(tmp_path, *SAMPLES.values())
    source = tmp_path / built.__name__ / "output" / "src"
    # The package, its messages and their imports, without ``arrow``, which needs third-party libraries.
    what = ["-m", built.__name__, "-p", f"{built.__name__}.messages"]
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *what]
    result = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout


@pytest.mark.parametrize("name", SAMPLES)
def test_generated_modules_have_no_unused_or_redefined_imports(name: str) -> None:
    tree = ast.parse(print_module(SAMPLES[name]))
    imported = {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    imported.remove("annotations")
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert imported - used == set()
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert imported & defined == set()


def test_array_of_empty_structs_is_generated() -> None:
    print_module(message(field("A", "[]Nothing", fields=[]), flexibleVersions="none"))


TEXTS = {
    "name of a packer in a description": [field("A", "string", about="see _pack_size and _unpack_oops")],
    "name of a packer in a default": [field("A", "string", default="_pack_size")],
    "one quote": [field("A", "string", default='"'), field("B", "[]int32"), field("C", "string", default='"')],
    "code": [field("A", "string", "2+", default="[pos:end]\n'\"\\", tag=0, taggedVersions="2+")],
    "ends of docstrings": [field("A", about='ends in a quote "'), field("B", about="\\"), field("C", about='"""')],
    "jinja": [field("A", about="{{ jinja }} {% if %} {# #}"), field("B", "string", default="{{ x }}{% raw %}")],
    "odd characters": [field("A", "string", default="\u2028\x00\x7f\x85\ud7ff\U0001f600")],
}


@pytest.mark.parametrize("name", TEXTS)
def test_special_characters_in_definitions_are_escaped(name: str, tmp_path: Path) -> None:
    message_class = build_package(tmp_path, message(*TEXTS[name])).Probe
    for each in TEXTS[name]:
        if "default" in each:
            assert getattr(message_class(), str(each["name"]).lower()) == each["default"]
    for version in range(4):
        assert message_class.read(message_class().write(version), version) == message_class()


EVERY_ODD = "".join(
    map(chr, [*range(0x20), *range(0x7F, 0xA1), 0xAD, 0x61C, *range(0x200B, 0x2010), *range(0x2028, 0x2030)])
)
EVERY_ODD += "".join(map(chr, [*range(0x2066, 0x206A), 0xFEFF, 0xFFFF, 0x1F600, 0xE0001]))


def test_control_characters_in_descriptions_are_harmless(tmp_path: Path) -> None:
    about = f"a{EVERY_ODD}b {' '.join(EVERY_ODD)} c"
    part = [field("X", about=about), field("Y", "string", default=EVERY_ODD, about=about)]
    definition = message(field("Parts", "[]Part", about=about, fields=part), about=about)
    specs = write_specs(tmp_path / "specs", definition)
    (specs / "errors.json").write_text(json.dumps([{"name": "ODD", "code": 1, "retriable": True, "about": about}]))
    members = [{"name": "ONE", "value": 1, "about": about}]
    (specs / "enumerations.json").write_text(json.dumps([{"name": "Few", "about": about, "members": members}]))
    name = unique_name()
    components = "enums,explain,secrets,testing"
    to = ["--specs", str(specs), "--output", str(tmp_path / "out"), "--package", name, "--components", components]
    assert cli.main(["generate", *to]) == cli.main(["check", *to]) == 0
    for path in (tmp_path / "out").rglob("*.py"):
        odd = set(path.read_text(encoding="utf-8")) & set(EVERY_ODD) - {"\n", chr(0x1F600)}
        assert odd == set(), path
        compile(path.read_bytes(), str(path), "exec")
    package = import_package(tmp_path / "out" / "src", name)
    assert package.Probe.Part().y == EVERY_ODD
    assert package.Probe.__doc__.startswith("a\\x00\\x01")
    made = package.Probe(parts=[package.Probe.Part(x=1)])
    assert package.Probe.read(made.write(3), 3) == made
    assert cli.main(["export", "--specs", str(specs), "--output", str(tmp_path / "export")]) == 0
