"""The command ``compat``, and a definition before and after a change."""

from __future__ import annotations

import pytest

from kafka_message_generator.cli import main

RELEASED = """{
  "apiKey": 3,
  "type": "metadata",
  "name": "OrderRecord",
  "validVersions": "0",
  "flexibleVersions": "none",
  "fields": [
    { "name": "Id", "type": "int32", "versions": "0+" }
  ]
}
"""
CHANGED = RELEASED.replace("int32", "int64")


def run(*words: str) -> int:
    return main(["compat", *words])


def printed(folders: tuple[str, str], capsys: pytest.CaptureFixture[str], name: str) -> str:
    old, new = folders
    assert run("--old", old, "--new", new, "--format", name) == 1
    return capsys.readouterr().out
