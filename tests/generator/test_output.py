"""What is written: the same bytes every time, nothing touched without need, and every difference found."""

from __future__ import annotations

import difflib
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_message_generator import cli, definitions, output
from kafka_message_generator.render import package
from kafka_message_generator.render.identity import identity_of
from tests.support.building import write_specs
from tests.support.samples import SAMPLES
from tests.support.specs import field, message

PROBE = message(field("A", about="Sample."))


def request_of(folder: Path, name: str = "sample_package") -> package.Request:
    """A request for one small message, with its definition written."""
    return package.Request(write_specs(folder / "specs", PROBE), folder / "out", name)


def generate(request: package.Request) -> int:
    return cli.main(["generate", *arguments(request)])


def check(request: package.Request) -> int:
    return cli.main(["check", *arguments(request)])


def arguments(request: package.Request) -> list[str]:
    return ["--specs", str(request.specs), "--output", str(request.output), "--package", request.package]


@pytest.fixture
def generated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> package.Request:
    """A package of one message, freshly generated."""
    request = request_of(tmp_path)
    assert generate(request) == 0
    capsys.readouterr()
    return request


LONG = "Number of milliseconds that the request may wait until the service has enough data for an answer to it."


def test_a_description_changes_few_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A changed description changes its docstring, one line of the descriptor, and two digests of the manifest."""
    request = package.Request(tmp_path / "specs", tmp_path / "out", "sample_package")
    before, after = (
        _generated(request, message(field("A"), field("B", about=about), field("C", "[]Inner", fields=[field("D")])))
        for about in (LONG, LONG.replace("Number", "Maximal number"))
    )
    changed = {path: [before[path], after[path]] for path in before if before[path] != after[path]}
    assert before.keys() == after.keys()
    assert set(changed) == {"MANIFEST", "src/sample_package/messages/probe.py"}
    removed, added = _changed_lines(*changed.pop("src/sample_package/messages/probe.py"))
    starts = ['    """Number of', "    (versions 0+)", """    '{"name":"b","""]
    assert [line[: len(start)] for line, start in zip(removed, starts, strict=True)] == starts
    starts = ['    """Maximal number of', "    to it. (versions 0+)", """    '{"name":"b","""]
    assert [line[: len(start)] for line, start in zip(added, starts, strict=True)] == starts
    removed, added = _changed_lines(*changed["MANIFEST"])
    keys = ["inputs", "src/sample_package/messages/probe.py"]
    assert [line.split('"')[1] for line in removed] == [line.split('"')[1] for line in added] == keys


def _generated(request: package.Request, definition: dict[str, object]) -> dict[str, str]:
    write_specs(request.specs, definition)
    assert generate(request) == 0
    return {path: data.decode() for path, data in contents(request.output).items()}


def _changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines that a diff removes, and those that it adds."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))[2:]
    return [line[1:] for line in lines if line[0] == "-"], [line[1:] for line in lines if line[0] == "+"]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def times(folder: Path) -> dict[str, int]:
    """When every file and folder below a folder was last written."""
    return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in folder.rglob("*")}


def age(folder: Path) -> None:
    """Set every time back, so that whatever is written from now on shows."""
    for path in folder.rglob("*"):
        os.utime(path, ns=(1, 1))


def test_rendering_twice_gives_the_same(tmp_path: Path) -> None:
    """Nothing may depend on what was printed before."""
    request = request_of(tmp_path)
    identity, loaded = identity_of(definitions.load(request.specs), request.package), definitions.load(request.specs)
    assert package.render(identity, loaded) == package.render(identity, definitions.load(request.specs))


def test_processes_agree_whatever_their_hash_seed(tmp_path: Path) -> None:
    """Sets and dictionaries of another process have another order; none of it may reach a file."""
    results = []
    for seed in ("0", "1", "4242"):
        specs = write_specs(tmp_path / "specs", *(SAMPLES[name] for name in ("KeysValue", "EmptyKey")), PROBE)
        folder = tmp_path / seed
        command = [sys.executable, "-m", "kafka_message_generator", "generate", "--specs", str(specs)]
        command += ["--output", str(folder), "--package", "sample_package"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run(command, check=True, cwd=tmp_path, env=environment, capture_output=True)
        results.append(contents(folder))
    assert results[0] == results[1] == results[2]


def test_the_place_of_the_definitions_does_not_show(tmp_path: Path) -> None:
    """Two people generate in two folders and commit the same files."""
    first, second = request_of(tmp_path / "one"), request_of(tmp_path / "another" / "place")
    assert generate(first) == generate(second) == 0
    assert contents(first.output) == contents(second.output)
    assert not any(str(tmp_path).encode() in data for data in contents(first.output).values())


def test_files_are_clean_text(generated: package.Request) -> None:
    """UTF-8, Unix line ends, one newline at the end: what editors and diff tools expect of a committed file."""
    for name, data in contents(generated.output).items():
        text = data.decode("utf-8")
        assert "\r" not in text, name
        assert text == "" or (text.endswith("\n") and not text.endswith("\n\n")), name
        assert not any(line.endswith((" ", "\t")) for line in text.splitlines()), name


def test_printed_files_say_that_they_are(generated: package.Request) -> None:
    """Whoever opens a module must see at once that a change has to be made elsewhere."""
    for path in (generated.output / "src").rglob("*.py"):
        assert "Generated by the Kafka message generator from" in path.read_text().splitlines()[0], path


def test_the_manifest_names_every_file(generated: package.Request) -> None:
    """Drift is found by comparing hashes, so no file may be missing from them."""
    manifest = json.loads((generated.output / "MANIFEST").read_text())
    assert sorted([*manifest["files"], "MANIFEST"]) == sorted(contents(generated.output))
    assert sorted(manifest["tools"]) == ["black", "jinja2"]


def test_a_current_package_is_not_touched(generated: package.Request, capsys: pytest.CaptureFixture[str]) -> None:
    """Three seconds for a run that has nothing to do: nothing is printed, formatted or written."""
    age(generated.output)
    before = times(generated.output)
    assert generate(generated) == 0
    assert capsys.readouterr().out == f"{generated.output} is up to date\n"
    assert times(generated.output) == before


def test_only_changed_files_are_written(generated: package.Request, capsys: pytest.CaptureFixture[str]) -> None:
    """Build tools look at times; a change of one definition must not look like a change of all."""
    write_specs(generated.specs, message(field("A", about="Changed.")))
    age(generated.output)
    before = times(generated.output)
    assert generate(generated) == 0
    after = times(generated.output)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"MANIFEST", "src/sample_package/messages/probe.py"}
    assert f"{generated.output}: {len(contents(generated.output))} files, 2 changed, in " in capsys.readouterr().out


@pytest.mark.parametrize("change", ["edited", "missing", "stray", "manifest"])
def test_a_touched_package_is_made_right_again(generated: package.Request, change: str) -> None:
    """The manifest proves what is there; anything else is written again, and nothing else stays."""
    wanted = contents(generated.output)
    module = generated.output / "src" / "sample_package" / "messages" / "probe.py"
    if change == "edited":
        module.write_text(module.read_text() + "# edited\n")
    elif change == "missing":
        module.unlink()
    elif change == "stray":
        (module.parent / "stray.py").touch()
    else:
        (generated.output / "MANIFEST").write_text("{}")
    assert not output.is_current(generated)
    assert generate(generated) == 0
    assert contents(generated.output) == wanted


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"null", b"{", b'{"files": {}}', b'{"inputs": "x", "files": null}', b"\xff"]
)
def test_a_manifest_that_is_none_proves_nothing(generated: package.Request, data: bytes) -> None:
    """A half-written file after a crash must lead to a new run and not to an exception."""
    (generated.output / "MANIFEST").write_bytes(data)
    assert not output.is_current(generated)


def test_everything_that_counts_changes_the_hash_of_the_inputs(tmp_path: Path) -> None:
    """Definitions, their names, the facts beside them and the name of the package decide what is printed."""
    request = request_of(tmp_path)
    seen = {package.inputs_hash(request)}
    for change in (
        lambda: write_specs(request.specs, message(field("B"))),
        lambda: (request.specs / "Probe.json").rename(request.specs / "Renamed.json"),
        lambda: (request.specs / "SOURCE").write_text('{"release": "1.2.3"}'),
        lambda: (request.specs / "SOURCE").write_text('{"release": "1.2.4"}'),
        lambda: (request.specs / "errors.json").write_text("[]"),
        lambda: (request.specs / "package.toml").write_text('[package]\nlicense-files = ["LICENSE"]\n'),
        lambda: (request.specs / "LICENSE").write_text("Do what you like."),
        lambda: (request.specs / "settings.json").write_text("[]"),
        lambda: (request.specs / "secrets.json").write_text("{}"),
        lambda: (request.specs / "enumerations.json").write_text("[]"),
        lambda: (request.specs / "package.toml").write_text('[package]\nreadme = "about.md"\n'),
        lambda: (request.specs / "about.md").write_text("A package.\n"),
    ):
        change()
        seen.add(package.inputs_hash(request))
    other = package.Request(request.specs, request.output, "other_package")
    parts = package.Request(request.specs, request.output, "sample_package", ("arrow",))
    assert len({*seen, package.inputs_hash(other), package.inputs_hash(parts)}) == 15


def test_other_files_beside_the_definitions_do_not_count(generated: package.Request) -> None:
    """What an editor or a file manager leaves there must not be drift for everybody else."""
    (generated.specs / "notes.txt").write_text("not a definition")
    (generated.specs / "package.toml~").write_text("[package]")
    assert output.is_current(generated)
    assert check(generated) == 0


def test_licences_are_those_that_the_settings_name(generated: package.Request) -> None:
    """Whose definitions they are decides whose licence the package has; without a name there is none."""
    project, settings = generated.output / "pyproject.toml", generated.specs / "package.toml"
    assert "license" not in project.read_text()
    (generated.specs / "LICENSE").write_bytes(b"Do what\r\nyou like.\r\n")
    (generated.specs / "NOTICE").write_text("Ours.\n")
    settings.write_text('[package]\nlicense = "MIT"\nlicense-files = ["LICENSE", "NOTICE"]\n')
    assert generate(generated) == 0
    assert '\nlicense = "MIT"\nlicense-files = ["LICENSE", "NOTICE"]\n' in project.read_text()
    assert (generated.output / "LICENSE").read_bytes() == b"Do what\nyou like.\n"
    assert (generated.output / "NOTICE").read_text() == "Ours.\n"
    assert check(generated) == 0
    settings.write_text('[package]\nlicense-files = ["LICENSE"]\n')
    assert generate(generated) == 0
    assert not (generated.output / "NOTICE").exists()


def test_the_readme_is_that_of_the_settings(generated: package.Request) -> None:
    """Written by those who know their messages; of a package with another name it would not be true, and is left out."""
    readme, settings = generated.output / "README.md", generated.specs / "package.toml"
    default = "from {0} import Probe\n\nmessage = Probe()\ndata = message.write(3)\n"
    assert f"```python\n{default.format('sample_package')}" in readme.read_text()
    (generated.specs / "about.md").write_text("# Ours\n\n{{ no template }}\n")
    settings.write_text('[package]\nimport-name = "sample_package"\nreadme = "about.md"\n')
    assert generate(generated) == 0
    assert readme.read_text() == "# Ours\n\n{{ no template }}\n"
    other = package.Request(generated.specs, generated.output.with_name("other"), "other_package")
    assert generate(other) == 0
    assert default.format("other_package") in (other.output / "README.md").read_text()
    (generated.specs / "about.md").write_text("")
    assert generate(generated) == 0
    assert readme.read_text() == ""


def test_nothing_is_said_to_be_kafkas_that_is_not(generated: package.Request) -> None:
    """Nobody has compared the messages of others with Kafka's classes, not even if their settings name a release."""
    (generated.specs / "SOURCE").write_text('{"release": "1.2.3"}')
    assert generate(generated) == 0
    about = [generated.output / name for name in ("README.md", "pyproject.toml", "src/sample_package/__init__.py")]
    assert not any("Apache" in path.read_text() or "byte-exact" in path.read_text() for path in about)


@pytest.mark.parametrize("command", ["generate", "check"])
def test_a_folder_of_another_package_is_left_alone(
    command: str, generated: package.Request, capsys: pytest.CaptureFixture[str]
) -> None:
    """Settings taken from the wrong folder must not turn one package into another, nor fill the screen with a diff."""
    before = contents(generated.output)
    settings = generated.specs / "package.toml"
    settings.write_text('[package]\nimport-name = "other_package"\ncomponents = ["internal_topics"]\n')
    to = ["--specs", str(generated.specs), "--output", str(generated.output)]
    what = f"{generated.output} holds the package sample_package, not other_package"
    what += "; choose another folder, or remove this one first"
    assert cli.main([command, *to]) == 1
    what_else = "the component internal_topics is for messages of type coordinator-key, coordinator-value, metadata"
    assert capsys.readouterr() == (
        "",
        f"{settings}:2: $.package.import-name: {what}\n"
        f"{settings}:3: $.package.components: {what_else}, of which there are none; leave it out\n"
        "2 problem(s); nothing was generated\n",
    )
    settings.unlink()
    assert cli.main([command, *to, "--package", "other_package"]) == 1
    assert capsys.readouterr() == ("", f"command line:1: --package: {what}\n1 problem(s); nothing was generated\n")
    assert contents(generated.output) == before


def printed_with(folder: Path, **tools: str) -> None:
    """Let a package look as if other versions of the tools had printed it."""
    manifest = json.loads((folder / "MANIFEST").read_text())
    manifest["tools"] |= tools
    (folder / "MANIFEST").write_text(json.dumps(manifest, indent=1) + "\n")


def test_other_tools_are_no_drift_by_themselves(generated: package.Request, capsys: pytest.CaptureFixture[str]) -> None:
    """Another release of black that prints the same gave the same package; who sees a diff learns where it may be from."""
    now = package.tools()
    printed_with(generated.output, black="25.1.0")
    note = f"{generated.output} was generated with black 25.1.0, jinja2 {now['jinja2']}; this is black {now['black']}, "
    note += f"jinja2 {now['jinja2']}: differences may come from there\n"
    assert check(generated) == 0
    assert capsys.readouterr() == (f"{generated.output} is what its definitions give\n", note)
    (generated.output / "README.md").unlink()
    assert check(generated) == 1
    assert capsys.readouterr().err.startswith(f"{note}{generated.output} differs from what its definitions give; ")
    assert generate(generated) == 0
    assert json.loads((generated.output / "MANIFEST").read_text())["tools"] == now


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_for_terminals(
    is_terminal: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a minute without a word looks like a hang; in a log file the same line again and again is only noise."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    assert generate(request_of(tmp_path)) == 0
    shown = "".join(f"\r{done} of 4 modules" for done in (1, 2, 3, 4)) + "\n"
    assert capsys.readouterr().err == (shown if is_terminal else "")


def test_modules_of_removed_definitions_are_removed(generated: package.Request) -> None:
    """A message that is gone must not go on being importable."""
    (generated.specs / "Probe.json").rename(generated.specs / "Other.json")
    write_specs(generated.specs, message(field("A", about="Sample."), name="Other"))
    assert generate(generated) == 0
    assert sorted(path.name for path in (generated.output / "src" / "sample_package" / "messages").iterdir()) == [
        "__init__.py",
        "other.py",
    ]


def test_nothing_of_a_part_that_is_gone_can_be_imported(tmp_path: Path) -> None:
    """Python takes a folder without modules for a package, and setuptools builds what an earlier build left."""
    request = request_of(tmp_path)
    name = request.package
    to = arguments(request)
    assert cli.main(["generate", *to, "--components", "secrets"]) == 0
    package_folder, built = request.output / "src" / str(name), request.output / "build" / "lib" / str(name)
    shutil.copytree(package_folder, built)
    (package_folder / "secrets" / "__pycache__").mkdir()
    (built / "of_others.py").touch()
    assert cli.main(["generate", *to, "--components", ""]) == 0
    script = f"import sys; sys.path.insert(0, sys.argv[1]); import {name}.secrets"
    for root in (package_folder.parent, built.parent):
        run = subprocess.run([sys.executable, "-I", "-c", script, str(root)], capture_output=True, text=True)
        assert run.stderr.endswith(f"ModuleNotFoundError: No module named '{name}.secrets'\n"), run.stderr
    assert (built / "of_others.py").exists()


def test_a_folder_that_was_not_generated_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything in the output folder that was not printed is deleted; a slip of the keyboard must not cost a home."""
    request = request_of(tmp_path)
    request.output.mkdir()
    (request.output / "thesis.txt").write_text("four years of work")
    assert generate(request) == 1
    line = f"{request.output} has files but no MANIFEST: not a generated package, left alone\n"
    assert capsys.readouterr().err == line
    assert contents(request.output) == {"thesis.txt": b"four years of work"}


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    """Whoever makes the folder first has done nothing wrong."""
    request = request_of(tmp_path)
    request.output.mkdir()
    assert generate(request) == 0
    assert (request.output / "MANIFEST").exists()


def test_what_tools_leave_behind_is_not_ours(generated: package.Request) -> None:
    """Importing and installing leave folders in the tree; they are no drift and are not deleted."""
    for name in ("src/sample_package/__pycache__/x.pyc", "src/sample_package.egg-info/PKG-INFO", "build/lib/x.py"):
        (generated.output / name).parent.mkdir(parents=True, exist_ok=True)
        (generated.output / name).write_text("x")
    assert output.is_current(generated)
    assert check(generated) == 0


@pytest.mark.parametrize("name", ["rebuild", "build"])
def test_a_package_may_be_called_what_it_likes(name: str, tmp_path: Path) -> None:
    """A name that ends like a tool's folder is still the name of a package: no drift right after generating."""
    request = request_of(tmp_path, name)
    assert generate(request) == 0
    assert check(request) == 0
    assert output.is_current(request)
    (request.output / "src" / name / "stray.py").touch()
    assert check(request) == 1


@pytest.mark.parametrize("text", ["[]", "{}", '{"files": []}', '{"files": 1, "inputs": 1}', "\xff"])
def test_a_broken_manifest_proves_nothing(generated: package.Request, text: str) -> None:
    """Somebody has edited it: everything is printed anew, and the manifest with it."""
    (generated.output / "MANIFEST").write_bytes(text.encode("latin-1"))
    assert not output.is_current(generated)
    assert generate(generated) == 0
    assert output.is_current(generated)


def test_check_is_silent_about_a_sound_package(generated: package.Request, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to say but that there is nothing to say, and nothing written."""
    age(generated.output)
    before = times(generated.output)
    assert check(generated) == 0
    assert capsys.readouterr() == (f"{generated.output} is what its definitions give\n", "")
    assert times(generated.output) == before


def test_check_shows_a_changed_file(generated: package.Request, capsys: pytest.CaptureFixture[str]) -> None:
    """The diff goes from what is there to what belongs there, as if it were to be applied."""
    path = generated.output / "README.md"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(["# By hand\n", *lines[1:]]))
    assert check(generated) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines()[:5] == [
        "--- README.md (on disk)",
        "+++ README.md (generated)",
        "@@ -1,4 +1,4 @@",
        "-# By hand",
        "+# sample-package",
    ]
    assert printed.err.startswith(f"{generated.output} differs from what its definitions give; ")
    assert path.read_text().startswith("# By hand")


def test_check_says_the_command_that_writes_it_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pasted into a shell it must write this package, not another: with its name and parts, and blanks in paths."""
    request = request_of(tmp_path / "my messages")
    to = [*arguments(request), "--components", "secrets"]
    assert cli.main(["check", *to]) == 1
    said, _, command = capsys.readouterr().err.strip().partition("; write it anew: ")
    assert said == f"{request.output} differs from what its definitions give"
    assert shlex.split(command) == ["kafka-message-generator", "generate", *to]
    assert cli.main(shlex.split(command)[1:]) == 0
    assert cli.main(["check", *to]) == 0


def test_check_shows_a_missing_and_a_stray_file(generated: package.Request, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing file is all plus, a stray one all minus; both are drift."""
    (generated.output / "README.md").unlink()
    (generated.output / "stray.py").write_text("stray = 1\n")
    assert check(generated) == 1
    printed = capsys.readouterr().out
    assert "+# sample-package\n" in printed
    assert "--- stray.py (on disk)\n+++ stray.py (generated)\n@@ -1 +0,0 @@\n-stray = 1\n" in printed
    assert (generated.output / "stray.py").exists()
    assert not (generated.output / "README.md").exists()


def test_check_without_a_package_shows_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before the first generation everything is missing; check writes nothing."""
    request = request_of(tmp_path)
    assert check(request) == 1
    assert capsys.readouterr().out.count("(generated)\n") >= 10
    assert not request.output.exists()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("missing", "src/sample_package/py.typed is empty, and missing on disk"),
        ("stray", "src/sample_package/stray.py (on disk) is empty, and is not generated"),
    ],
)
def test_check_finds_empty_files_too(
    generated: package.Request, change: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """py.typed is empty, and without it the package has no types."""
    if change == "missing":
        (generated.output / "src" / "sample_package" / "py.typed").unlink()
    else:
        (generated.output / "src" / "sample_package" / "stray.py").touch()
    capsys.readouterr()
    assert check(generated) == 1
    assert capsys.readouterr().out == f"{line}\n"


def test_check_finds_other_line_ends(generated: package.Request, capsys: pytest.CaptureFixture[str]) -> None:
    """A checkout that turns line ends is drift for the manifest, so it must be for check; a diff would show nothing."""
    path = generated.output / "README.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert not output.is_current(generated)
    capsys.readouterr()
    assert check(generated) == 1
    assert capsys.readouterr().out == "README.md (on disk) has other line ends: \\r\\n where \\n is generated\n"


def test_check_survives_a_file_that_is_no_text(generated: package.Request, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever lies in the folder is drift, and is named."""
    (generated.output / "stray.bin").write_bytes(b"\xff\xfe\x00")
    (generated.output / "README.md").write_bytes(b"\xff")
    capsys.readouterr()
    assert check(generated) == 1
    assert capsys.readouterr().out.splitlines() == [
        "README.md (on disk) is not UTF-8 text",
        "stray.bin (on disk) is not UTF-8 text, and is not generated",
    ]


def test_check_keeps_lines_apart(generated: package.Request, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without a last newline must not run into the next one, and only a newline ends a line."""
    (generated.output / "a.txt").write_text("one\x0ctwo\u2028")
    (generated.output / "b.txt").write_text("b\n")
    capsys.readouterr()
    assert check(generated) == 1
    assert capsys.readouterr().out.split("\n") == [
        *("--- a.txt (on disk)", "+++ a.txt (generated)", "@@ -1 +0,0 @@"),
        *("-one\x0ctwo\u2028", "\\ No newline at end of file"),
        *("--- b.txt (on disk)", "+++ b.txt (generated)", "@@ -1 +0,0 @@", "-b", ""),
    ]
