"""The subcommand ``cost``: output, samples and errors."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from kafka_message_generator import cli
from tests.support.building import write_specs
from tests.support.costs import PROBE, V2, V2_TAGGED
from tests.support.goldens import GOLDENS, matches_golden, stale_goldens
from tests.support.specs import field, message

ROOT = Path(__file__).parents[2]
FOLDER = GOLDENS / "cost"

LINES = (
    {"message": "Probe", "version": 2, "hex": V2_TAGGED, "sample": "ignored"},
    {"message": "Other", "version": 0, "hex": "00"},
    {"message": "Probe", "version": 0, "hex": "0001000000020000ffffffff00000003"},
    {"message": "Probe", "version": 2, "hex": V2 + "00"},
)


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    return write_specs(tmp_path / "specs", PROBE, message(field("A"), name="ProbeOfOldThings"))


def run(*arguments: object) -> int:
    return cli.main(["cost", *map(str, arguments)])


def write_lines(path: Path, *lines: Mapping[str, object] | str) -> Path:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


GOLDEN_RUNS: Mapping[str, Sequence[object]] = {
    "text.txt": ["--message", "Probe", "--samples", "samples.jsonl"],
    "json.txt": ["--message", "Probe", "--version", 0, "--samples", "samples.jsonl", "--format", "json"],
    "histogram.txt": ["--histogram", 32],
    "histogram-json.txt": ["--histogram", 16, "--format", "json"],
}


@pytest.mark.parametrize("name", GOLDEN_RUNS)
def test_output_matches_golden(
    name: str, specs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(specs.parent)
    write_lines(Path("samples.jsonl"), *LINES)
    assert run(*([] if "--histogram" in GOLDEN_RUNS[name] else ["--specs", "specs"]), *GOLDEN_RUNS[name]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    matches_golden(FOLDER / name, printed.out)


def test_every_golden_file_is_used() -> None:
    assert stale_goldens(FOLDER, GOLDEN_RUNS) == []


def test_jsonl_gzip_and_hex_samples_give_equal_results(
    specs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = (LINES[0], "", LINES[3])
    files = (
        write_lines(tmp_path / "a.jsonl", *own),
        write_lines(tmp_path / "b.jsonl.gz", *own),
        write_lines(tmp_path / "c.hex", V2_TAGGED.upper(), f"  {V2}00"),
    )
    results = []
    for path in files:
        command = ("--specs", specs, "--message", "Probe", "--version", 2, "--samples", path, "--format", "json")
        assert run(*command) == 0
        results.append({**json.loads(capsys.readouterr().out), "source": None})
    assert results[0] == results[1] == results[2]
    assert run("--specs", specs, "--message", "Probe", "--samples", *files[:2], "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 4


def test_committed_vectors_are_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--specs", ROOT / "specs" / "kafka", "--message", "ApiVersionsResponse", "--version", 3) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ApiVersionsResponse version 3, ")
    assert lines[1] == "samples: committed test vectors: extreme and random values, not traffic"


def fails(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert run(*arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--message", "Prob"], "unknown message Prob; did you mean Probe?"),
        (["--message", "Metadata"], "unknown message Metadata; the definitions have 2 messages"),
        (["--message", "Probe", "--version", "4"], "Probe has no version 4, only 0-3"),
        (
            ["--message", "Probe"],
            "no test vectors of Probe; use --samples FILE",
        ),
        (
            ["--message", "Probe", "--version", "1"],
            "no test vectors of Probe version 1; use --samples FILE",
        ),
        (["--message", "Probe", "--samples", "absent.jsonl"], "absent.jsonl: No such file or directory"),
        (
            ["--message", "Probe", "--version", "1", "--samples", "samples.jsonl"],
            "no samples of Probe version 1; found samples of version 0, version 2",
        ),
        (
            ["--message", "ProbeOfOldThings", "--samples", "samples.jsonl"],
            "no samples of ProbeOfOldThings; found samples of Other, Probe",
        ),
        (
            ["--message", "Probe", "--samples", "empty.jsonl"],
            "no samples of Probe or of any other message",
        ),
        (
            ["--message", "Probe", "--samples", "hex.txt"],
            "hex.txt:1: a line of hex requires --version N",
        ),
        (["--message", "Probe", "--samples", "latin.txt"], "latin.txt: is not UTF-8 text"),
        (
            ["--message", "Probe", "--samples", "cut.gz"],
            "cut.gz: Compressed file ended before the end-of-stream marker was reached",
        ),
        (["--message", "Probe", "--samples", "plain.gz"], "plain.gz: Not a gzipped file (b'00')"),
    ],
)
def test_invalid_arguments_and_samples_are_reported(
    arguments: Sequence[str],
    reason: str,
    specs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(specs.parent)
    write_lines(Path("samples.jsonl"), *LINES)
    write_lines(Path("empty.jsonl"))
    write_lines(Path("hex.txt"), V2_TAGGED)
    Path("latin.txt").write_bytes(b"\xe4\n")
    Path("plain.gz").write_bytes(b"00\n")
    Path("cut.gz").write_bytes(gzip.compress(b"\n" * 99)[:-8])
    assert fails(capsys, "--specs", "specs", *arguments) == f"{reason}\n"


def test_bad_lines_are_all_reported(
    specs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(specs.parent)
    own = {"message": "Probe", "version": 2}
    lines: list[Mapping[str, object] | str] = [
        LINES[0],
        '{"message": "Probe"',
        {"message": "Probe", "hex": "00"},
        {**own, "version": "2", "hex": "00"},
        {**own, "version": True, "hex": "00"},
        {**own, "version": 9, "hex": "00"},
        {"message": "Other", "version": 9, "hex": "no hex"},
        {**own, "hex": "0g"},
        {**own, "hex": "000"},
        "[]",
        '{"message": ' + "9" * 5000 + "}",
    ]
    write_lines(Path("bad.jsonl"), *lines)
    assert fails(capsys, "--specs", "specs", "--message", "Probe", "--samples", "bad.jsonl").splitlines() == [
        "bad.jsonl:2: is not JSON: Expecting ',' delimiter at column 20",
        "bad.jsonl:3: has no 'version'; expected 'message', 'version', 'hex'",
        "bad.jsonl:4: 'version' must be an integer, not \"2\"",
        "bad.jsonl:5: 'version' must be an integer, not true",
        "bad.jsonl:6: Probe has no version 9, only 0-3",
        "bad.jsonl:8: 'hex': 'g' at character 2 is not a hexadecimal digit",
        "bad.jsonl:9: 'hex': odd number of hex digits (3)",
        "bad.jsonl:10: is neither a JSON object nor hex: '[' at character 1 is not a hexadecimal digit",
        "bad.jsonl:11: is JSON that is nested too deeply or has a number with too many digits",
    ]


def test_undecodable_samples_are_reported(
    specs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(specs.parent)
    write_lines(Path("bad.hex"), V2_TAGGED, V2, V2_TAGGED[:40], V2 + "0000")
    command = ("--specs", "specs", "--message", "Probe", "--version", 2, "--samples", "bad.hex")
    assert fails(capsys, *command).splitlines() == [
        "bad.hex:2: Probe v2: _tagged_fields: UNSIGNED_VARINT: 1 byte needed at offset 28, 0 left",
        "bad.hex:3: Probe v2: pieces[1].x: INT64: 8 bytes needed at offset 18, 2 left",
        "bad.hex:4: Probe v2: 1 byte(s) left after the message, at offset 29",
    ]


def test_problem_list_is_limited_to_20(
    specs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(specs.parent)
    write_lines(Path("bad.hex"), *["?"] * 50)
    lines = fails(capsys, "--specs", "specs", "--message", "Probe", "--samples", "bad.hex").splitlines()
    assert (len(lines), lines[-1]) == (21, "and 30 more")


def test_invalid_definition_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = write_specs(tmp_path / "specs", message(field("A", "int128")))
    lines = fails(capsys, "--specs", specs, "--message", "Probe").splitlines()
    assert "unknown type 'int128'" in lines[0]
    assert lines[-1] == "1 problem(s); nothing was generated"


def test_message_without_versions_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone = message(validVersions="none", flexibleVersions="none", name="Gone")
    specs = write_specs(tmp_path / "specs", PROBE, gone)
    assert fails(capsys, "--specs", specs, "--message", "Gone") == "message Gone has no versions left\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "--specs and --message are required, or --histogram"),
        (["--specs", "x"], "--specs and --message are required, or --histogram"),
        (["--histogram", "31"], "argument --histogram: invalid choice: 31 (choose from 16, 32, 64)"),
        (["--histogram"], "argument --histogram: expected one argument"),
        (["--version", "x"], "argument --version: invalid int value: 'x'"),
    ],
)
def test_invalid_arguments_exit_with_2(
    arguments: Sequence[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith(f"kafka-message-generator cost: error: {reason}\n")
