"""The wheel of the tools contains the dissector and the completion scripts."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.pages import ROOT

PROJECT = ROOT / "packages" / "tools"


def test_wheel_contains_dissector_and_completion_scripts(tmp_path: Path) -> None:
    for name in ("setuptools", "shtab"):
        pytest.importorskip(name, reason=f"{name} is not installed; nox -s tests installs it")
    copy = shutil.copytree(PROJECT, tmp_path / "project", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    command = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
    line = [sys.executable, "-c", command, str(tmp_path)]
    done = subprocess.run(line, cwd=copy, capture_output=True, text=True, check=True)
    with zipfile.ZipFile(tmp_path / done.stdout.splitlines()[-1]) as wheel:
        lua = wheel.read("kafka_messages_tools/wireshark/dissector.lua")
        scripts = [wheel.read(f"kafka_messages_tools/command/completions/{shell}") for shell in ("bash", "zsh", "fish")]
    assert lua == (PROJECT / "src" / "kafka_messages_tools" / "wireshark" / "dissector.lua").read_bytes()
    for script in scripts:
        assert all(name in script for name in (b"kafka-messages", b"explain", b"show-secrets", b"MESSAGE_NAMES"))
