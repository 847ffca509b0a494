"""Each distribution contains the license, the notice about Apache Kafka, and exactly its sources."""

from __future__ import annotations

import io
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from kafka_protocol_upstream.publish import wheels
from kafka_protocol_upstream.publish.wheels import EXTENSIONS, LICENSES, PROJECTS
from tests.support.pages import ROOT

KAFKAS_NOTICE = """
    Apache Kafka
    Copyright 2026 The Apache Software Foundation.

    This product includes software developed at
    The Apache Software Foundation (https://www.apache.org/).
"""


@pytest.mark.parametrize("name", PROJECTS)
def test_project_contains_license_and_notice(name: str) -> None:
    folder = PROJECTS[name]
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (project["license"], project["license-files"]) == ("Apache-2.0", list(LICENSES))
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert KAFKAS_NOTICE in (folder / "NOTICE").read_text(encoding="utf-8")
    assert not wheels.RELATIVE_LINK.search(wheels.readme_of(folder))


def metadata(folder: Path) -> bytes:
    lines = ["Name: x", "License-Expression: Apache-2.0", *(f"License-File: {name}" for name in LICENSES), ""]
    return ("\n".join(lines) + "\n" + wheels.readme_of(folder)).encode()


def build(target: Path, without: str = "", stale: str = "") -> None:
    """Write wheels and source distributions without the file ``without``; ``stale`` is added to a wheel only."""
    for name, folder in PROJECTS.items():
        files = {each: (folder / each).read_bytes() for each in LICENSES if f"{name}/{each}" != without}
        tag = "cp311-cp311-linux_x86_64" if name in EXTENSIONS else "py3-none-any"
        with zipfile.ZipFile(target / f"{name}-1.0-{tag}.whl", "w") as wheel:
            for each, data in files.items():
                wheel.writestr(f"{name}-1.0.dist-info/licenses/{each}", data)
            wheel.writestr(f"{name}-1.0.dist-info/METADATA", metadata(folder))
            for each in wheels.contents_of(name, folder) | ({stale} if stale.startswith(f"{name}/") else set()):
                wheel.writestr(
                    each + (".cpython-311-x86_64-linux-gnu.so" if each in EXTENSIONS.get(name, ()) else ""), ""
                )
        with tarfile.open(target / f"{name}-1.0.tar.gz", "w:gz") as source:
            modules = dict.fromkeys(wheels.sources_of(folder).values(), b"")
            for each, data in (files | modules | {"PKG-INFO": metadata(folder)}).items():
                entry = tarfile.TarInfo(f"{name}-1.0/{each}")
                entry.size = len(data)
                source.addfile(entry, io.BytesIO(data))


def test_check_reports_missing_and_stale_files_of_distributions(tmp_path: Path) -> None:
    build(tmp_path)
    assert list(wheels.problems(tmp_path)) == []
    build(tmp_path, without="kafka_messages/NOTICE")
    assert list(wheels.problems(tmp_path)) == [
        "kafka_messages-1.0-py3-none-any.whl: NOTICE is missing",
        "kafka_messages-1.0.tar.gz: NOTICE is missing",
    ]
    build(tmp_path, stale="kafka_message_generator/old.py")
    stale = "kafka_message_generator-1.0-py3-none-any.whl: kafka_message_generator/old.py is not in the sources"
    assert list(wheels.problems(tmp_path)) == [stale]
    build(tmp_path)
    (tmp_path / "kafka_messages_spark-1.0.tar.gz").unlink()
    missing = "kafka_messages_spark: 0 source distributions, expected one"
    assert list(wheels.problems(tmp_path)) == [missing]


def test_check_reports_missing_compiled_modules_and_wheels(tmp_path: Path) -> None:
    build(tmp_path)
    made = tmp_path / "kafka_messages_native-1.0-cp311-cp311-linux_x86_64.whl"
    other = tmp_path / "kafka_messages_native-1.0-cp312-cp312-linux_x86_64.whl"
    with zipfile.ZipFile(made) as wheel, zipfile.ZipFile(other, "w") as without:
        for each in wheel.namelist():
            if not each.endswith(".so"):
                without.writestr(each, wheel.read(each))
    missing = [f"{other.name}: kafka_messages_native/{each} is missing" for each in ("_columns", "_core")]
    assert list(wheels.problems(tmp_path)) == missing
    other.unlink()
    made.unlink()
    none = "kafka_messages_native: 0 wheels, expected one for each CPython"
    assert list(wheels.problems(tmp_path)) == [none]
    sources = set(wheels.sources_of(PROJECTS["kafka_messages_native"]).values())
    assert {"src/core/core.h", "src/kafka_messages_native/_core.pyi", "src/kafka_messages_native/py.typed"} < sources
