"""Builds of the native core for other platforms: which wheels are built, and how; zig and qemu are not run."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest

from kafka_protocol_upstream.publish import platforms
from kafka_protocol_upstream.publish.interpreters import Interpreter
from kafka_protocol_upstream.publish.native import Failed

NAME = "kafka_messages_native-0.1.0-cp3{}-cp3{}-{}.whl"


class Commands:
    """Replacement of ``run`` that writes the files of pip and auditwheel, and records commands."""

    def __init__(self, audited: Mapping[str, str]) -> None:
        self.audited = audited
        self.seen: list[tuple[str, Mapping[str, str]]] = []

    def run(self, *command: str, folder: Path | None = None, variables: Mapping[str, str] | None = None) -> str:
        self.seen.append((" ".join(command), variables or {}))
        if command[0] != "auditwheel" and "wheel" in command:
            minor = command[command.index("--python") + 1][-2:]
            tag = (variables or {})["_PYTHON_HOST_PLATFORM"].replace("-", "_")
            Path(command[command.index("--wheel-dir") + 1], NAME.format(minor, minor, tag)).touch()
        elif command[0] == "auditwheel" and folder is not None:
            target = next(each for each in platforms.TAGS if f"-target {each} " in self.seen_compiler())
            (folder / "out").mkdir()
            minor = command[-1].partition("-cp3")[2][:2]
            with ZipFile(folder / "out" / NAME.format(minor, minor, self.audited[target]), "w") as wheel:
                wheel.writestr("kafka_messages_native/_columns.abi3.so", b"")
        return ""

    def seen_compiler(self) -> str:
        return next(variables["LDSHARED"] for _, variables in reversed(self.seen) if variables)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the source distribution, on x86-64 with CPython 3.11 and 3.12; Debian has 3.11."""
    (tmp_path / "kafka_messages_native-0.1.0.tar.gz").touch()
    (tmp_path / "debian" / "usr" / "include" / "python3.11").mkdir(parents=True)
    found = [Interpreter(f"/python3{minor}", (3, minor, 0)) for minor in (11, 12)]
    monkeypatch.setattr(platforms, "interpreters", lambda: found)
    monkeypatch.setattr(platforms, "debian", lambda machine: tmp_path / "debian")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    return tmp_path


def commands(monkeypatch: pytest.MonkeyPatch, audited: Mapping[str, str]) -> Commands:
    found = Commands(audited)
    monkeypatch.setattr(platforms, "run", found.run)
    return found


def test_wheels_are_built_for_each_python_and_of_debians_for_another_processor(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = commands(monkeypatch, platforms.TAGS).seen
    assert [path.name for path in platforms.build(folder)] == [
        NAME.format(11, 11, "manylinux_2_17_x86_64"),
        NAME.format(12, 12, "manylinux_2_17_x86_64"),
        NAME.format(11, 11, "manylinux_2_17_aarch64"),
        NAME.format(11, 11, "musllinux_1_2_x86_64"),
        NAME.format(12, 12, "musllinux_1_2_x86_64"),
        NAME.format(11, 11, "musllinux_1_2_aarch64"),
    ]
    variables = next(each for _, each in seen if each.get("_PYTHON_HOST_PLATFORM") == "linux-aarch64")
    headers = folder / "debian" / "usr" / "include"
    target = f"-target aarch64-linux-gnu.2.17 -I{headers}/python3.11 -idirafter {headers}"
    assert variables["CC"].endswith(target)
    assert variables["LDSHARED"] == f"{variables['CC']} -shared -s"
    assert variables["SETUPTOOLS_EXT_SUFFIX"] == ".cpython-311-aarch64-linux-gnu.so"
    assert sum(command.startswith("abi3audit --strict") for command, _ in seen) == 6


def test_wheel_of_another_tag_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands(monkeypatch, {"x86_64-linux-gnu.2.17": "manylinux_2_34_x86_64"})
    with pytest.raises(Failed) as caught:
        list(platforms.build(folder))
    name = NAME.format(11, 11, "manylinux_2_34_x86_64")
    assert str(caught.value) == f"auditwheel named the wheel {name}, expected manylinux_2_17_x86_64"


def test_c_library_is_linked_for_every_platform_and_run_with_musl(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = commands(monkeypatch, {}).seen
    targets = [*platforms.TAGS, *platforms.OTHERS]
    assert [line.split(":")[0] for line in platforms.try_library(folder)] == [
        f"C library for {each}" for each in targets
    ]
    assert sum(" -shared " in command for command, _ in seen) == len(targets)
    driver = folder / "aarch64-linux-musl-driver"
    assert [command for command, _ in seen if command.startswith("qemu")] == [f"qemu-aarch64 {driver} 100000"]
