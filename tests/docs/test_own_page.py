"""The blocks of docs/own-package.md: definitions, settings, commands and errors."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from kafka_message_generator import cli
from kafka_message_generator.spec.components import COMPONENTS, OPTIONAL
from tests.support import pages
from tests.support.broken.settings import SOUND
from tests.support.building import import_package

PAGE = "docs/own-package.md"
BLOCKS = pages.blocks(PAGE)


def text_of(language: str, number: int = 0) -> str:
    return [block.text for block in BLOCKS if block.language == language][number]


@pytest.fixture
def invoices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = Path("invoices")
    folder.mkdir()
    for block in BLOCKS:
        if block.language == "json":
            definition = json.loads(block.text)
            name = "enumerations" if isinstance(definition, list) else definition["name"]
            (folder / f"{name}.json").write_text(block.text)
    (folder / "package.toml").write_text(text_of("toml"))
    (folder / "COPYING").write_text("For friends of Acme.\n")
    return folder


@pytest.mark.usefixtures("invoices")
def test_commands_and_python_blocks_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    for line in text_of("sh").splitlines():
        program, *arguments = line.split()
        assert program == "pip" or (program, cli.main(arguments)) == (cli.PROG, 0)
    what = "has no headerVersions, which are optional here, but which Kafka's own generator requires from 4.5"
    assert capsys.readouterr().err == f"InvoiceRequest (1 of 3 messages) {what}\n"
    import_package(Path("invoices-package/src").absolute(), "acme_invoices")
    names: dict[str, object] = {}
    for number in range(2):
        exec(compile(text_of("python", number), PAGE, "exec"), names)
    assert not Path("invoices-package/src/acme_invoices/history").exists()
    assert importlib.import_module("acme_invoices.enums").Amount(-1).name == "NOT_KNOWN"


def test_own_package_negotiates_api_versions(invoices: Path) -> None:
    def generated(name: str) -> tuple[ModuleType, ModuleType]:
        assert cli.main(["generate", "--specs", "invoices", "--output", name, "--package", name]) == 0
        return import_package(Path(name, "src").absolute(), name), importlib.import_module(f"{name}.connection")

    with pytest.raises(ValueError, match=r"^this package has no ApiVersionsResponse$"):
        generated("without_versions")[1].announce()
    for name in ("ApiVersionsRequest.json", "ApiVersionsResponse.json"):
        shutil.copy(pages.ROOT / "specs/kafka/clients" / name, invoices)
    package, connection = generated("with_versions")
    api_keys = importlib.import_module("with_versions.protocol").ApiKey
    announced = connection.announce(list(api_keys))
    assert [each.api_key for each in announced.api_keys] == [1, 2, 18]
    client, server = connection.ClientConnection("me"), connection.ServerConnection(announced)
    first = client.send(package.ApiVersionsRequest(client_software_name="mine", client_software_version="1"))
    for event in server.receive_data(first.data):
        list(client.receive_data(server.send(event, announced)))
    assert client.send(package.InvoiceRequest(number="A-7")).version == 1


def test_invalid_settings_print_the_documented_errors(invoices: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (invoices / "COPYING").unlink()
    (invoices / "package.toml").write_text(text_of("toml").replace("one-way", "oneway"))
    assert cli.main(["generate", "--specs", "invoices", "--output", "package"]) == 1
    assert capsys.readouterr().err == text_of("", -1)


def keys(settings: str) -> set[str]:
    tables = tomllib.loads(settings)
    return {f"{table}.{key}" for table, members in tables.items() for key in members}


def test_every_settings_key_is_documented() -> None:
    everything = keys(SOUND)
    assert keys(text_of("toml")) == everything - {"package.readme", "definitions.older"}
    text = pages.text(PAGE)
    explained = {f"package.{key}" for key in re.findall(r"^\| `([\w-]+)` \| ", text, re.MULTILINE)}
    explained -= {f"package.{part}" for part in OPTIONAL}
    explained |= {
        f"{table}.{key}" for key, table in re.findall(r"^\| `([\w-]+)` of `\[([\w-]+)\]`", text, re.MULTILINE)
    }
    assert explained == everything


def test_component_table_equals_the_components() -> None:
    documented = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$", pages.text(PAGE), re.MULTILINE))
    assert {name: documented[name].replace(" of Kafka", "") for name in OPTIONAL} == {
        name: COMPONENTS[name].about for name in OPTIONAL
    }
