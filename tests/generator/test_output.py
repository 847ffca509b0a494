"""Writing of packages: deterministic output, minimal changes, and diffs."""

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


def request_of(folder: Path, name: str = "sample_package") -> package.PackageRequest:
    return package.PackageRequest(write_specs(folder / "specs", PROBE), folder / "out", name)


def generate(request: package.PackageRequest) -> int:
    return cli.main(["generate", *arguments(request)])


def check(request: package.PackageRequest) -> int:
    return cli.main(["check", *arguments(request)])


def arguments(request: package.PackageRequest) -> list[str]:
    return ["--specs", str(request.specs), "--output", str(request.output), "--package", request.package]


@pytest.fixture
def generated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> package.PackageRequest:
    request = request_of(tmp_path)
    assert generate(request) == 0
    capsys.readouterr()
    return request


LONG = "Number of milliseconds that the request may wait until the service has enough data for an answer to it."


def test_changed_description_changes_only_its_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = package.PackageRequest(tmp_path / "specs", tmp_path / "out", "sample_package")
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


def _generated(request: package.PackageRequest, definition: dict[str, object]) -> dict[str, str]:
    write_specs(request.specs, definition)
    assert generate(request) == 0
    return {path: data.decode() for path, data in contents(request.output).items()}


def _changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))[2:]
    return [line[1:] for line in lines if line[0] == "-"], [line[1:] for line in lines if line[0] == "+"]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def modification_times(folder: Path) -> dict[str, int]:
    return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in folder.rglob("*")}


def reset_times(folder: Path) -> None:
    """Reset all modification times, so that later writes are visible."""
    for path in folder.rglob("*"):
        os.utime(path, ns=(1, 1))


def test_rendering_is_deterministic(tmp_path: Path) -> None:
    request = request_of(tmp_path)
    identity, loaded = identity_of(definitions.load(request.specs), request.package), definitions.load(request.specs)
    assert package.render(identity, loaded) == package.render(identity, definitions.load(request.specs))


def test_output_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
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


def test_output_does_not_depend_on_the_input_path(tmp_path: Path) -> None:
    first, second = request_of(tmp_path / "one"), request_of(tmp_path / "another" / "place")
    assert generate(first) == generate(second) == 0
    assert contents(first.output) == contents(second.output)
    assert not any(str(tmp_path).encode() in data for data in contents(first.output).values())


def test_generated_files_have_clean_line_ends_and_no_trailing_space(generated: package.PackageRequest) -> None:
    for name, data in contents(generated.output).items():
        text = data.decode("utf-8")
        assert "\r" not in text, name
        assert text == "" or (text.endswith("\n") and not text.endswith("\n\n")), name
        assert not any(line.endswith((" ", "\t")) for line in text.splitlines()), name


def test_generated_modules_are_marked_as_generated(generated: package.PackageRequest) -> None:
    for path in (generated.output / "src").rglob("*.py"):
        assert "Generated by the Kafka message generator from" in path.read_text().splitlines()[0], path


def test_manifest_lists_every_file(generated: package.PackageRequest) -> None:
    manifest = json.loads((generated.output / "MANIFEST").read_text())
    assert sorted([*manifest["files"], "MANIFEST"]) == sorted(contents(generated.output))
    assert sorted(manifest["tools"]) == ["black", "jinja2"]


def test_up_to_date_package_is_not_written(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    reset_times(generated.output)
    before = modification_times(generated.output)
    assert generate(generated) == 0
    assert capsys.readouterr().out == f"{generated.output} is up to date\n"
    assert modification_times(generated.output) == before


def test_only_changed_files_are_written(generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]) -> None:
    write_specs(generated.specs, message(field("A", about="Changed.")))
    reset_times(generated.output)
    before = modification_times(generated.output)
    assert generate(generated) == 0
    after = modification_times(generated.output)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"MANIFEST", "src/sample_package/messages/probe.py"}
    assert f"{generated.output}: {len(contents(generated.output))} files, 2 changed, in " in capsys.readouterr().out


@pytest.mark.parametrize("change", ["edited", "missing", "stray", "manifest"])
def test_modified_package_is_restored(generated: package.PackageRequest, change: str) -> None:
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
def test_invalid_manifest_is_not_current(generated: package.PackageRequest, data: bytes) -> None:
    (generated.output / "MANIFEST").write_bytes(data)
    assert not output.is_current(generated)


def test_every_input_changes_the_inputs_hash(tmp_path: Path) -> None:
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
    other = package.PackageRequest(request.specs, request.output, "other_package")
    parts = package.PackageRequest(request.specs, request.output, "sample_package", ("arrow",))
    assert len({*seen, package.inputs_hash(other), package.inputs_hash(parts)}) == 15


def test_unrelated_files_do_not_change_the_inputs_hash(generated: package.PackageRequest) -> None:
    (generated.specs / "notes.txt").write_text("not a definition")
    (generated.specs / "package.toml~").write_text("[package]")
    assert output.is_current(generated)
    assert check(generated) == 0


def test_license_files_are_copied_from_the_settings(generated: package.PackageRequest) -> None:
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


def test_readme_is_copied_from_the_settings(generated: package.PackageRequest) -> None:
    readme, settings = generated.output / "README.md", generated.specs / "package.toml"
    default = "from {0} import Probe\n\nmessage = Probe()\ndata = message.write(3)\n"
    assert f"```python\n{default.format('sample_package')}" in readme.read_text()
    (generated.specs / "about.md").write_text("# Ours\n\n{{ no template }}\n")
    settings.write_text('[package]\nimport-name = "sample_package"\nreadme = "about.md"\n')
    assert generate(generated) == 0
    assert readme.read_text() == "# Ours\n\n{{ no template }}\n"
    other = package.PackageRequest(generated.specs, generated.output.with_name("other"), "other_package")
    assert generate(other) == 0
    assert default.format("other_package") in (other.output / "README.md").read_text()
    (generated.specs / "about.md").write_text("")
    assert generate(generated) == 0
    assert readme.read_text() == ""


def test_own_packages_do_not_mention_kafka(generated: package.PackageRequest) -> None:
    (generated.specs / "SOURCE").write_text('{"release": "1.2.3"}')
    assert generate(generated) == 0
    about = [generated.output / name for name in ("README.md", "pyproject.toml", "src/sample_package/__init__.py")]
    assert not any("Apache" in path.read_text() or "byte-exact" in path.read_text() for path in about)


@pytest.mark.parametrize("command", ["generate", "check"])
def test_folder_of_another_package_is_not_overwritten(
    command: str, generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(generated.output)
    settings = generated.specs / "package.toml"
    settings.write_text('[package]\nimport-name = "other_package"\ncomponents = ["internal_topics"]\n')
    to = ["--specs", str(generated.specs), "--output", str(generated.output)]
    what = f"{generated.output} holds the package sample_package, not other_package"
    what += "; choose another folder, or remove this one first"
    assert cli.main([command, *to]) == 1
    what_else = "the component internal_topics requires messages of type coordinator-key, coordinator-value, metadata"
    assert capsys.readouterr() == (
        "",
        f"{settings}:2: $.package.import-name: {what}\n"
        f"{settings}:3: $.package.components: {what_else}, but there are none; remove it\n"
        "2 problem(s); nothing was generated\n",
    )
    settings.unlink()
    assert cli.main([command, *to, "--package", "other_package"]) == 1
    assert capsys.readouterr() == ("", f"command line:1: --package: {what}\n1 problem(s); nothing was generated\n")
    assert contents(generated.output) == before


def printed_with(folder: Path, **tools: str) -> None:
    manifest = json.loads((folder / "MANIFEST").read_text())
    manifest["tools"] |= tools
    (folder / "MANIFEST").write_text(json.dumps(manifest, indent=1) + "\n")


def test_different_tool_versions_are_only_a_note(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    now = package.tools()
    printed_with(generated.output, black="25.1.0")
    note = f"{generated.output} was generated with black 25.1.0, jinja2 {now['jinja2']}; this is black {now['black']}, "
    note += f"jinja2 {now['jinja2']}: the difference may cause a diff\n"
    assert check(generated) == 0
    assert capsys.readouterr() == (f"{generated.output} matches its definitions\n", note)
    (generated.output / "README.md").unlink()
    assert check(generated) == 1
    assert capsys.readouterr().err.startswith(f"{note}{generated.output} differs from its definitions; ")
    assert generate(generated) == 0
    assert json.loads((generated.output / "MANIFEST").read_text())["tools"] == now


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_printed_only_to_a_terminal(
    is_terminal: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    assert generate(request_of(tmp_path)) == 0
    shown = "".join(f"\r{done} of 5 modules" for done in range(1, 6)) + "\n"
    assert capsys.readouterr().err == (shown if is_terminal else "")


def test_modules_of_removed_definitions_are_removed(generated: package.PackageRequest) -> None:
    (generated.specs / "Probe.json").rename(generated.specs / "Other.json")
    write_specs(generated.specs, message(field("A", about="Sample."), name="Other"))
    assert generate(generated) == 0
    assert sorted(path.name for path in (generated.output / "src" / "sample_package" / "messages").iterdir()) == [
        "__init__.py",
        "other.py",
    ]


def test_removed_component_cannot_be_imported(tmp_path: Path) -> None:
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


def test_folder_without_manifest_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = request_of(tmp_path)
    request.output.mkdir()
    (request.output / "thesis.txt").write_text("four years of work")
    assert generate(request) == 1
    line = f"{request.output} has files but no MANIFEST: not a generated package, not changed\n"
    assert capsys.readouterr().err == line
    assert contents(request.output) == {"thesis.txt": b"four years of work"}


def test_empty_folder_is_accepted(tmp_path: Path) -> None:
    request = request_of(tmp_path)
    request.output.mkdir()
    assert generate(request) == 0
    assert (request.output / "MANIFEST").exists()


def test_caches_and_build_artifacts_are_ignored(generated: package.PackageRequest) -> None:
    for name in ("src/sample_package/__pycache__/x.pyc", "src/sample_package.egg-info/PKG-INFO", "build/lib/x.py"):
        (generated.output / name).parent.mkdir(parents=True, exist_ok=True)
        (generated.output / name).write_text("x")
    assert output.is_current(generated)
    assert check(generated) == 0


@pytest.mark.parametrize("name", ["rebuild", "build"])
def test_package_may_be_named_build(name: str, tmp_path: Path) -> None:
    request = request_of(tmp_path, name)
    assert generate(request) == 0
    assert check(request) == 0
    assert output.is_current(request)
    (request.output / "src" / name / "stray.py").touch()
    assert check(request) == 1


@pytest.mark.parametrize("text", ["[]", "{}", '{"files": []}', '{"files": 1, "inputs": 1}', "\xff"])
def test_broken_manifest_is_regenerated(generated: package.PackageRequest, text: str) -> None:
    (generated.output / "MANIFEST").write_bytes(text.encode("latin-1"))
    assert not output.is_current(generated)
    assert generate(generated) == 0
    assert output.is_current(generated)


def test_check_of_up_to_date_package_succeeds(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    reset_times(generated.output)
    before = modification_times(generated.output)
    assert check(generated) == 0
    assert capsys.readouterr() == (f"{generated.output} matches its definitions\n", "")
    assert modification_times(generated.output) == before


def test_check_shows_a_changed_file(generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]) -> None:
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
    assert printed.err.startswith(f"{generated.output} differs from its definitions; ")
    assert path.read_text().startswith("# By hand")


def test_check_prints_the_generate_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = request_of(tmp_path / "my messages")
    to = [*arguments(request), "--components", "secrets"]
    assert cli.main(["check", *to]) == 1
    said, _, command = capsys.readouterr().err.strip().partition("; regenerate it: ")
    assert said == f"{request.output} differs from its definitions"
    assert shlex.split(command) == ["kafka-message-generator", "generate", *to]
    assert cli.main(shlex.split(command)[1:]) == 0
    assert cli.main(["check", *to]) == 0


def test_check_shows_a_missing_and_a_stray_file(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    (generated.output / "README.md").unlink()
    (generated.output / "stray.py").write_text("stray = 1\n")
    assert check(generated) == 1
    printed = capsys.readouterr().out
    assert "+# sample-package\n" in printed
    assert "--- stray.py (on disk)\n+++ stray.py (generated)\n@@ -1 +0,0 @@\n-stray = 1\n" in printed
    assert (generated.output / "stray.py").exists()
    assert not (generated.output / "README.md").exists()


def test_check_of_missing_package_prints_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
def test_check_reports_missing_and_stray_empty_files(
    generated: package.PackageRequest, change: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if change == "missing":
        (generated.output / "src" / "sample_package" / "py.typed").unlink()
    else:
        (generated.output / "src" / "sample_package" / "stray.py").touch()
    capsys.readouterr()
    assert check(generated) == 1
    assert capsys.readouterr().out == f"{line}\n"


def test_check_reports_different_line_ends(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    path = generated.output / "README.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert not output.is_current(generated)
    capsys.readouterr()
    assert check(generated) == 1
    assert capsys.readouterr().out == "README.md (on disk) has other line ends: \\r\\n where \\n is generated\n"


def test_check_reports_a_binary_file(generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]) -> None:
    (generated.output / "stray.bin").write_bytes(b"\xff\xfe\x00")
    (generated.output / "README.md").write_bytes(b"\xff")
    capsys.readouterr()
    assert check(generated) == 1
    assert capsys.readouterr().out.splitlines() == [
        "README.md (on disk) is not UTF-8 text",
        "stray.bin (on disk) is not UTF-8 text, and is not generated",
    ]


def test_check_splits_lines_only_at_newlines(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    (generated.output / "a.txt").write_text("one\x0ctwo\u2028")
    (generated.output / "b.txt").write_text("b\n")
    capsys.readouterr()
    assert check(generated) == 1
    assert capsys.readouterr().out.split("\n") == [
        *("--- a.txt (on disk)", "+++ a.txt (generated)", "@@ -1 +0,0 @@"),
        *("-one\x0ctwo\u2028", "\\ No newline at end of file"),
        *("--- b.txt (on disk)", "+++ b.txt (generated)", "@@ -1 +0,0 @@", "-b", ""),
    ]
