"""The command ``kafka-messages`` with a package of one's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kafka_message_generator import cli
from kafka_protocol_upstream.publish import invoices
from tests.support.pages import ROOT

BASIC = ["encode", "show", "list", "tags", "completion"]
EXPLAINED = ["explain", "decode", "diff", "log"]
"""Subcommands of the component ``explain``."""
TOOLS = ROOT / "packages" / "tools" / "src"


def generate(folder: Path, *settings: str) -> Path:
    specs = invoices.write(folder / "invoices")
    text = invoices.SETTINGS.replace("[package]\n", "\n".join(["[package]", *settings, ""]))
    (specs / "package.toml").write_text(text, encoding="utf-8")
    assert cli.main(["generate", "--specs", str(specs), "--output", str(folder / "package")]) == 0
    return folder / "package"


def started(package: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the package and kafka-messages-tools on its path."""
    paths = [str(package / "src"), str(TOOLS)]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    line = [sys.executable, *words]
    return subprocess.run(line, capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL)


def run(package: Path, *words: str, status: int = 0) -> str:
    """Return the output of ``kafka-messages --package acme_invoices``."""
    done = started(package, "-m", "kafka_messages_tools", "--package", "acme_invoices", *words)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def subcommands(package: Path) -> list[str]:
    return [line.split()[0] for line in run(package, "--help").splitlines() if line.startswith("  ")]


def test_own_command_supports_every_subcommand(tmp_path: Path) -> None:
    package = generate(tmp_path, 'components = ["protocol", "explain"]')
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["tools"] == ["kafka-messages-tools"]
    assert project["dependencies"] == []
    found = [json.loads(line)["message"] for line in run(package, "list", "--json").splitlines()]
    assert found == ["InvoiceRequest", "InvoiceResponse", "PaidRequest", "RequestHeader", "ResponseHeader"]
    data = run(package, "encode", "PaidRequest", "0", '{"number": "A-7"}', "--frame", "--client-id", "me").strip()
    rows = [json.loads(line) for line in run(package, "explain", "--frame", data, "--json").splitlines()]
    assert [row["note"] for row in rows if row["path"] == "header.request_api_key"] == ["Paid"]
    assert rows[-1]["value"] == "A-7"
    assert json.loads(run(package, "decode", "--frame", data))["message"] == {"number": "A-7"}
    assert subcommands(package) == [
        *("explain", "decode", "encode", "diff", "log", "show", "list", "apis"),
        *("capture", "wireshark", "errors", "tags", "completion"),
    ]


def test_setting_program_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command ``kafka-messages --package`` replaces a command of the package."""
    specs = invoices.write(tmp_path / "invoices")
    text = invoices.SETTINGS.replace("[package]\n", '[package]\nprogram = "acme"\n')
    (specs / "package.toml").write_text(text, encoding="utf-8")
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "package")]) != 0
    known = "authors, classifiers, components, description, import-name, license, license-files, name, readme"
    assert capsys.readouterr().err.splitlines() == [
        f"{specs / 'package.toml'}:3: $.package.program: unknown property 'program' of the table package of package.toml; "
        f"expected one of {known}, requires-python, urls, version",
        "1 problem(s); nothing was generated",
    ]


def test_completion_completes_messages_of_the_package(tmp_path: Path) -> None:
    pytest.importorskip("shtab", reason="shtab is not installed; nox -s tests installs it")
    package = generate(tmp_path)
    code = "import sys; sys.argv[0] = 'kafka-messages'; from kafka_messages_tools.command import main; sys.exit(main())"
    paths = [*sys.path, str(package / "src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    for shell in ("bash", "zsh", "fish"):
        line = [sys.executable, "-c", code, "--package", "acme_invoices", "completion", shell]
        done = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
        assert "InvoiceRequest" in done.stdout
        assert "MetadataRequest" not in done.stdout
        assert "MESSAGE_NAMES" not in done.stdout
    what = "completion does not work with python -m; run kafka-messages --package acme_invoices completion bash"
    assert run(package, "completion", "bash", status=2).splitlines()[0] == f"python -m kafka_messages_tools: {what}"


def test_package_without_components_has_basic_subcommands(tmp_path: Path) -> None:
    package = generate(tmp_path, "components = []")
    assert subcommands(package) == BASIC
    what = "decode requires the component explain, which acme_invoices was generated without; "
    reported = run(package, "decode", "PaidRequest", "0", "00", status=2)
    assert reported == f"python -m kafka_messages_tools: {what}add it to components in package.toml\n"


def test_package_with_explain_only_cannot_explain_frames(tmp_path: Path) -> None:
    package = generate(tmp_path, 'components = ["explain"]')
    assert set(subcommands(package)) == {*BASIC, *EXPLAINED}
    data = run(package, "encode", "PaidRequest", "0", '{"number": "A-7"}').strip()
    assert json.loads(run(package, "decode", "PaidRequest", "0", data)) == {"number": "A-7"}
    assert "PaidRequest v0" in run(package, "explain", data, "--text")
    reported = run(package, "explain", "--frame", data, status=2)
    assert (
        "acme_invoices was generated without the component protocol; add it to components in package.toml" in reported
    )


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("no_such_package", "cannot import the package 'no_such_package': No module named 'no_such_package'"),
        ("json", "json is not a package of the Kafka message generator"),
    ],
)
def test_unknown_package_exits_with_2(name: str, what: str, tmp_path: Path) -> None:
    for words in (["--package", name, "list"], ["list", f"--package={name}"]):
        done = started(tmp_path, "-m", "kafka_messages_tools", *words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"python -m kafka_messages_tools: {what}\n")


@pytest.mark.parametrize("words", [["--version"], ["--help"]], ids=" ".join)
def test_version_and_help_import_only_the_core(words: list[str], tmp_path: Path) -> None:
    script = f"""
import sys
sys.argv = ["kafka-messages", *{words!r}]
before = set(sys.modules)
from kafka_messages_tools.command import main
assert main() == 0
print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = done.stderr.split()
    known = ("__future__", "warnings", "kafka_messages")
    ours = ("importlib", "kafka_messages._core", "kafka_messages_tools")
    assert [name for name in loaded if name not in known and not name.startswith(ours)] == []
