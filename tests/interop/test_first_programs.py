"""The guide's first programs with third-party clients and a live broker."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kafka_messages.aio import connect
from kafka_messages.enums import ErrorCode

from tests.interop.broker import Broker
from tests.interop.guide import looping, served
from tests.interop.peers import NAMES, PLAIN_AND_COMPRESSED, RECORDS, Peer, expected
from tests.support.programs import program

client, mock, proxy = program("first_client"), program("first_mock_broker"), program("first_proxy")
careful = program("client")


@pytest.mark.parametrize("name", NAMES)
def test_mock_broker_prints_each_produced_record_once(
    name: str, peer: Callable[[str], Peer], capfd: pytest.CaptureFixture[str]
) -> None:
    writing = peer(name)
    mock.ENDS.clear()
    capfd.readouterr()
    with served(lambda _: mock.serve) as port:
        writing.write(port, "first", PLAIN_AND_COMPRESSED)
    lines = [
        f"{topic} {offset} {str(key).encode()!r} {str(value).encode()!r}"
        for topic, rows in expected("first", PLAIN_AND_COMPRESSED).items()
        for offset, key, value in rows
    ]
    printed = capfd.readouterr().out.splitlines()
    assert sorted(printed, key=_topic) == sorted(lines, key=_topic)  # clients write the topics in different orders
    assert len(lines) == RECORDS * len(PLAIN_AND_COMPRESSED)


def _topic(line: str) -> str:
    return line.split()[0]


@pytest.mark.parametrize("name", NAMES)
def test_clients_work_through_the_proxy_which_prints_responses(
    name: str, peer: Callable[[str], Peer], quiet_broker: Broker, capfd: pytest.CaptureFixture[str]
) -> None:
    talking = peer(name)
    capfd.readouterr()
    with served(lambda port: proxy.Proxy(port, "localhost", quiet_broker.port).serve) as port:
        talk = talking.talk(port, f"first-{name}", PLAIN_AND_COMPRESSED)
    want = expected(f"first-{name}", PLAIN_AND_COMPRESSED)
    assert talk.records == want
    assert talk.committed == dict.fromkeys(want, RECORDS)
    printed = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert {"MetadataResponse", "ProduceResponse", "FetchResponse", "OffsetCommitResponse"} <= {
        line[0] for line in printed
    }
    codes = {code for _, _, *codes in printed for code in codes}
    # A new member gets its id with MEMBER_ID_REQUIRED; all other errors are retriable.
    assert {code for code in codes if not ErrorCode[code].is_retriable} <= {"MEMBER_ID_REQUIRED"}


def test_client_prints_partitions_and_records(quiet_broker: Broker, capfd: pytest.CaptureFixture[str]) -> None:
    async def made() -> None:
        async with await connect("localhost", quiet_broker.port) as asking:
            await careful.find_leader(asking, "first-client")

    with looping() as loop:
        with pytest.raises(RuntimeError, match=r"^MetadataRequest: topics\[0\]\.error_code is [A-Z_]+$"):
            loop.run(lambda: client.main("localhost", quiet_broker.port, "first-new"))
        loop.run(made)
        for _ in range(2):
            loop.run(lambda: client.main("localhost", quiet_broker.port, "first-client"))
    lines = ["first-client has the partitions [0]", "0 b'hello'", "first-client has the partitions [0]", "1 b'hello'"]
    assert capfd.readouterr().out.splitlines() == lines
