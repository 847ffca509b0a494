"""A package of three definitions unrelated to Kafka: generated, built, installed and used."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path

import pytest

from kafka_message_generator import cli
from kafka_protocol_upstream.publish import invoices
from kafka_protocol_upstream.publish.invoices import COPYING, DEFINITIONS, PRINTED, USE
from tests.support.building import build_package, import_package, unique_name, write_specs
from tests.support.specs import field, message

needs_setuptools = pytest.mark.skipif(
    importlib.util.find_spec("setuptools") is None
    or int(importlib.metadata.version("setuptools").partition(".")[0]) < 77,
    reason="setuptools 77 or newer builds distributions; it is in the group tests of pyproject.toml",
)


def generate(folder: Path) -> Path:
    specs = invoices.write(folder / "invoices")
    arguments = ["--specs", str(specs), "--output", str(folder / "package")]
    assert cli.main(["generate", *arguments]) == 0
    assert cli.main(["check", *arguments]) == 0
    return folder / "package"


def build(kind: str, project: Path, target: Path) -> Path:
    command = f"import sys; from setuptools import build_meta; print(build_meta.build_{kind}(sys.argv[1]))"
    target.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", command, str(target)], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target / done.stdout.splitlines()[-1]


def metadata(text: str) -> Message:
    return HeaderParser().parsestr(text)


@needs_setuptools
def test_package_of_own_definitions_is_built_installed_and_used(tmp_path: Path) -> None:
    source = build("sdist", generate(tmp_path), tmp_path / "dist")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    unpacked = tmp_path / source.name.removesuffix(".tar.gz")
    assert (unpacked / "COPYING").read_text() == COPYING
    wheel = build("wheel", unpacked, tmp_path / "dist")

    venv.create(tmp_path / "empty", with_pip=False)
    python = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", str(wheel)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(install, env=environment, check=True, capture_output=True)
    used = subprocess.run([str(python), "-I", "-c", USE], capture_output=True, text=True, check=False)
    assert (used.returncode, used.stdout, used.stderr) == (0, PRINTED, "")

    with zipfile.ZipFile(wheel) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    info = "acme_invoices-2.1.0.dist-info"
    assert texts[f"{info}/licenses/COPYING"] == COPYING
    metadata_read = metadata(texts[f"{info}/METADATA"])
    assert (metadata_read["Name"], metadata_read["Version"], metadata_read["License-Expression"]) == (
        "acme-invoices",
        "2.1.0",
        "LicenseRef-Acme",
    )
    assert metadata_read["Summary"] == 'Invoices "by wire" \\ {{ all }} of them'
    assert metadata_read["Requires-Python"] == ">=3.11"
    assert metadata_read.get_all("License-File") == ["COPYING"]
    assert metadata_read.get_all("Project-URL") == [
        "Source, https://example.org/invoices",
        "Bug tracker, https://example.org/bugs",
    ]
    assert (metadata_read["Author"], metadata_read["Author-email"]) == ("Acme", "Ada Ångström <ada@example.org>")
    assert "Private :: Do Not Upload" in metadata_read.get_all("Classifier", [])
    assert metadata_read.get_all("Requires-Dist") == ['kafka-messages-tools; extra == "tools"']


def test_description_ending_with_full_stop_is_formatted(tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "specs", message(field("A")))
    (specs / "package.toml").write_text('[package]\nimport-name = "own"\ndescription = "Says all."\n')
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out")]) == 0
    module, readme, project = (
        (tmp_path / "out" / name).read_text() for name in ("src/own/__init__.py", "README.md", "pyproject.toml")
    )
    assert '"""Says all: read and write any message' in module
    assert "\nSays all. 1 message, " in readme
    assert 'description = "Says all."' in project


def test_own_package_contains_nothing_specific_to_kafka(tmp_path: Path) -> None:
    package = generate(tmp_path)
    assert list(invoices.foreign(package)) == []
    layers = {path.name for path in (package / "src" / "acme_invoices").iterdir()}
    assert layers == invoices.LAYERS
    files = sorted(path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file())
    assert sorted(json.loads((package / "MANIFEST").read_text())["files"]) == [
        each for each in files if each != "MANIFEST"
    ]


def test_own_headers_are_encoded(tmp_path: Path) -> None:
    headers = (
        message(
            *(field(f"RequestApi{name}", "int16") for name in ("Key", "Version")),
            field("CorrelationId"),
            field("ClientId", "string", nullableVersions="0+"),
            field("Tenant", "string", ignorable=True),
            name="RequestHeader",
            type="header",
            validVersions="1-2",
        ),
        message(field("Took"), field("CorrelationId"), name="ResponseHeader", type="header", validVersions="0-1"),
    )
    protocol = importlib.import_module(f"{build_package(tmp_path, *DEFINITIONS[:2], *headers).__name__}.protocol")
    package = importlib.import_module(protocol.__name__.rpartition(".")[0])
    wire = protocol.encode_request(package.InvoiceRequest(number="B"), 3, 5, None, framed=False)
    read = protocol.decode_request(wire)
    assert (read.header.client_id, read.header.tenant, read.message.number) == (None, "", "B")
    read.header.tenant = "north"
    assert protocol.decode_request(read.encode(framed=False)).header.tenant == "north"
    answer = protocol.encode_response(package.InvoiceResponse(cents=1), 0, 5, framed=False)
    assert answer.hex() == "00000000" + "00000005" + "0000" + "0000000000000001"
    assert protocol.decode_response(answer, package.InvoiceResponse, 0).header.correlation_id == 5
    for _ in range(3):  # repeated calls reuse the header
        assert protocol.encode_request(package.InvoiceRequest(number="B"), 3, 5) == protocol.frame(wire)
        assert protocol.encode_response(package.InvoiceResponse(cents=1), 0, 5) == protocol.frame(answer)


OWN_ERRORS = '[{"name": "NONE", "code": 0, "retriable": false}, {"name": "CLOSED", "code": 7, "retriable": true}]'


@pytest.mark.parametrize(
    ("errors", "codes", "seven"),
    [(None, {"NONE": 0}, ("UNKNOWN_7", False)), (OWN_ERRORS, {"NONE": 0, "CLOSED": 7}, ("CLOSED", True))],
)
def test_error_codes_are_read_from_errors_json(
    errors: str | None, codes: dict[str, int], seven: tuple[str, bool], tmp_path: Path
) -> None:
    specs, name = write_specs(tmp_path / "specs", *DEFINITIONS[:2]), unique_name()
    (specs / "package.toml").write_text("[protocol]\nheaders = 'kafka'\n")
    if errors is not None:
        (specs / "errors.json").write_text(errors)
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out"), "--package", name]) == 0
    import_package(tmp_path / "out" / "src", name)
    protocol = importlib.import_module(f"{name}.protocol")
    assert {each.name: each.value for each in protocol.ErrorCode} == codes
    assert (protocol.ErrorCode(7).name, protocol.is_retriable(7)) == seven
    assert "Kafka" not in (protocol.ErrorCode.__doc__ or "")


def test_package_without_headers_has_no_protocol_module(tmp_path: Path) -> None:
    package = build_package(tmp_path, *DEFINITIONS[:2])
    with pytest.raises(ModuleNotFoundError, match=rf"^No module named '{package.__name__}\.protocol'$"):
        importlib.import_module(f"{package.__name__}.protocol")
    assert package.InvoiceRequest.read(package.InvoiceRequest(number="C").write(3), 3).number == "C"


@pytest.mark.parametrize(
    "components",
    [
        "",
        "protocol",
        "protocol,connection",
        "protocol,connection,aio",
        "internal_topics",
        "secrets",
        "arrow",
        "explain",
        "testing",
        "protocol,internal_topics,secrets,arrow",
    ],
)
def test_package_with_any_components_is_importable(components: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
    key = message(
        field("A"), name="EntryKey", type="coordinator-key", apiKey=1, validVersions="0", flexibleVersions="none"
    )
    specs = write_specs(tmp_path / "specs", *DEFINITIONS, key)
    (specs / "package.toml").write_text("[protocol]\nheaders = 'kafka'\none-way = ['PaidRequest']\n")
    arguments = [
        "--specs",
        str(specs),
        "--output",
        str(tmp_path / "out"),
        "--package",
        "chosen",
        "--components",
        components,
    ]
    assert cli.main(["generate", *arguments]) == 0
    script = """
import pkgutil, sys
sys.path.insert(0, sys.argv[1])
import chosen
names = [module.name for module in pkgutil.walk_packages(chosen.__path__, "chosen.")]
for name in names:
    __import__(name)
print(*sorted({name.split(".")[1] for name in names}))
"""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "out" / "src")],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=tmp_path,
    )
    basic = ["_base", "_core", "errors", "json", "messages", "schema"]
    needed = ["secrets"] if "arrow" in components or components == "explain" else []  # for redaction
    needed += ["enums"] if "protocol" in components else []  # for error codes
    expected = sorted({*basic, *needed, *(part for part in components.split(",") if part)})
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, expected, "")


def test_package_without_history_and_with_a_removed_api(tmp_path: Path) -> None:
    api = {"apiKey": 7, "validVersions": "0", "flexibleVersions": "none"}
    gone = api | {"apiKey": 8, "validVersions": "none"}
    write_specs(
        tmp_path / "specs",
        message(field("A"), name="AskRequest", type="request", listeners=["broker"], **api),
        message(field("A"), name="AskResponse", type="response", **api),
        message(name="GoneRequest", type="request", listeners=["broker"], **gone),
        message(name="GoneResponse", type="response", **gone),
    )
    (tmp_path / "specs" / "package.toml").write_text(
        '[package]\ncomponents = ["connection"]\n[protocol]\nheaders = "kafka"\n'
    )
    package = unique_name()
    words = ["--specs", str(tmp_path / "specs"), "--output", str(tmp_path / "out"), "--package", package]
    assert cli.main(["generate", *words]) == 0
    import_package(tmp_path / "out" / "src", package)
    protocol, connection = (importlib.import_module(f"{package}.{name}") for name in ("protocol", "connection"))
    with pytest.raises(protocol.UnknownApiError) as caught:
        _ = protocol.api("Gone").request_class
    assert str(caught.value) == "GoneRequest has no class: the API Gone was removed"
    with pytest.raises(protocol.UnsupportedRequestError) as caught:
        protocol.decode_request(bytes.fromhex("0008 0000 00000001 ffff"))
    assert str(caught.value) == "GoneRequest has no version 0: the API was removed"
    with pytest.raises(ValueError, match=r"^this package was") as caught:
        connection.announce(release="4.0.0")
    assert str(caught.value) == (
        "this package was generated without the component history, which is needed for release 4.0.0"
    )
