"""The command line: exit codes, output and package names."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pytest

import kafka_message_generator
from kafka_message_generator import cli
from kafka_message_generator.spec import error_codes
from kafka_message_generator.spec.source import Problems
from tests.support.building import import_package, unique_name, write_specs
from tests.support.lines import calls, recording
from tests.support.specs import field, message

GENERATOR = Path(kafka_message_generator.__file__).parent
PROBE = message(field("A", default="7", about="A number."))
VERSION = "the version of a package; write for example 4.4.0 or 4.4.0-rc1"


def test_package_with_own_name_imports_without_the_generator(tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "specs", PROBE, message(field("B"), name="OtherRecord", type="metadata", apiKey=1))
    command = [sys.executable, "-m", "kafka_message_generator", "generate"]
    command += ["--specs", str(specs), "--output", str(tmp_path / "out"), "--package", "acme_messages"]
    subprocess.run(command, check=True, cwd=tmp_path, capture_output=True)
    script = """
import pkgutil, sys
sys.path.insert(0, sys.argv[1])
import acme_messages
from acme_messages import Probe
assert Probe.read(Probe(a=5).write(3), 3).a == 5
for module in pkgutil.walk_packages(acme_messages.__path__, "acme_messages."):
    if ".arrow" not in module.name:  # needs an extra
        __import__(module.name)
assert not {"kafka_message_generator", "kafka_messages", "jinja2", "black"} & set(sys.modules)
print(Probe())
"""
    run = [sys.executable, "-I", "-c", script, str(tmp_path / "out" / "src")]
    result = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "Probe(a=7)\n", "")
    texts = [path.read_text() for path in (tmp_path / "out").rglob("*") if path.suffix in (".toml", ".md")]
    assert all("acme" in text for text in texts)


@pytest.mark.parametrize("name", ["Acme", "acme-messages", "1acme", "acme.messages", "", "äcme", "acme messages"])
def test_invalid_package_names_are_rejected(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out"), "--package", name]) == 1
    assert (
        capsys.readouterr().err
        == f"package name {name!r} must be a lower-case letter, then lower-case letters, digits and underscores\n"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *((name, "is a Python keyword; choose another") for name in ("class", "import", "async")),
        *((name, "is a standard library module; choose another") for name in ("struct", "json")),
    ],
)
def test_reserved_package_names_are_rejected(
    name: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out"), "--package", name]) == 1
    assert capsys.readouterr().err == f"package name {name!r} {reason}\n"
    assert not (tmp_path / "out").exists()


def test_generate_prints_file_count_and_duration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs, name = write_specs(tmp_path / "specs", PROBE), unique_name()
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out"), "--package", name]) == 0
    printed = capsys.readouterr()
    files = sum(path.is_file() for path in (tmp_path / "out").rglob("*"))
    assert printed.out.startswith(f"{tmp_path / 'out'}: {files} files, {files} changed, in ")
    assert (printed.out.endswith(" s\n"), printed.err) == (True, "")
    assert import_package(tmp_path / "out" / "src", name).Probe().a == 7


@pytest.mark.parametrize(
    ("name", "what"),
    [("empty", "no definitions (*.json) found below this folder"), ("nowhere", "file or folder not found")],
)
@pytest.mark.parametrize("command", ["generate", "check"])
def test_folder_without_definitions_is_an_error(
    command: str, name: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    folder = tmp_path / name
    assert cli.main([command, "--specs", str(folder), "--output", str(tmp_path / "out")]) == 1
    assert capsys.readouterr() == ("", f"{folder.as_posix()}:1: $: {what}\n1 problem(s); nothing was generated\n")


def test_check_reports_problems_like_generate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = write_specs(tmp_path / "specs", message(field("A", "int128")))
    results = []
    for command in ("generate", "check"):
        assert cli.main([command, "--specs", str(specs), "--output", str(tmp_path / "out")]) == 1
        results.append(capsys.readouterr())
    assert results[0] == results[1]
    assert results[0].out == ""
    assert "unknown type 'int128'" in results[0].err


@pytest.mark.parametrize(
    "argv", [[], ["generate"], ["generate", "--specs", "x"], ["build"], ["check", "--output", "x"], ["generate", "x"]]
)
def test_invalid_arguments_exit_with_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(argv)
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: kafka-message-generator ")


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["--help"])
    assert caught.value.code == 0
    printed = capsys.readouterr().out
    assert all(f"\n    {command}" in printed for command in cli.EXAMPLES)


@pytest.mark.parametrize("version", ["1.2.3", None])
def test_version_option_prints_the_installed_version(
    version: str | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:

    def installed(name: str) -> str:
        assert name == "kafka-message-generator"
        if version is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(importlib.metadata, "version", installed)
    with pytest.raises(SystemExit) as caught:
        cli.main(["--version"])
    assert caught.value.code == 0
    expected = version or "is not installed, so its version is unknown"
    assert capsys.readouterr().out == f"kafka-message-generator {expected}\n"


@pytest.mark.parametrize("command", cli.EXAMPLES)
def test_command_help_has_a_valid_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    assert capsys.readouterr().out.endswith(f"\n\nexample:\n  {cli.EXAMPLES[command]}\n")
    assert cli._parser().parse_args(cli.EXAMPLES[command].split()[1:]).run


TRUE = {"retriable": True}
BROKEN_ANNOTATIONS: list[tuple[str, str, tuple[str, ...]]] = [
    ("SOURCE", "4.4.0", ("1: $: '.' follows the end of the definition; a file must contain one JSON object",)),
    ("SOURCE", "[]", ("1: $: SOURCE must be a JSON object, found array",)),
    ("SOURCE", "{}", ("1: $: SOURCE has no release; add it",)),
    ("SOURCE", '{"release": []}', ("1: $.release: expected a string, found array []",)),
    *(
        ("SOURCE", json.dumps({"release": text}), (f"1: $.release: release {text!r} cannot be {VERSION}",))
        for text in ("4.x", '4"', "4.0-SNAPSHOT")
    ),
    ("errors.json", '{"NONE": 0}', ("1: $: expected an array of error codes, found object",)),
    ("errors.json", "[", ("1: $[0]: expected a JSON value, found the end of the file",)),
    ("errors.json", "[0]", ("1: $[0]: an error code must be a JSON object, found number",)),
    ("errors.json", json.dumps([{"code": 0, **TRUE}]), ("1: $[0]: an error code has no name; add it",)),
    (
        "errors.json",
        json.dumps([{"name": "NOT AN IDENTIFIER", "code": 0, **TRUE}]),
        ("1: $[0].name: invalid name 'NOT AN IDENTIFIER' of an error code; use capitals, digits and underscores",),
    ),
    (
        "errors.json",
        json.dumps([{"name": "A"}, {"name": "B", "code": 40000, "retriable": "false"}]),
        (
            "1: $[0]: error code A has no code; add its number",
            "1: $[0]: error code A has no retriable; add true or false",
            "1: $[1].code: 40000 is out of range for code, an int16",
            "1: $[1].retriable: expected true or false, found string 'false'",
        ),
    ),
    (
        "errors.json",
        json.dumps([{"name": "A", "code": 0, **TRUE, "text": "x"}]),
        (
            "1: $[0].text: unknown property 'text' of error code A; expected one of about, code, name, refreshMetadata, "
            "retriable",
        ),
    ),
    (
        "errors.json",
        json.dumps([{"name": "A", "code": 0, **TRUE}, {"name": "A", "code": 1, **TRUE}]),
        ("1: $[1]: error code A is listed twice; names must be unique",),
    ),
    (
        "errors.json",
        json.dumps([{"name": "A", "code": 1, **TRUE}, {"name": "B", "code": 1, **TRUE}]),
        ("1: $[1]: error code B has code 1, already used by A; choose another",),
    ),
]


@pytest.mark.parametrize(("name", "text", "lines"), BROKEN_ANNOTATIONS)
def test_invalid_source_and_error_code_files_are_reported(
    name: str, text: str, lines: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    (specs / name).write_text(text)
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out")]) == 1
    last = f"{len(lines)} problem(s); nothing was generated"
    assert capsys.readouterr().err.splitlines() == [*(f"{specs / name}:{line}" for line in lines), last]


def test_every_problem_in_release_and_error_codes_has_a_case(tmp_path: Path) -> None:
    files = [GENERATOR / "spec" / "error_codes.py"]
    with recording(*files) as reached:
        for number, (name, text, _) in enumerate(BROKEN_ANNOTATIONS):
            folder = tmp_path / str(number)
            folder.mkdir()
            (folder / name).write_text(text)
            error_codes.read_release(folder, Problems())
            error_codes.read_error_codes(folder, Problems())
    assert reached.missing(calls(files, "error", "warn", "wrong")) == []


@pytest.mark.parametrize("command", ["generate", "check"])
@pytest.mark.parametrize("name", ["SOURCE", "errors.json", "package.toml", "LICENSE", "about.md"])
def test_unreadable_annotation_file_is_reported(
    command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    set_license_and_readme(specs)
    (specs / name).unlink(missing_ok=True)
    (specs / name).mkdir()
    assert cli.main([command, "--specs", str(specs), "--output", str(tmp_path / "out")]) == 1
    line = f"{specs / name}:1: $: cannot be read: Is a directory"
    assert capsys.readouterr() == ("", f"{line}\n1 problem(s); nothing was generated\n")


def set_license_and_readme(specs: Path) -> None:
    (specs / "package.toml").write_text('[package]\nlicense-files = ["LICENSE"]\nreadme = "about.md"\n')
    for name in ("LICENSE", "about.md"):
        (specs / name).write_text("Text.\n")


@pytest.mark.parametrize("name", ["package.toml", "LICENSE", "about.md"])
def test_license_and_readme_must_be_utf8(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    set_license_and_readme(specs)
    (specs / name).write_bytes(b"ab\xff")
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out")]) == 1
    line = f"{specs / name}:1: $: not UTF-8: invalid start byte at byte 2"
    assert capsys.readouterr() == ("", f"{line}\n1 problem(s); nothing was generated\n")


def test_dangling_symlink_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    (specs / "Lost.json").symlink_to(tmp_path / "nowhere")
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out")]) == 1
    line = f"{specs / 'Lost.json'}:1: $: cannot be read: No such file or directory"
    assert capsys.readouterr() == ("", f"{line}\n1 problem(s); nothing was generated\n")


@pytest.mark.parametrize("name", ['a"b.json', "a\\.json", "a\nb.json", '"""/a.json'])
def test_file_name_with_special_characters_is_rejected(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "specs" / name
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(PROBE))
    assert cli.main(["generate", "--specs", str(tmp_path / "specs"), "--output", str(tmp_path / "out")]) == 1
    shown = str(path).replace("\n", "\\n")
    what = f"the generated package cannot contain the file {name!r}"
    line = f"{shown}:1: $: {what}; rename it with letters, digits, dots and dashes"
    assert capsys.readouterr().err.startswith(f"{line}\n1 problem(s)")


def test_folder_with_json_suffix_is_searched(tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "specs", PROBE).parent / "specs"
    write_specs(specs / "more.json", message(field("B"), name="More"))
    arguments = ["--specs", str(specs), "--output", str(tmp_path / "out"), "--package", unique_name()]
    assert cli.main(["generate", *arguments]) == 0
    assert {path.stem for path in (tmp_path / "out").rglob("messages/*.py")} == {"__init__", "probe", "more"}
    assert cli.main(["generate", *arguments]) == 0


@pytest.mark.parametrize(("blocked", "reason"), [("out", "Not a directory"), ("out/pyproject.toml", "Is a directory")])
def test_unwritable_output_is_reported(
    blocked: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    if blocked == "out":
        (tmp_path / "out").write_text("a file")
    else:
        (tmp_path / "out/pyproject.toml").mkdir(parents=True)
        (tmp_path / "out/MANIFEST").write_text('{"package": "own", "files": {}}')
    arguments = ["--specs", str(specs), "--output", str(tmp_path / "out"), "--package", "own"]
    assert cli.main(["generate", *arguments]) == 1
    assert capsys.readouterr() == ("", f"{tmp_path / blocked}: {reason}\n")


@pytest.mark.parametrize("command", ["generate", "check"])
@pytest.mark.parametrize("name", ["package.toml", "errors.json", "settings.json", "SOURCE"])
def test_folder_above_the_settings_is_named(
    command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    specs = write_specs(tmp_path / "all" / "fleet", PROBE)
    (specs / name).write_text({"package.toml": "", "SOURCE": '{"release": "1.0"}'}.get(name, "[]"))
    to = ["--output", str(tmp_path / "out"), "--package", "own"]
    assert cli.main([command, "--specs", str(tmp_path / "all"), *to]) == 1
    what = (
        f"package.toml or annotation files are only in folders below this one; name their folder with --specs: {specs}"
    )
    problems = f"{tmp_path / 'all'}:1: $: {what}\n1 problem(s); nothing was generated\n"
    assert capsys.readouterr() == ("", problems)
    assert cli.main(["generate", "--specs", str(specs), *to]) == 0


ODD = "\x1b]0;x\x07\x9b31m\r\u202e\u2066\u2028\u2029\x7f"
ESCAPED = r"\x1b]0;x\x07\x9b31m\r\u202e\u2066\u2028\u2029\x7f"


def test_problems_are_safe_for_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = tmp_path / "specs"
    specs.mkdir()
    definition = message(
        field(ODD, "int8" + ODD), field("B", entityType=ODD), field("C", versions=ODD), name="Probe" + ODD
    )
    (specs / "Odd.json").write_text(json.dumps({**definition, ODD: 1, "type" + ODD: 1}))
    (specs / f"{ODD.replace('/', '')}.json").write_text("{")
    toml = json.dumps(ODD).replace("\x7f", "\\u007f")
    (specs / "package.toml").write_text(f"[package]\n{toml} = 1\nname = {toml}\n")
    commands = [["generate", "--output", str(tmp_path / ODD)], ["check", "--output", str(tmp_path / "out")]]
    for words in (*commands, ["compat", "--new", str(specs)]):
        option = ["--old"] if words[0] == "compat" else ["--specs"]
        assert cli.main([*words, *option, str(specs)]) in (1, 3)
        out, err = capsys.readouterr()
        assert out == ""
        assert all(line.isprintable() for line in err.split("\n")), words
        assert ESCAPED in err


def test_reports_and_diffs_are_safe_for_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for release, default in (("old", "a"), ("new", "a" + ODD)):
        write_specs(tmp_path / release, message(field("A", "string", default=default, about="x"), name="Probe"))
    assert cli.main(["compat", "--old", str(tmp_path / "old"), "--new", str(tmp_path / "new")]) == 1
    out, err = capsys.readouterr()
    assert all(line.isprintable() for line in (out + err).split("\n"))
    assert ESCAPED in out
    to = ["--specs", str(tmp_path / "old"), "--output", str(tmp_path / "out"), "--package", "own"]
    assert cli.main(["generate", *to]) == 0
    with (tmp_path / "out" / "README.md").open("a", encoding="utf-8", newline="") as file:
        file.write(f"\t{ODD}\r\n")
    capsys.readouterr()
    assert cli.main(["check", *to]) == 1
    out, err = capsys.readouterr()
    assert all(line.isprintable() for line in (out + err).replace("\t", "").split("\n"))
    assert f"\n-\t{ESCAPED}\\r\n" in out


@pytest.mark.parametrize("command", ["generate", "export", "compat"])
def test_wrong_arguments_are_safe_for_a_terminal(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([command, "--specs", "a", "--output", "b", f"--{ODD}"])
    _, err = capsys.readouterr()
    assert all(line.isprintable() for line in err.split("\n"))
    assert f"unrecognized arguments: {'--specs a --output b ' * (command == 'compat')}--{ESCAPED}\n" in err


@pytest.mark.parametrize("name", ["no\nsuch\nfolder", ODD])
def test_names_of_files_are_safe_for_a_terminal(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    (tmp_path / name).write_text("a file")
    shown = f"{tmp_path}/{ESCAPED if name == ODD else 'no' + chr(92) + 'nsuch' + chr(92) + 'nfolder'}"
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / name), "--package", "own"]) == 1
    assert capsys.readouterr() == ("", f"{shown}: Not a directory\n")


def test_check_says_that_kafka_requires_header_versions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = {"validVersions": "2", "apiKey": 9001}
    both = ("AskRequest", "request"), ("AskResponse", "response")
    pair = [message(field("A", about="x"), name=name, type=kind, **more) for name, kind in both]
    specs = write_specs(tmp_path / "specs", *pair)
    (specs / "package.toml").write_text('[package]\nimport-name = "own"\n[protocol]\nheaders = "kafka"\n')
    to = ["--specs", str(specs), "--output", str(tmp_path / "out")]
    assert cli.main(["generate", *to]) == 0
    assert "headerVersions" not in capsys.readouterr().err
    assert cli.main(["check", *to]) == 0
    what = "has no headerVersions, which are optional here, but which Kafka's own generator requires from 4.5"
    assert capsys.readouterr().err == f"AskRequest (1 of 2 messages) {what}\n"
    write_specs(
        specs, *({**each, "headerVersions": {"0+": "2" if each["type"] == "request" else "1"}} for each in pair)
    )
    assert cli.main(["generate", *to]) == cli.main(["check", *to]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["generate", "check"])
def test_quoted_numbers_and_booleans_of_annotations_are_warnings(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    code = {"name": "LATE", "code": " 7", "retriable": True, "refreshMetadata": "True"}
    (specs / "errors.json").write_text(json.dumps([code]))
    (specs / "kips.json").write_text('[{"message": "Probe", "versions": "0", "kip": "848"}]')
    members = [{"name": "ONE", "value": 1, "about": "One."}]
    (specs / "enumerations.json").write_text(json.dumps([{"name": "Few", "special": "true", "members": members}]))
    to = ["--specs", str(specs), "--output", str(tmp_path / "out"), "--package", "own"]
    assert cli.main(["generate", *to]) == 0
    if command == "check":
        capsys.readouterr()
        assert cli.main(["check", *to]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"{specs}/enumerations.json:1: $[0].special: warning: special is the string 'true'; write true without quotes",
        f"{specs}/errors.json:1: $[0].code: warning: code is the string ' 7'; write 7 without quotes",
        f"{specs}/errors.json:1: $[0].refreshMetadata: warning: refreshMetadata is the string 'True'; write true without "
        "quotes",
        f"{specs}/kips.json:1: $[0].kip: warning: kip is the string '848'; write 848 without quotes",
    ]
    (specs / "package.toml").write_text(
        '[definitions]\naccepted-warnings = ["errors.json", "kips.json", "enumerations.json"]\n'
    )
    assert cli.main(["generate", *to]) == 0
    assert capsys.readouterr().err == ""
