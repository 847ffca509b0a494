"""The helpers of these tests, without a broker: parsers, timeouts and missing programs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

from kafka_messages import OffsetCommitValue
from kafka_messages.messages.produce_request import PartitionProduceData

from tests.interop import broker, kafka
from tests.interop.dump import HEX, dump, parse
from tests.interop.kafka import InteropError, Java, bounded
from tests.interop.tap import Tap, tapped
from tests.support.cluster import differences

LOGS = Path("/logs")
FILE = "orders-0/00000000000000000000.log"
BATCH = (
    "baseOffset: {base} lastOffset: {base} count: 1 baseSequence: 0 lastSequence: 0 producerId: 7 producerEpoch: 2 "
    "partitionLeaderEpoch: 0 isTransactional: {transactional} isControl: {control} deleteHorizonMs: {horizon} "
    "position: 61 CreateTime: 1000 size: 78 magic: 2 compresscodec: lz4 crc: 9 isvalid: {valid}"
)
RECORD = "| offset: 4 CreateTime: 1000 keySize: {key} valueSize: {value} sequence: 0 headerKeys: [{headers}] {rest}"


def text(
    rest: str,
    *,
    key: int = -1,
    value: int = -1,
    headers: str = "",
    control: str = "false",
    horizon: str = "OptionalLong.empty",
    valid: str = "true",
) -> str:
    batch = BATCH.format(base=4, transactional="true", control=control, horizon=horizon, valid=valid)
    record = RECORD.format(key=key, value=value, headers=headers, rest=rest)
    return f"Dumping {LOGS / FILE}\nLog starting offset: 0\n{batch}\n{record}\n"


def only_record(dumped: str, *, is_hex: bool = False) -> dict[str, Any]:
    (batch,) = parse(dumped, LOGS, is_hex)
    (record,) = batch["records"]
    return {name: value for name, value in record.items() if name not in ("offset", "timestamp", "sequence")}


def test_batch_in_dump_output_is_parsed() -> None:
    (batch,) = parse(text("payload: ff", value=1, horizon="OptionalLong[77]"), LOGS, True)
    assert batch["file"] == FILE
    assert (batch["baseOffset"], batch["producerId"], batch["position"], batch["crc"]) == (4, 7, 61, 9)
    assert (batch["isTransactional"], batch["isControl"], batch["compression"]) == (True, False, "lz4")
    assert (batch["timestampType"], batch["maxTimestamp"], batch["deleteHorizon"]) == ("CreateTime", 1000, 77)


@pytest.mark.parametrize(
    ("dumped", "want"),
    [
        (text("key: 6b payload: 76", key=1, value=1), {"key": "6b", "payload": "76"}),
        (text("payload: 76", value=1), {"key": None, "payload": "76"}),
        (text("key: 6b", key=1), {"key": "6b", "payload": None}),
        (text("key: 6b payload: ", key=1, value=0), {"key": "6b", "payload": ""}),
        (text("", headers="a,b"), {"key": None, "payload": None, "headerKeys": ["a", "b"]}),
    ],
)
def test_record_in_dump_output_is_parsed(dumped: str, want: dict[str, Any]) -> None:
    assert only_record(dumped, is_hex=True) == want


@pytest.mark.parametrize(
    ("dumped", "want"),
    [
        (
            text('key: {"type":"1","data":{"group":"g"}} payload: {"version":"4","data":{"offset":3}}'),
            {"key": {"type": "1", "data": {"group": "g"}}, "payload": {"version": "4", "data": {"offset": 3}}},
        ),
        (
            text('key: {"type":"1","data":{"group":" payload: {}"}} payload: <DELETE>'),
            {"key": {"type": "1", "data": {"group": " payload: {}"}}, "payload": None},
        ),
        (
            text('payload: {"type":"NO_OP_RECORD","version":0,"data":{}}'),
            {"payload": {"type": "NO_OP_RECORD", "version": 0, "data": {}}},
        ),
        (
            text("endTxnMarker: ABORT coordinatorEpoch: 3", control="true"),
            {"control": {"type": "ABORT", "coordinatorEpoch": 3}},
        ),
        (
            text('KRaftVersion {"version":0,"kRaftVersion":1}', control="true"),
            {"control": {"type": "KRaftVersion", "data": {"version": 0, "kRaftVersion": 1}}},
        ),
        (
            text('LeaderChange: {"version":0,"leaderId":1}', control="true"),
            {"control": {"type": "LeaderChange", "data": {"version": 0, "leaderId": 1}}},
        ),
    ],
)
def test_record_decoded_by_the_dump_tool_is_parsed(dumped: str, want: dict[str, Any]) -> None:
    assert only_record(dumped) == want


@pytest.mark.parametrize(
    ("dumped", "message"),
    [
        ("Found timestamp mismatch in :/x\n", "unknown line in the dump of no file: Found timestamp mismatch in :/x"),
        (text("payload: 76", value=1, valid="false"), "the dump tool reports an invalid batch: baseOffset: 4 "),
        (text("payload: 76", value=1) * 2, None),
        (text("").rsplit("|", 1)[0], "the dump tool prints 0 of 1 records of {'file': "),
        (text("payload: 76", value=2), "the dump tool prints a payload of the wrong size: | offset: 4 "),
        (text("key: 6b payload: 76", value=1), "the dump tool prints a key of the wrong size: | offset: 4 "),
        ("| offset: x\n", "the dump tool prints an unknown record format: | offset: x"),
    ],
)
def test_invalid_dump_output_raises_interop_error_but_two_batches_do_not(dumped: str, message: str | None) -> None:
    if message is None:
        assert len(list(parse(dumped, LOGS, True))) == 2
        return
    with pytest.raises(InteropError) as error:
        list(parse(dumped, LOGS, True))
    assert str(error.value).startswith(message)


def test_record_that_the_dump_tool_cannot_decode_raises_interop_error() -> None:
    dumped = text("key: 6b payload: 76", key=1, value=1)
    with pytest.raises(InteropError, match=r"^the dump tool could not decode: \| offset: 4 .* key: 6b payload: 76$"):
        only_record(dumped)


def test_failing_or_slow_program_raises_interop_error() -> None:
    fails = [sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"]
    with pytest.raises(InteropError) as error:
        bounded(fails, 30)
    assert str(error.value) == f"{sys.executable} {fails[2]} exited with 3:\nout\nerr"
    before = time.monotonic()
    with pytest.raises(InteropError, match=r" did not finish within 1 seconds:\n$"):
        bounded([sys.executable, "-c", "import time; time.sleep(60)"], 1)
    assert time.monotonic() - before < 30


def test_missing_maven_raises_interop_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InteropError) as error:
        kafka.jars("kafka", tmp_path / "jars")
    assert str(error.value) == "the command mvn is needed to run Kafka; install Maven and a JDK, 17 or later"
    assert not (tmp_path / "jars").exists()


def test_process_ignoring_sigterm_is_killed() -> None:
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        broker.stop(process, seconds=1)
        assert process.returncode == -9


def test_sigterm_to_the_test_process_also_ends_the_broker(tmp_path: Path) -> None:
    session = """if True:
        import socket, sys, time
        from pathlib import Path
        from tests.interop import broker
        from tests.interop.kafka import Java

        Java.run = lambda *_, **__: ""
        Java.command = lambda self, main, settings, heap: [sys.executable, "-c", FAKE, settings]
        FAKE = "import time; time.sleep(60)"
        broker._wait = lambda *_: None
        with broker.running(Java(""), Path(sys.argv[1])) as made:
            print(made.process.pid, flush=True)
            time.sleep(60)
    """
    command = [sys.executable, "-c", session, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=kafka.ROOT) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        os.kill(child, 0)
        process.terminate()
        assert process.wait(30) == 128 + 15
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


class Failing(Java):
    def command(self, *_: object, **__: object) -> list[str]:
        return [sys.executable, "-c", "print('no such listener'); raise SystemExit(1)"]

    def run(self, *_: object, **__: object) -> str:
        return ""


def test_broker_start_failure_raises_interop_error(tmp_path: Path) -> None:
    with (
        pytest.raises(InteropError, match=r"^the broker exited with 1") as error,
        broker.running(Failing(""), tmp_path),
    ):
        pytest.fail("it did not run")
    assert error.value.__notes__ == ["The broker said at last:\nno such listener"]


def answer_twice(server: socket.socket, count: int) -> None:
    """Accept ``count`` connections in sequence, and send the data of each back twice."""
    for _ in range(count):
        client, _ = server.accept()
        with client:
            while data := client.recv(1 << 16):
                client.sendall(data * 2)


def test_relay_records_both_directions(tmp_path: Path) -> None:
    (port,) = broker.free_ports(1)
    expected = {}
    with socket.create_server(("localhost", 0)) as server:
        threading.Thread(target=answer_twice, args=(server, 2), daemon=True).start()
        with tapped(port, server.getsockname()[1], tmp_path):
            for word in (b"one", b"three"):
                with socket.create_connection(("localhost", port), 10) as client:
                    client.sendall(word)
                    client.shutdown(socket.SHUT_WR)
                    answer = client.makefile("rb").read()
                assert answer == word * 2
                expected[word] = answer
    found = {
        path.read_bytes(): path.with_name(path.name.replace("request", "response")).read_bytes()
        for path in tmp_path.glob("*.request.bin")
    }
    assert found == expected


def test_relay_without_broker_closes_the_connection(tmp_path: Path) -> None:
    port, nobody = broker.free_ports(2)
    with tapped(port, nobody, tmp_path), socket.create_connection(("localhost", port), 10) as client:
        assert client.recv(1) == b""
    assert list(tmp_path.iterdir()) == []


def test_relay_without_its_folder_raises_file_not_found_on_close(tmp_path: Path) -> None:
    (port,) = broker.free_ports(1)
    folder = tmp_path / "traffic"
    with socket.create_server(("localhost", 0)) as server:
        tap = Tap(port, server.getsockname()[1], folder)
        folder.rmdir()
        with socket.create_connection(("localhost", port), 10) as client:
            assert client.recv(1) == b""
        with pytest.raises(FileNotFoundError, match=r"request\.bin"):
            tap.close()


def test_dump_tool_runs_once_per_decoder(tmp_path: Path) -> None:
    for name in ("orders-0", "__consumer_offsets-12", "__consumer_offsets-1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "00.log").touch()
    asked: list[tuple[str, ...]] = []

    class Printing(Java):
        def run(self, main: str, *arguments: str, **_: object) -> str:
            asked.append(arguments)
            files = arguments[: arguments.index("--")]
            return "".join(f"Dumping {file}\nLog starting offset: 0\n" for file in files)

    assert list(dump(Printing(""), tmp_path)) == []
    offsets = [str(tmp_path / f"__consumer_offsets-{number}" / "00.log") for number in (1, 12)]
    assert asked == [(*offsets, "--", "--offsets-decoder"), (str(tmp_path / "orders-0" / "00.log"), "--", *HEX)]


def test_differences_from_kafkas_values_are_described() -> None:
    reported = {"offset": 9, "leaderEpoch": 3, "metadata": "m", "commitTimestamp": 5}
    row = {"offset": 9, "leader_epoch": 3, "metadata": "m", "commit_timestamp": 5, "topic_id": None}
    same = OffsetCommitValue(offset=9, leader_epoch=3, metadata="m", commit_timestamp=5)
    assert list(differences(reported, row, same)) == []
    assert list(differences(reported, row | {"offset": 8}, same, "v")) == ["v.offset is 8, and by Kafka 9"]
    assert list(differences(reported, row | {"topic_id": "x"}, same, "v")) == [
        "v.topic_id is 'x', and Kafka does not say so"
    ]
    del row["metadata"]
    assert list(differences(reported, row, same, "v")) == ["v: metadata is missing"]
    assert list(differences([1, 2], [1], [1, 2], "v")) == ["v has 1 elements, and by Kafka 2"]
    assert list(differences("AQI=", b"\x01\x02", b"\x01\x02")) == []
    assert list(differences({"recordsSizeInBytes": 2}, {"records": b"\x01\x02"}, PartitionProduceData())) == []
    assert list(differences({"recordsSizeInBytes": 2}, {"records": b""}, PartitionProduceData(), "v")) == [
        "v.records has not the 2 bytes that Kafka says"
    ]
    assert list(differences(None, [], None, "v")) == ["v is [], and by Kafka None"]
