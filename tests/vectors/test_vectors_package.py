"""The vectors package: loader, damaged bytes, and the programs in its README."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from kafka_messages import DecodeError

import kafka_protocol_vectors as package
from kafka_message_generator.export.command import write
from kafka_protocol_upstream.vectors.damaged import damaged
from tests.support import javascript, vectors
from tests.support.pages import ROOT

README = (ROOT / "packages" / "vectors" / "README.md").read_text(encoding="utf-8")
PROGRAMS = {"javascript": ("read.js", "node"), "go": ("read.go", "go", "run"), "java": ("Read.java", "java")}
SAMPLE = package.FOLDER / "kafka-4.4.0" / "raft.jsonl.gz"


def test_loader_yields_every_vector() -> None:
    found = list(package.vectors())
    known = [vector for each in vectors.committed().values() for vector in each]
    assert sorted((v.message, v.version, v.sample, v.data) for v in found) == sorted(
        (v.message, v.version, v.sample, v.data) for v in known
    )
    assert Counter(v.release for v in found)[package.RELEASE] == 4_971
    one = next(package.vectors("ApiVersionsRequest"))
    assert (str(one), one.file, one.json_in) == (
        "ApiVersionsRequest v0 default",
        "clients/ApiVersionsRequest.json",
        None,
    )
    assert package.apis()[3]["name"] == "METADATA"
    assert {path.parent.name for path in package.FOLDER.rglob("*.jsonl.gz")} == {
        "negative",
        "frames",
        "batches",
        "negotiation",
        *(f"kafka-{v.release}" for v in found),
    }


def test_negative_vectors_are_up_to_date() -> None:
    known = list(package.negative())
    made = list(damaged(package.FOLDER / f"kafka-{package.RELEASE}"))
    assert [(n.message, n.version, n.kind, n.data.hex(), n.offset, n.path) for n in known] == [
        (each.message, each.version, each.kind, each.hex, each.offset, each.path) for each in made
    ]


def test_negative_vectors_raise_decode_error() -> None:
    for case in package.negative():
        with pytest.raises(DecodeError) as found:
            vectors.message_class(case.message).read(case.data, case.version)
        assert (found.value.offset, found.value.path) == (case.offset, case.path), case


@pytest.mark.skipif(bool(javascript.missing()), reason=javascript.missing())
def test_negative_vectors_are_rejected_by_javascript(tmp_path: Path) -> None:
    known = list(package.negative())
    asked = [{"message": n.message, "version": n.version, "hex": n.data.hex()} for n in known]
    answers = javascript.ask(write(ROOT / "specs" / "kafka", tmp_path)[0], asked)
    for case, answer in zip(known, answers, strict=True):
        assert (answer["error"]["offset"], answer["error"]["path"]) == (case.offset, case.path), case


def test_kafka_reactions_match_the_readme() -> None:
    outcomes = Counter((case.kind, case.kafka) for case in package.negative())
    rows = re.findall(r"^\| (`[^|]*) \| [^|]* \| ([^|]*) \|$", README.partition("| Kafka |")[2], re.MULTILINE)
    documented = {kind: what for kinds, what in rows for kind in re.findall(r"`([^`]*)`", kinds)}
    assert documented.keys() == {kind for kind, _ in outcomes}
    refused = {kind for kind, what in documented.items() if what == "refuses it"}
    assert {
        kind for kind in documented if {kafka for each, kafka in outcomes if each == kind} == {"refused"}
    } == refused
    assert {kafka for kind, kafka in outcomes if kind == "trailing"} == {"rest"}
    assert {kafka for kind, kafka in outcomes if kind in ("invalid-utf8", "tag-twice")} == {"accepted"}


@pytest.mark.parametrize("page", ["packages/vectors/README.md", "docs/vectors.md"])
def test_page_has_the_vector_counts(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert f"{sum(1 for _ in package.vectors()):,} messages" in text
    assert f"{sum(1 for _ in package.negative()):,} damaged ones" in text
    assert f"{sum(1 for _ in package.frames()):,} whole frames" in text
    assert f"{sum(1 for _ in package.batches()):,} buffers of record batches" in text
    assert f"{sum(1 for _ in package.negotiation()):,} version negotiations" in text


def test_missing_protocol_json_raises_file_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "FOLDER", tmp_path)
    command = f"kafka-message-generator export --specs specs/kafka --output {tmp_path}"
    with pytest.raises(FileNotFoundError) as found:
        package.protocol()
    where = tmp_path / "protocol.json"
    assert str(found.value) == f"{where} is missing; in a clone of the repository, create it with: {command}"
    write(ROOT / "specs" / "kafka", tmp_path)
    assert package.protocol()["format"] == 1


@pytest.mark.parametrize("language", PROGRAMS)
def test_readme_programs_read_every_vector(language: str, tmp_path: Path) -> None:
    name, *command = PROGRAMS[language]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (tmp_path / name).write_text(found, encoding="utf-8")
    done = subprocess.run([*command, str(tmp_path / name), str(SAMPLE)], capture_output=True, text=True, timeout=300)
    known = vectors.read_vectors(SAMPLE)
    assert done.stdout == f"{len(known)} {sum(len(vector.data) for vector in known)}\n", done.stderr


def test_readme_python_prints_the_vectors(capsys: pytest.CaptureFixture[str]) -> None:
    seeds, found = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    kept: dict[str, Path] = {}
    exec(compile(seeds, "README", "exec"), kept)
    assert len([*kept["seeds"].iterdir()]) == sum(1 for _ in package.batches())
    shutil.rmtree(kept["seeds"])
    exec(compile(found, "README", "exec"), {})
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == f"5730 {sum(len(vector.data) for vector in package.vectors())}"
    assert any(line.startswith("3 default 01010") for line in lines)
    assert any(line.startswith("3 truncated ") and line.endswith(" refused") for line in lines)


def test_package_data_covers_all_files() -> None:
    project = tomllib.loads((ROOT / "packages" / "vectors" / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["kafka_protocol_vectors"]
    named = {path for pattern in patterns for path in package.FOLDER.glob(pattern)}
    files = {path for path in package.FOLDER.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert files == named


def test_negative_vector_lines_have_the_expected_keys() -> None:
    text = gzip.decompress((package.FOLDER / "negative" / f"kafka-{package.RELEASE}.jsonl.gz").read_bytes()).decode(
        "ascii"
    )
    keys = {tuple(json.loads(line)) for line in text.splitlines()}
    assert keys == {("message", "version", "kind", "hex", "offset", "path", "kafka")}


@pytest.mark.parametrize("folder", ["frames", "batches", "negotiation"])
def test_readme_describes_the_keys(folder: str) -> None:
    (table,) = re.findall(rf"^\| file `{folder}/.*?\n(.*?)\n\n", README, re.MULTILINE | re.DOTALL)
    documented = [key for row in table.splitlines()[1:] for key in re.findall(r"`(\w+)`", row.split(" | ")[0])]
    for path in (package.FOLDER / folder).glob("*.jsonl.gz"):
        lines = gzip.decompress(path.read_bytes()).decode("ascii").splitlines()
        assert {tuple(json.loads(line)) for line in lines} == {tuple(documented)}


def test_readme_describes_the_samples_of_frames() -> None:
    rows = README.partition("| sample of a frame |")[2].partition("\n\n")[0].splitlines()[2:]
    documented = [sample for row in rows for sample in re.findall(r"`(\w+)`", row.split(" | ")[0])]
    assert sorted(documented) == sorted({vector.sample for vector in package.frames()})


def test_readme_describes_the_keys_of_batches_and_records() -> None:
    rows = README.partition("| key of a batch |")[2].partition("\n\n")[0]
    documented = {key for row in rows.splitlines() for key in re.findall(r"`(\w+)`", row.split(" | ")[0])}
    found = [batch for vector in package.batches() for batch in vector.batches]
    records = [record for batch in found for record in batch["records"]]
    assert documented == {key for each in (*found, *records) for key in each}
