"""The command of a package with other definitions than Kafka's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kafka_message_generator import cli
from tests.support import invoices

BASIC = ["explain", "decode", "encode", "guess", "diff", "show", "list", "tags", "completion"]


def generate(folder: Path, *settings: str) -> Path:
    """Generate the invoices package with additional lines in ``[package]``."""
    specs = invoices.write(folder / "invoices")
    text = invoices.SETTINGS.replace("[package]\n", "\n".join(["[package]", *settings, ""]))
    (specs / "package.toml").write_text(text, encoding="utf-8")
    assert cli.main(["generate", "--specs", str(specs), "--output", str(folder / "package")]) == 0
    return folder / "package"


def run(package: Path, *words: str, status: int = 0) -> str:
    """Return the output of ``python -m acme_invoices``."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    environment["PYTHONPATH"] = str(package / "src")
    line = [sys.executable, "-m", "acme_invoices", *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def subcommands(package: Path) -> list[str]:
    """Return the subcommands in the overview, except those for Kafka's own traffic."""
    return [line.split()[0] for line in run(package, "--help").splitlines() if line.startswith("  ")]


def test_of_an_own_package(tmp_path: Path) -> None:
    package = generate(tmp_path, 'program = "invoices"')
    project = tomllib.loads((package / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"invoices": "acme_invoices.command:main"}
    assert project["tool"]["setuptools"]["package-data"]["acme_invoices"] == ["py.typed", "command/completions/*"]
    assert "complete -o filenames -F _invoices invoices" in run(package, "completion", "bash")
    assert "InvoiceRequest" in run(package, "completion", "fish")
    found = [json.loads(line)["message"] for line in run(package, "list", "--json").splitlines()]
    assert found == ["InvoiceRequest", "InvoiceResponse", "PaidRequest", "RequestHeader", "ResponseHeader"]
    data = run(package, "encode", "PaidRequest", "0", '{"number": "A-7"}', "--frame", "--client-id", "me").strip()
    rows = [json.loads(line) for line in run(package, "explain", "--frame", data, "--json").splitlines()]
    assert [row["note"] for row in rows if row["path"] == "header.request_api_key"] == ["Paid"]
    assert rows[-1]["value"] == "A-7"
    assert json.loads(run(package, "decode", "--frame", data))["message"] == {"number": "A-7"}
    assert set(BASIC) | {"apis", "errors"} <= set(subcommands(package))


def test_without_the_other_parts(tmp_path: Path) -> None:
    package = generate(tmp_path, 'parts = ["command"]')
    assert "scripts" not in tomllib.loads((package / "pyproject.toml").read_text())["project"]
    assert not (package / "src" / "acme_invoices" / "command" / "completions").exists()
    assert subcommands(package) == BASIC
    data = run(package, "encode", "PaidRequest", "0", '{"number": "A-7"}').strip()
    assert json.loads(run(package, "decode", "PaidRequest", "0", data)) == {"number": "A-7"}
    assert "PaidRequest v0" in run(package, "guess", data, "--text")
    told = run(package, "explain", "--frame", data, status=2)
    assert "this package has no headers: it was generated without the part protocol" in told
    told = run(package, "completion", "bash", status=2)
    assert "a package has scripts if package.toml names its program" in told


@pytest.mark.parametrize("words", [["--version"], ["list", "--text"]], ids=" ".join)
def test_modules_loaded_by_the_command(words: list[str], tmp_path: Path) -> None:
    script = f"""
import sys
sys.argv = ["kafka-messages", *{words!r}]
before = set(sys.modules)
from kafka_messages.command import main
assert main() == 0
print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = done.stderr.split()
    known = ("__future__", "kafka_messages", "kafka_messages.errors")
    layers = ("kafka_messages._core", "kafka_messages.command")
    assert [name for name in loaded if name not in known and not name.startswith(layers)] == []
