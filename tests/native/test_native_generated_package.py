"""The native core with a generated package unrelated to Kafka."""

from __future__ import annotations

from pathlib import Path

from kafka_message_generator import cli
from kafka_protocol_upstream.publish import invoices
from tests.support.implementations import script

NATIVE = """
from acme_invoices import RequestHeader, ResponseHeader, implementation
from acme_invoices._core import native

messages = (InvoiceRequest, InvoiceResponse, PaidRequest, RequestHeader, ResponseHeader)
assert implementation() == "native"
assert native.refused == {}
assert {type(each.read).__module__ for each in messages} == {"kafka_messages_native._core"}
assert [each for each in messages if each._native.declined] == []
for each in messages:
    version = each.HIGHEST_SUPPORTED_VERSION
    assert each.read(each().write(version), version) == each()
"""


def test_generated_package_of_other_messages_is_native(tmp_path: Path) -> None:
    specs, package = invoices.write(tmp_path / "invoices"), tmp_path / "package"
    assert cli.main(["generate", "--specs", str(specs), "--output", str(package)]) == 0
    program = f"import sys; sys.path.insert(0, {str(package / 'src')!r})\n{invoices.USE}{NATIVE}"
    assert script(program) == invoices.PRINTED
