"""Connections of a package with its own protocol, without ApiVersions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_message_generator import cli
from kafka_protocol_upstream.publish.invoices import DEFINITIONS
from tests.support.building import import_package, unique_name, write_specs
from tests.support.loops import run


@pytest.fixture
def package(tmp_path: Path) -> Any:
    name = unique_name()
    specs = write_specs(tmp_path / "specs", *DEFINITIONS)
    (specs / "package.toml").write_text("[protocol]\nheaders = 'kafka'\none-way = ['PaidRequest']\n")
    arguments = ["--specs", str(specs), "--output", str(tmp_path / "out"), "--package", name, "--components", "aio"]
    assert cli.main(["generate", *arguments]) == 0
    return import_package(tmp_path / "out" / "src", name)


def test_package_of_another_protocol_connects(package: Any) -> None:
    aio: Any = __import__(f"{package.__name__}.aio", fromlist=["connect"])

    async def handler(received: Any) -> Any:
        if received.expects_response:
            return package.InvoiceResponse(cents=995)
        paid.append(received.message.number)
        return None

    async def talk() -> int:
        async with (
            await aio.serve(handler) as server,
            await aio.relay([("127.0.0.1", server.port)]) as proxy,
            await aio.connect("127.0.0.1", proxy.port) as peer,
        ):
            await peer.send(package.PaidRequest(number="A-7"), 0)
            response = await peer.request(package.InvoiceRequest(number="A-7"), 1)
            cents: int = response.cents
            return cents

    paid: list[str] = []
    assert run(talk()) == 995
    assert paid == ["A-7"]
