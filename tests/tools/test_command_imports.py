"""Modules imported by the command at startup: none that takes long."""

from __future__ import annotations

import subprocess
import sys

import pytest

SLOW = ("ast", "asyncio", "dataclasses", "inspect", "shutil", "textwrap")
"""Modules of the standard library that take milliseconds to import."""
MESSAGES = "kafka_messages.messages."


@pytest.mark.parametrize(
    ("words", "messages"),
    [
        (("--version",), []),
        (("list",), []),
        (("explain", "ApiVersionsRequest", "3", "010100", "--text"), ["api_versions_request"]),
    ],
    ids=lambda each: "-".join(each) if isinstance(each, tuple) else "",
)
def test_command_imports_only_the_needed_modules(words: tuple[str, ...], messages: list[str]) -> None:
    script = f"""
import sys
before = set(sys.modules)
from kafka_messages_tools.command import main
assert main({words!r}) == 0
new = set(sys.modules) - before
print(*sorted(each for each in new if each in {SLOW!r} or each.startswith({MESSAGES!r})), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True, timeout=60)
    assert done.stderr.split() == [f"{MESSAGES}{name}" for name in messages]
