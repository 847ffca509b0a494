"""The command ``check``: differences between a package and its definitions."""

from __future__ import annotations

import json
import shlex
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
    reported, _, command = capsys.readouterr().err.strip().partition("; regenerate it: ")
    assert reported == f"{request.output} differs from its definitions"
    assert shlex.split(command) == ["kafka-message-generator", "generate", *to]
    assert cli.main(shlex.split(command)[1:]) == 0
    assert cli.main(["check", *to]) == 0


def test_check_reports_missing_and_unexpected_files(
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
def test_check_reports_missing_and_unexpected_empty_files(
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
