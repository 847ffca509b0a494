"""``package.toml``: errors as whole messages, decisions and defaults."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import kafka_message_generator
from kafka_message_generator import cli, definitions
from kafka_message_generator.definitions import Definitions
from kafka_message_generator.render.identity import identity_of
from kafka_message_generator.spec import source, toml
from kafka_message_generator.spec.components import COMPONENTS, FORMER, OPTIONAL
from kafka_message_generator.spec.source import Problems, SpecError
from tests.support.broken.settings import ANSWER, ASK, CASES, KEY, Case
from tests.support.building import Definition, import_package, unique_name, write_specs
from tests.support.lines import calls, lines_of_functions, recording
from tests.support.pages import ROOT
from tests.support.specs import field, message

GENERATOR = Path(kafka_message_generator.__file__).parent
SPEC, RULES = GENERATOR / "spec", GENERATOR / "rules"
CHECKED = [
    SPEC / "toml.py",
    SPEC / "settings.py",
    RULES / "headers.py",
    RULES / "settings.py",
    GENERATOR / "definitions.py",
]
PROBE = message(field("A", about="A number."))
TOOLS = {"tools": ["kafka-messages-tools"]}
FORMER_PROBLEM = "{0} is no longer a component; remove it, and install {1} (README.md)"
BASIC = tuple(name for name in COMPONENTS if name not in OPTIONAL)


def problems_of(folder: Path, case: Case) -> list[str]:
    write_specs(folder, PROBE)
    (folder / "package.toml").write_text(case.settings, encoding="utf-8")
    for name, text in case.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    try:
        definitions.load(folder)
    except SpecError as error:
        return [str(problem).removeprefix(f"{folder.as_posix()}/") for problem in error.problems]
    return []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:40])
def test_broken_settings_are_reported(case: Case, tmp_path: Path) -> None:
    assert problems_of(tmp_path, case) == sorted(case.lines)


def test_every_problem_of_settings_has_a_case(tmp_path: Path) -> None:
    with recording(*CHECKED) as lines:
        for number, case in enumerate(CASES):
            if case.name != "too deep":  # a RecursionError also stops the recording
                problems_of(tmp_path / str(number), case)
        definitions.load(write_specs(tmp_path / "requests", ASK, ANSWER))
        (tmp_path / "none").mkdir()
        (write_specs(tmp_path / "a\nb", PROBE) / "a\n.json").write_text("{}")
        for name in ("a", "b"):
            (write_specs(tmp_path / "above" / name, PROBE) / "package.toml").touch()
        for folder in ("none", "a\nb", "above"):
            with pytest.raises(SpecError):
                definitions.load(tmp_path / folder)
    assert lines.missing(calls(CHECKED, "error", "warn", "wrong")) == []


def test_every_line_of_the_setting_checks_has_a_case(tmp_path: Path) -> None:
    file = SPEC / "setting_checks.py"
    with recording(file) as lines:
        for number, case in enumerate(CASES):
            if case.name != "too deep":
                problems_of(tmp_path / str(number), case)
    assert lines.missing(lines_of_functions([file])) == []


def test_one_run_reports_settings_and_definitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = write_specs(tmp_path / "specs", message(field("A", "int128")), PROBE | {"name": "Sound"})
    (specs / "package.toml").write_text("[package]\nname = ''\nversion = 4\n[protocol]\none-way = ['TellRequest']\n")
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out")]) == 1
    found = [line.removeprefix(f"{specs}/").partition(": ")[0] for line in capsys.readouterr().err.splitlines()]
    assert found == [
        "Probe.json:9",
        *(f"package.toml:{line}" for line in (2, 3, 5)),
        "4 problem(s); nothing was generated",
    ]
    assert not (tmp_path / "out").exists()


def load(folder: Path, settings: str, *each: Definition, components: tuple[str, ...] | None = None) -> Definitions:
    write_specs(folder, *each)
    (folder / "package.toml").write_text(settings, encoding="utf-8")
    return definitions.load(folder, components)


def test_toml_values_have_line_numbers(tmp_path: Path) -> None:
    lines = ("# \u2028 no line", "[package]", "description = 'a'", "", "classifiers = [", "  'A :: B',", "]")
    text = "\r\n".join((*lines, "[[package.authors]]", "name = 'A'"))
    path = tmp_path / "package.toml"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    node: Any = toml.load(path, "package.toml", Problems())
    assert node.value["package"].location.line == 2
    found = {key: each.location.line for key, each in node.value["package"].value.items()}
    assert found == {"description": 3, "classifiers": 5, "authors": 8}
    assert node.value["package"].value["authors"].value[0].value["name"].location.line == 9


def test_missing_settings_file_gives_defaults(tmp_path: Path) -> None:
    loaded = definitions.load(write_specs(tmp_path / "specs", PROBE))
    identity = identity_of(loaded, "acme_messages")
    assert (identity.distribution, identity.version) == ("acme-messages", "0.1.0")
    assert [key for key, _ in identity.metadata] == ["requires-python", "classifiers"]
    assert (identity.components, identity.extras, identity.urls, identity.license_files) == (BASIC, TOOLS, (), {})


def test_package_without_name_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out")]) == 1
    what = "the package has no name; give --package NAME, or import-name below [package] in package.toml\n"
    assert capsys.readouterr() == ("", what)


RECORDS = "[package]\ncomponents = ['explain']\n"
HEADERS = "[protocol]\nheaders = 'kafka'\n"


@pytest.mark.parametrize(
    ("settings", "given", "extra"),
    [
        ("", None, {"internal_topics"}),
        (HEADERS, None, {"internal_topics", "protocol", "enums"}),
        (RECORDS, None, {"explain", "secrets"}),
        ("[package]\ncomponents = []\n", None, set()),
        ("[package]\ncomponents = ['arrow', 'internal_topics']\n", None, {"arrow", "internal_topics", "secrets"}),
        (RECORDS, ("arrow",), {"arrow", "secrets"}),
        (RECORDS + HEADERS, ("protocol", "arrow"), {"protocol", "enums", "arrow", "secrets"}),
        (RECORDS, (), set()),
    ],
)
def test_components_depend_on_definitions_and_settings(
    settings: str, given: tuple[str, ...] | None, extra: set[str], tmp_path: Path
) -> None:
    loaded = load(tmp_path / "specs", settings, ASK, ANSWER, KEY, components=given)
    assert identity_of(loaded, "own").components == tuple(name for name in COMPONENTS if name in extra or name in BASIC)


def test_missing_headers_are_reported(tmp_path: Path) -> None:
    warnings = definitions.load(write_specs(tmp_path / "specs", ASK, ANSWER)).warnings
    needs = "the component protocol requires the messages RequestHeader and ResponseHeader of type header"
    remedy = 'define them, or write headers = "kafka" below [protocol] in package.toml'
    place = f"{(tmp_path / 'specs').as_posix()}/AskRequest.json:3: $.type"
    assert list(map(str, warnings)) == [f"{place}: warning: {needs}, and is omitted without them; {remedy}"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("arow", "unknown component 'arow'; did you mean arrow?"),
        (
            "arrow,tables",
            f"unknown component 'tables'; expected one of {', '.join(OPTIONAL)}",
        ),
        ("_core", "the component _core is in every package; remove it"),
        *((name, FORMER_PROBLEM.format(name, of)) for name, of in FORMER.items() if name not in OPTIONAL),
    ],
)
def test_invalid_component_on_the_command_line_is_rejected(
    text: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["generate", "--specs", "x", "--output", "y", "--components", text])
    assert capsys.readouterr().err.endswith(f"error: argument --components: {reason}\n")


def test_component_without_its_messages_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    arguments = ["--specs", str(specs), "--output", str(tmp_path / "out"), "--components", "protocol"]
    assert cli.main(["generate", *arguments]) == 1
    what = "the component protocol requires messages of type request, response, but there are none; remove it"
    last = "1 problem(s); nothing was generated"
    assert capsys.readouterr().err == f"command line:1: --components: {what}\n{last}\n"


def test_single_definition_file_is_generated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = write_specs(tmp_path / "specs", PROBE, message(name="Broken", validVersions="x"))
    (specs / "package.toml").write_text("not TOML")
    name = unique_name()
    arguments = ["--specs", str(specs / "Probe.json"), "--output", str(tmp_path / "out"), "--package", name]
    assert cli.main(["generate", *arguments]) == 0
    assert import_package(tmp_path / "out" / "src", name).Probe(a=3).write(0) == b"\0\0\0\3"
    assert "from Probe.json." in (tmp_path / "out" / "src" / name / "messages" / "probe.py").read_text()
    capsys.readouterr()
    for command in ("generate", "check"):
        assert cli.main([command, *arguments]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("is up to date")


def test_option_warnings_prints_accepted_warnings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = write_specs(
        tmp_path / "specs",
        *(message(field("A", versions="9+", about="Old."), name=name) for name in ("Known", "Probe")),
    )
    (specs / "package.toml").write_text("[definitions]\naccepted-warnings = ['Known.json']\n")
    arguments = ["--specs", str(specs), "--output", str(tmp_path / "out"), "--package", "own"]
    counts = []
    for more in ([], ["--warnings"]):
        assert cli.main(["generate", *arguments, *more]) == 0
        counts.append([line.partition(":")[0].rpartition("/")[2] for line in capsys.readouterr().err.splitlines()])
        shutil.rmtree(tmp_path / "out")
    assert counts == [["Probe.json"], ["Probe.json", "Known.json"]]


def test_bundled_headers_equal_kafka_headers() -> None:
    problems = Problems()
    for name in ("RequestHeader.json", "ResponseHeader.json"):
        ours = source.load(GENERATOR / "headers" / name, name, problems)
        kafkas = source.load(ROOT / "specs" / "kafka" / "clients" / name, name, problems)
        assert ours is not None
        assert kafkas is not None
        assert ours.says_the_same(kafkas)
    assert problems.found == []


@pytest.mark.parametrize("name", ["kafka", "proposals"])
def test_repository_settings_are_complete(name: str) -> None:
    loaded = definitions.load(ROOT / "specs" / name)
    identity = identity_of(loaded, None)
    assert identity.distribution.replace("-", "_") == identity.import_name
    optional = [name for name in identity.components if name in OPTIONAL]
    proposals = ["secrets", "arrow", "explain", "testing"]
    assert optional == {"kafka": list(OPTIONAL), "proposals": proposals}[name]
    assert loaded.warnings == ()
    conventions = ("no about", "is a nullable key", "is defined in")
    others = [str(each) for each in loaded.accepted if not any(words in each.message for words in conventions)]
    assert (loaded.release is None) == (others == [])
    assert loaded.release is None or identity.version.startswith(f"{loaded.release}.")
