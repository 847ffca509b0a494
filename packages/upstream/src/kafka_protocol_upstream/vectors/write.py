"""Test vectors, error table and API table, written with Kafka's classes."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.files import replace_file
from kafka_protocol_upstream.kafka.artifacts import ARTIFACTS, ArtifactError, Jars
from kafka_protocol_upstream.vectors.definitions import VectorDefinition, read_definitions
from kafka_protocol_upstream.vectors.java_oracle import Answer, JavaClasses, Oracle, OracleError, error_codes, oracle
from kafka_protocol_upstream.vectors.samples import Json, samples

MOST_REFUSALS_SHOWN = 20


@dataclass(frozen=True)
class MessageSample:
    definition: VectorDefinition
    version: int
    kind: str
    json: dict[str, Json] | None
    shift: int = 0
    """Added to the version for Kafka's class: the version of a coordinator key was once its record type."""

    def line(self, answer: Answer) -> str:
        vector: dict[str, Json] = {"message": self.definition.name, "file": self.definition.file}
        vector |= {"version": self.version, "sample": self.kind}
        if self.json is not None:
            vector["json_in"] = self.json
        return compact(vector | {"hex": answer.hex, "json_out": answer.json})


def write_vectors(specs: Path, jars: Jars, target: Path) -> int:
    """Write ``kafka-<release>/<folder>.jsonl.gz`` below ``target``; return the vector count.

    Unchanged files are not touched; files of removed folders are deleted. Raises SpecError, ValueError, and
    OracleError if Java rejects a sample.
    """
    cases = read_cases(specs)
    with oracle(jars) as java:
        answers = ask(java, jars, cases)
    write_cases(cases, answers, _folder(jars, target))
    return len(cases)


def read_cases(specs: Path) -> list[MessageSample]:
    """Return the samples of all definitions, by message and version. Raises SpecError and ValueError."""
    return [
        MessageSample(definition, version, kind, made)
        for definition in read_definitions(specs)
        for version in definition.versions
        for kind, made in sorted(samples(definition, version), key=lambda sample: sample[0])
    ]


def write_cases(cases: Sequence[MessageSample], answers: Sequence[Answer], folder: Path) -> None:
    lines: dict[str, list[str]] = {}
    for case, answer in zip(cases, answers, strict=True):
        lines.setdefault(case.definition.folder, []).append(case.line(answer))
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("*.jsonl.gz")):
        if path.name.removesuffix(".jsonl.gz") not in lines:
            path.unlink()
    for name, content in lines.items():
        write_compressed(folder / f"{name}.jsonl.gz", "".join(line + "\n" for line in content))


def write_errors(jars: Jars, path: Path) -> int:
    """Write Kafka's error codes to ``path`` as a JSON list, keeping the file's descriptions; return the number of codes."""
    errors = error_codes(jars)
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    about = {error["name"]: {"about": error["about"]} for error in known if "about" in error}
    lines = ",\n".join(f"  {json.dumps(error | about.get(error['name'], {}))}" for error in errors)
    replace_file(path, [f"[\n{lines}\n]\n".encode()])
    return len(errors)


def write_apis(jars: Jars, target: Path) -> int:
    """Write ``kafka-<release>/apis.jsonl`` below ``target``; return the number of APIs."""
    with oracle(jars) as java:
        apis = java.apis()
    text = "".join(compact(api) + "\n" for api in apis)
    replace_file(_folder(jars, target) / "apis.jsonl", [text.encode()])
    return len(apis)


def pinned_release(specs: Path) -> str:
    """Return the Kafka release of the definitions, from the file ``SOURCE``. Raises OSError or ValueError."""
    release = json.loads((specs / "SOURCE").read_text(encoding="utf-8")).get("release")
    if not isinstance(release, str):
        raise ValueError(f"{specs / 'SOURCE'}: no release; run nox -s upstream -- import-specs RELEASE")
    return release


def jars_in(folder: Path, release: str) -> Jars:
    """Return the jars in ``folder``. Raises ArtifactError unless they are those of ``release``."""
    classpath = tuple(sorted(folder.glob("*.jar")))
    versions = {}
    for artifact in ARTIFACTS:
        pattern = re.compile(rf"{re.escape(artifact)}-([0-9][0-9.]*)\.jar")
        found = [match[1] for jar in classpath if (match := pattern.fullmatch(jar.name))]
        if len(found) != 1:
            raise ArtifactError(f"{folder}: expected one jar of {artifact}, found {', '.join(found) or 'none'}")
        versions[artifact] = found[0]
    if versions["kafka-clients"] != release:
        raise ArtifactError(f"{folder}: expected kafka-clients {release}, found {versions['kafka-clients']}")
    return Jars(release, versions, classpath)


def ask(java: Oracle, jars: Jars, cases: Sequence[MessageSample]) -> list[Answer]:
    """Encode cases with Kafka's classes. Raises OracleError if they reject a case."""
    classes = JavaClasses(jars)
    answers = java.encode([classes.question(case.definition, case.version + case.shift, case.json) for case in cases])
    refused = [
        f"{case.definition.name} v{case.version} {case.kind}: {answer.error}"
        for case, answer in zip(cases, answers, strict=True)
        if answer.error is not None
    ]
    if refused:
        shown = "\n".join(refused[:MOST_REFUSALS_SHOWN])
        raise OracleError(f"Java rejected {len(refused)} of {len(cases)} samples:\n{shown}")
    return answers


def _folder(jars: Jars, target: Path) -> Path:
    folder = target / f"kafka-{jars.release}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def compact(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


def write_compressed(path: Path, text: str) -> None:
    """Write gzipped ASCII text, unless the file already holds the same text."""
    content = text.encode("ascii")
    # Compare texts, because the output of zlib depends on its version.
    if path.exists() and gzip.decompress(path.read_bytes()) == content:
        return
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        file.write(content)
    replace_file(path, [packed.getvalue()])
