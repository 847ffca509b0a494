"""A cluster of two brokers with secrets and transactions; one broker is killed while producers write.

It covers log copies, internal topics on both brokers, a change of leaders, and records that only the killed broker had.
"""

from __future__ import annotations

import hashlib
import hmac
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kafka_records.segments.batch_headers import read_batch_headers

from tests.support.leaks import secret

from . import admin
from .broker import Broker, Node
from .busy import steady, traffic
from .kafka import InteropError, Java
from .late import Late, hang
from .make import ATTEMPTS, WORK

SECONDS = 120
SETTINGS = """\
# Replicate everything, internal topics included; a single broker may still write.
offsets.topic.replication.factor=2
transaction.state.log.replication.factor=2
share.coordinator.state.topic.replication.factor=2
default.replication.factor=2
# Short timeouts, small files.
offsets.commit.timeout.ms=1000
log.flush.start.offset.checkpoint.interval.ms=500
log.index.size.max.bytes=65536
"""
REST_SECONDS = 3
"""Time after which idle brokers have written their checkpoints and replicated their records."""
FETCH_SECONDS = 2
"""Time after which a pending replica fetch has ended (``replica.fetch.wait.max.ms`` is 500)."""
GROUP, TRANSACTION = 0, 1
"""Key types of coordinators."""
USER, PASSWORD, SALT = "ann", secret("password"), secret("salt").encode()
BEFORE = {
    "listener.name.external.ssl.keystore.password": secret("keystore"),
    "listener.name.external.ssl.key.password": secret("key"),
    "listener.name.external.ssl.truststore.password": secret("truststore"),
    "listener.name.external.scram-sha-256.sasl.jaas.config": (
        f'org.apache.kafka.common.security.scram.ScramLoginModule required password="{secret("jaas")}";'
    ),
    "acme.endpoint": f"https://ann:{secret('endpoint')}@example.org",
}
"""Initial settings of the second broker; AFTER contains the later change."""
AFTER = {"listener.name.external.ssl.keystore.password": secret("another-keystore")}
DELETED, LEFT_BEHIND, DELETED_LATER, MOVED_ON = 20, 21, 30, 30
"""DeleteRecords offsets in partition 0 of ``input`` (DELETED, DELETED_LATER), and committed offsets of two groups."""


@dataclass(frozen=True)
class Names:
    """A group and transactional ids whose coordinator is the second broker, until the broker is killed."""

    group: str
    """Group whose last commit is lost with the broker."""
    kept: str
    """Transactional id that both brokers have; only the killed broker has ``lost``."""
    lost: str


@dataclass(frozen=True)
class Two:
    """Copies of the log directories of both brokers, in the folders ``1`` and ``2``, at two times."""

    healthy: Path
    killed: Path
    """Files after the kill of the second broker."""
    late: Late
    """Hanging transaction in ``killed``."""
    names: Names


def in_files() -> list[bytes]:
    """Return the secrets in the metadata log."""
    salted = admin.credential(USER, PASSWORD, SALT).salted_password
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    settings = ("keystore", "key", "truststore", "jaas", "endpoint")
    return [SALT, stored, hmac.digest(salted, b"Server Key", "sha256"), *(secret(name).encode() for name in settings)]


def planted() -> list[bytes]:
    """Return all secrets, including those of later settings and those that only the client knows."""
    salted = admin.credential(USER, PASSWORD, SALT).salted_password
    return [*in_files(), *(value.encode() for value in AFTER.values()), PASSWORD.encode(), salted]


@contextmanager
def two(work: Path = WORK) -> Iterator[Two]:
    """Yield the files of a stopped cluster."""
    java = Java.prepare(work)
    with tempfile.TemporaryDirectory(prefix="kafka-messages-") as name, ExitStack() as producers:
        folder = Path(name)
        for each in ("1", "2"):
            (folder / each).mkdir()
        first = Node.formatted(java, folder / "1", settings=SETTINGS)
        second = Node.formatted(java, folder / "2", settings=SETTINGS, first=first)
        with first.running() as one:
            with second.running() as other:
                until("both brokers are there", lambda: len(admin.metadata(one.port).brokers) == 2)
                _healthy(one, other)
                copy_at_rest((one, other), folder / "healthy")
                writing = producers.enter_context(steady(one))
                names = _names(one)
                _kill(one, other, names)
            writing.finish()
            late = _afterwards(one, names)
            time.sleep(REST_SECONDS)
            with one.paused():
                copy((one, other), folder / "killed")
        yield Two(folder / "healthy", folder / "killed", late, names)


def _healthy(one: Broker, other: Broker) -> None:
    for phase in ("begin", "work"):
        traffic(one, phase)
    admin.add_users(one.port, admin.credential(USER, PASSWORD, SALT))
    admin.configure(other.port, 2, BEFORE)
    leader = one if admin.leaders(one.port, "input")[0] == 1 else other
    admin.delete_records(leader.port, "input", 0, DELETED)


def _names(one: Broker) -> Names:
    def coordinated(name: str, kind: int) -> str:
        numbered = (f"{name}-{number}" for number in range(100))
        return next(each for each in numbered if admin.coordinator(one.port, each, kind) == 2)

    return Names(coordinated("moved", GROUP), coordinated("kept", TRANSACTION), coordinated("lost", TRANSACTION))


def _kill(one: Broker, other: Broker, names: Names) -> None:
    partition = next(number for number, leader in admin.leaders(one.port, "input").items() if leader == 2)
    admin.begin(other.port, names.kept)  # the broker now has a block of producer ids
    admin.commit(other.port, names.group, "input", 0, MOVED_ON)
    before = size(one, "input-*")
    until("the producers write", lambda: size(one, "input-*") > before + 10_000)
    with one.paused():
        time.sleep(FETCH_SECONDS)
        admin.produce(other.port, "input", partition, b"a lost record", acks=1)
        admin.commit(other.port, names.group, "input", 0, 1, refused=True)
        with suppress(TimeoutError):
            admin.begin(other.port, names.lost, seconds=2)
        other.process.kill()
        other.process.wait(SECONDS)


def _afterwards(one: Broker, names: Names) -> Late:
    for step in range(10):
        admin.commit(one.port, names.group, "input", 0, MOVED_ON + step)
    admin.commit(one.port, "left-behind", "input", 0, LEFT_BEHIND)
    admin.delete_records(one.port, "input", 0, DELETED_LATER)
    admin.configure(one.port, 1, AFTER)
    return hang(one.port, names.kept, "output", 1)


def copy_at_rest(brokers: Sequence[Broker], target: Path) -> None:
    """Copy the log directories of idle brokers into folders named like those of the brokers. Raise InteropError."""
    for _ in range(ATTEMPTS):
        time.sleep(REST_SECONDS)
        with ExitStack() as paused:
            for broker in brokers:
                paused.enter_context(broker.paused())
            copy(brokers, target)
        if all(len(ends) == 1 for ends in _ends(target).values()):
            return
        shutil.rmtree(target)
    raise InteropError("the brokers do not become idle: one has records that another lacks")


def copy(brokers: Sequence[Broker], target: Path) -> None:
    for broker in brokers:
        shutil.copytree(broker.logs, target / broker.logs.parent.name)


def _ends(target: Path) -> dict[str, set[int]]:
    """Return the last offsets of each partition's copies."""
    found: dict[str, set[int]] = defaultdict(set)
    for folder in target.glob("*/*/"):
        last = -1
        for path in sorted(folder.glob("*.log")):
            with read_batch_headers(path) as read:
                last = max([last, *(offset for batch in read for offset in batch["last_offset"].to_pylist())])
        found[folder.name].add(last)
    return found


def size(broker: Broker, folders: str) -> int:
    """Return the size of the segments in the folders that match a pattern."""
    return sum(path.stat().st_size for path in broker.logs.glob(f"{folders}/*.log"))


def until(what: str, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise InteropError(f"timeout after {SECONDS} seconds: expected that {what}")
        time.sleep(0.2)
