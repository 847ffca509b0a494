"""The command ``check``: differences between a package and its definitions."""

from __future__ import annotations

import hashlib
import io
import json
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from kafka_message_generator import cli, output
from kafka_message_generator.render import package
from tests.support.output import arguments, check, generate, modification_times, request_of, reset_times


def printed_with(folder: Path, **tools: str) -> None:
    manifest = json.loads((folder / "MANIFEST").read_text())
    manifest["tools"] |= tools
    (folder / "MANIFEST").write_text(json.dumps(manifest, indent=1) + "\n")


def test_different_tool_versions_print_a_note_and_do_not_fail(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    now = package.tools()
    printed_with(generated.output, black="25.1.0")
    note = f"{generated.output} was generated with black 25.1.0, jinja2 {now['jinja2']}, but black {now['black']}, "
    note += f"jinja2 {now['jinja2']} are installed; this may cause differences\n"
    assert check(generated) == 0
    assert capsys.readouterr() == (f"{generated.output} matches its definitions\n", note)
    (generated.output / "README.md").unlink()
    assert check(generated) == 1
    assert capsys.readouterr().err.startswith(f"{note}{generated.output} differs from its definitions; ")
    assert generate(generated) == 0
    assert json.loads((generated.output / "MANIFEST").read_text())["tools"] == now


def test_check_of_up_to_date_package_succeeds(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    reset_times(generated.output)
    before = modification_times(generated.output)
    assert check(generated) == 0
    assert capsys.readouterr() == (f"{generated.output} matches its definitions\n", "")
    assert modification_times(generated.output) == before


def test_check_prints_the_diff_of_a_changed_file(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
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
    reported, _, command = capsys.readouterr().err.strip().partition("; generate it: ")
    assert reported == f"{request.output} has no package"
    assert shlex.split(command) == ["kafka-message-generator", "generate", *to]
    assert cli.main(shlex.split(command)[1:]) == 0
    assert cli.main(["check", *to]) == 0


def test_check_reports_missing_and_unexpected_files(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    (generated.output / "README.md").unlink()
    manifest = json.loads((generated.output / "MANIFEST").read_text())
    manifest["files"]["old.py"] = "0"
    (generated.output / "MANIFEST").write_text(json.dumps(manifest))
    (generated.output / "old.py").write_text("old = 1\n")
    assert check(generated) == 1
    printed = capsys.readouterr().out
    assert "+# sample-package\n" in printed
    assert "--- old.py (on disk)\n+++ old.py (generated)\n@@ -1 +0,0 @@\n-old = 1\n" in printed
    assert (generated.output / "old.py").exists()
    assert not (generated.output / "README.md").exists()


@pytest.mark.parametrize("is_there", [True, False])
def test_check_of_missing_package_prints_one_line(
    is_there: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = request_of(tmp_path)
    if is_there:
        request.output.mkdir()
    assert check(request) == 1
    command = shlex.join(["kafka-message-generator", "generate", *arguments(request)])
    assert capsys.readouterr() == ("", f"{request.output} has no package; generate it: {command}\n")
    assert request.output.exists() == is_there


@pytest.mark.parametrize(
    "name", ["tests/test_mine.py", ".git/HEAD", ".env", "src/other/a.py", "src/sample_package/a.txt"]
)
def test_check_ignores_files_outside_the_package(generated: package.PackageRequest, name: str) -> None:
    (generated.output / name).parent.mkdir(parents=True, exist_ok=True)
    (generated.output / name).write_text("mine")
    assert check(generated) == 0
    assert output.is_current(generated)


@pytest.mark.parametrize(
    "name", ["stray.py", "aio/__init__.py", "messages/fast.cpython-311-x86_64-linux-gnu.so", "a.pyi"]
)
def test_check_reports_an_unknown_module(
    generated: package.PackageRequest, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = generated.output / "src" / "sample_package" / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    capsys.readouterr()
    assert check(generated) == 1
    what = "is not generated, but can be imported from the package; move or delete it"
    assert capsys.readouterr() == (f"src/sample_package/{name} {what}\n", "")
    assert generate(generated) == 0
    assert path.exists()


def test_check_reports_a_linked_folder_in_the_package(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    (generated.output / "src" / "sample_package" / "more").symlink_to(generated.output.parent)
    capsys.readouterr()
    assert check(generated) == 1
    what = "is not generated, but can be imported from the package; move or delete it"
    assert capsys.readouterr() == (f"src/sample_package/more {what}\n", "")


def list_file(folder: Path, name: str, data: bytes) -> None:
    """Write a file, and list it in the manifest as one that an earlier run wrote."""
    manifest = json.loads((folder / "MANIFEST").read_text())
    manifest["files"][name] = hashlib.sha256(data).hexdigest()
    (folder / "MANIFEST").write_text(json.dumps(manifest, indent=1) + "\n")
    (folder / name).write_bytes(data)


def difference(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the lines of the difference apart from the one of the manifest."""
    lines = capsys.readouterr().out.split("\n")
    at = lines.index("+++ MANIFEST (generated)")
    end = next(
        (
            n
            for n in range(at, len(lines))
            if not lines[n].startswith(("+++", "@@", " ", "-", "+")) or lines[n].startswith("--- ")
        ),
        len(lines),
    )
    return [line for line in lines[: at - 1] + lines[end:] if line]


def test_check_reports_missing_and_unexpected_empty_files(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    (generated.output / "src" / "sample_package" / "py.typed").unlink()
    list_file(generated.output, "src/sample_package/old.py", b"")
    capsys.readouterr()
    assert check(generated) == 1
    assert difference(generated.output, capsys) == [
        "src/sample_package/old.py (on disk) is not generated",
        "src/sample_package/py.typed is missing on disk",
    ]


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
    list_file(generated.output, "old.bin", b"\xff\xfe\x00")
    (generated.output / "README.md").write_bytes(b"\xff")
    capsys.readouterr()
    assert check(generated) == 1
    assert difference(generated.output, capsys) == [
        "README.md (on disk) is not UTF-8 text",
        "old.bin (on disk) is not UTF-8 text, and is not generated",
    ]


def test_check_splits_lines_only_at_newlines_and_escapes_controls(
    generated: package.PackageRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    list_file(generated.output, "a.txt", "one\x0ctwo\u2028".encode())
    list_file(generated.output, "b.txt", b"b\n")
    capsys.readouterr()
    assert check(generated) == 1
    assert difference(generated.output, capsys) == [
        *("--- a.txt (on disk)", "+++ a.txt (generated)", "@@ -1 +0,0 @@"),
        *(r"-one\x0ctwo\u2028", "\\ No newline at end of file"),
        *("--- b.txt (on disk)", "+++ b.txt (generated)", "@@ -1 +0,0 @@", "-b"),
    ]


def test_check_prints_the_diff_in_any_encoding(generated: package.PackageRequest) -> None:
    list_file(generated.output, "a.txt", "Müller\n".encode())
    written = io.BytesIO()
    stdout = io.TextIOWrapper(written, "ascii", newline="\n")
    with redirect_stdout(stdout):
        assert check(generated) == 1
    stdout.flush()
    assert b"-M\\xfcller\n" in written.getvalue()
