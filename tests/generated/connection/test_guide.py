"""The programs of the guides, run against each other over sockets."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EADDRINUSE, ECONNREFUSED
from itertools import pairwise

import pytest
from kafka_messages import MetadataRequest, MetadataResponse
from kafka_messages.connection import ClientConnection
from kafka_messages_testkit import KafkaCluster

from tests.support.pages import ROOT, blocks, programs

PAGES = {
    "first_client": ("client", 0),
    "client": ("client", 1),
    "first_mock_broker": ("mock-broker", 0),
    "mock_broker": ("mock-broker", 1),
    "first_proxy": ("proxy", 0),
    "proxy": ("proxy", 1),
}
"""Page and index of each program."""
FIRST, MOST_LINES = "first_", 55
"""Prefix of first programs, and their maximum number of lines as promised in docs/README.md."""
SECONDS = 30


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def run_program(program: str, port: int, *arguments: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, f"examples/{program}.py", str(port), *arguments], cwd=ROOT)
    try:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, f"{program} has ended with {process.returncode}"
                assert time.monotonic() < deadline, f"{program} does not listen"
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(SECONDS)


def run_client(port: int, program: str = "client") -> list[str]:
    line = [sys.executable, f"examples/{program}.py", "127.0.0.1", str(port), "greetings"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("program", PAGES)
def test_pages_contain_the_example_programs(program: str) -> None:
    text = (ROOT / "examples" / f"{program}.py").read_text(encoding="utf-8")
    page, number = PAGES[program]
    shown = "\n\n".join(block.text.strip("\n") for block in programs(f"docs/guide/{page}.md")[number])
    assert "".join(shown.split()) == "".join(text.split())


def line_count(program: str) -> int:
    return (ROOT / "examples" / f"{program}.py").read_text(encoding="utf-8").count("\n")


@pytest.mark.parametrize("program", PAGES)
def test_pages_state_the_length_of_programs(program: str) -> None:
    lines = line_count(program)
    page = (ROOT / "docs" / "guide" / f"{PAGES[program][0]}.md").read_text(encoding="utf-8")
    assert lines <= MOST_LINES or not program.startswith(FIRST)
    assert f"[examples/{program}.py](../../examples/{program}.py), {lines} lines; " in " ".join(page.split())


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("page", ["client", "mock-broker"])
def test_commands_on_pages_print_the_documented_output(page: str) -> None:
    shown = [each for each in blocks(f"docs/guide/{page}.md") if each.language in ("sh", "")]
    documented = port = "9092"
    servers: list[subprocess.Popen[str]] = []
    seen: list[str] = []
    try:
        for command, wanted in pairwise(shown):
            if command.language != "sh":
                continue
            if "broker.py" in command.text:
                for before in servers:
                    seen += stop_server(before)
                documented, port = port_of(wanted.text), str(free_port())
                servers = [start(command.text.replace(documented, port))]
                output = servers[0].stdout
                assert output is not None
                printed = output.readline()
                port = port_of(printed)
            else:
                printed = start(command.text.replace(documented, port)).communicate(timeout=SECONDS)[0]
            assert printed.replace(port, documented) == wanted.text
    finally:
        for server in servers:
            seen += stop_server(server)
    assert seen == (["greetings 0 None b'hello'"] if page == "mock-broker" else [])
    assert all(line in [text.strip() for text in (each.text for each in shown)] for line in seen)


def port_of(line: str) -> str:
    found = re.fullmatch(r"listening at 127\.0\.0\.1:(\d+)\n", line)
    assert found, line
    return found[1]


def start(command: str) -> subprocess.Popen[str]:
    """Start a program with this process's import path, which has the sources of the test kit."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    line = [sys.executable, *command.split()[1:]]
    return subprocess.Popen(
        line, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def stop_server(server: subprocess.Popen[str]) -> list[str]:
    server.send_signal(signal.SIGINT)
    output, _ = server.communicate(timeout=SECONDS)
    assert server.returncode == 0, output
    return output.splitlines()


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("first_client", "127.0.0.1 port {port}: [Errno {errno}] Connect call failed ('127.0.0.1', {port})\n"),
        ("client", "127.0.0.1 port {port}: [Errno {errno}] Connect call failed ('127.0.0.1', {port})\n"),
    ],
)
def test_client_without_broker_exits_with_error(program: str, expected: str) -> None:
    port = free_port()
    line = [sys.executable, f"examples/{program}.py", "127.0.0.1", str(port), "greetings"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (1, expected.format(port=port, errno=ECONNREFUSED))


@pytest.mark.parametrize("program", ["first_mock_broker", "first_proxy"])
def test_port_in_use_exits_with_error(program: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        line = [sys.executable, f"examples/{program}.py", str(port), "127.0.0.1", "1"]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.lower() == (
        f"[errno {EADDRINUSE}] error while attempting to bind on address ('127.0.0.1', {port}): address already in use\n"
    )


@contextmanager
def run_cluster() -> Iterator[int]:
    with KafkaCluster(topics={"greetings": 1}) as cluster:
        yield int(cluster.bootstrap_servers.rpartition(":")[2])


def test_client_reaches_broker_directly_and_through_proxy() -> None:
    proxy = free_port()
    with run_cluster() as broker, run_program("proxy", proxy, "127.0.0.1", str(broker)):
        assert run_client(broker) == ["errors: []", "0 b'hello'"]
        assert run_client(proxy) == ["errors: []", "0 b'hello'", "1 b'hello'"]


def test_first_client_reaches_broker_directly_and_through_proxy() -> None:
    proxy = free_port()
    with run_cluster() as broker, run_program("first_proxy", proxy, "127.0.0.1", str(broker)):
        for offset, port in enumerate((broker, proxy)):
            assert run_client(port, "first_client") == ["greetings has the partitions [0]", f"{offset} b'hello'"]


def test_first_proxy_rewrites_the_address_of_the_first_mock_broker() -> None:
    broker, proxy = free_port(), free_port()
    with run_program("first_mock_broker", broker), run_program("first_proxy", proxy, "127.0.0.1", str(broker)):
        assert [advertised_ports(port) for port in (broker, proxy)] == [[broker], [proxy]]


def test_proxy_rewrites_broker_addresses_to_its_own() -> None:
    proxy = free_port()
    with run_cluster() as broker, run_program("proxy", proxy, "127.0.0.1", str(broker)):
        assert [advertised_ports(port) for port in (broker, proxy)] == [[broker], [proxy]]


def advertised_ports(port: int) -> list[int]:
    connection = ClientConnection()
    sent = connection.send(MetadataRequest(), 12)
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as peer:
        peer.sendall(sent.data)
        while not sent.is_answered:
            list(connection.receive_data(peer.recv(65536)))
    response: MetadataResponse = sent.response
    return [each.port for each in response.brokers]


def test_index_page_states_the_length_of_programs() -> None:
    index = " ".join((ROOT / "docs" / "README.md").read_text(encoding="utf-8").split())
    client, mock, proxy = (line_count(program) for program in ("client", "mock_broker", "proxy"))
    assert "start with a program of about 50 lines" in index
    assert f"{client} lines for the client, {mock} for the mock broker, {proxy} for the proxy." in index
