"""Write the expected results in ``data`` by running Kafka's own classes: ``python -m tests.generated.connection KAFKA_JARS
OLDER``.

KAFKA_JARS is a folder of Kafka's jars; OLDER has a folder of jars for each older release.
"""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from kafka_messages import Message
from kafka_messages.protocol import apis
from kafka_messages.schema import FieldDescriptor
from kafka_messages.testing.message_generator import Chances, MessageGenerator

from kafka_message_generator.compat.definition_sets import baseline, release_sets

HERE = Path(__file__).parent
DATA = HERE / "data"
HISTORY = HERE.parents[2] / "specs" / "history"
ERROR_CODE = 41
PLAINTEXT = 0
"""Valid security protocol of listeners in UpdateMetadataRequest; parsing looks it up."""
ALL = Chances(null=0, default=0, unknown=0, repeat=0, empty=0, member=0)


class Numbered(MessageGenerator[Message]):
    last = 0

    def scalar(self, kind: str, bits: int, is_element: bool = False) -> object:
        self.last += 1
        values = {
            "int8": 2,
            "bool": self.last % 2 == 1,
            "float64": 1.5,
            "uuid": UUID(int=self.last),
            "string": f"s{self.last}",
            "bytes": b"x%d" % self.last,
            "records": b"x%d" % self.last,
        }
        return values.get(kind, self.last)

    def plain(self, field: FieldDescriptor, bits: int, is_element: bool = False) -> object:
        return PLAINTEXT if field.name == "security_protocol" else super().plain(field, bits, is_element)

    def count(self, field: FieldDescriptor) -> int:
        return 2


Asked = tuple[int, int, Message]
"""API key, version and request."""


def requests() -> dict[str, list[Asked]]:
    released = baseline("history", list(release_sets(HISTORY))).versions
    found: dict[str, list[Asked]] = {"": []}
    for api in apis():
        for version in api.valid_versions:
            release = ""
            if version not in api.supported_versions:
                release = released[api.request_name][version].source.name.removeprefix("Kafka ")
            message = Numbered(api.request_class, version, random.Random(f"{api} {version}"), ALL).message()
            found.setdefault(release, []).append((int(api.key), version, message))
    return found


def refused(asked: list[Asked], jars: Sequence[str], folder: str) -> list[str]:
    lines = [f"{key} {version} {message.write(version).hex()} {ERROR_CODE}" for key, version, message in asked]
    run = java("Refused", jars, folder, "".join(f"{line}\n" for line in lines))
    return [f"{line} {answer}" for line, answer in zip(lines, run.splitlines(), strict=True)]


def java(program: str, jars: Sequence[str], folder: str, lines: str = "") -> str:
    classpath = os.pathsep.join([folder, *jars])
    sources = [str(HERE / "java" / f"{name}.java") for name in dict.fromkeys((program, "Refused"))]
    subprocess.run(["javac", "-encoding", "UTF-8", "-cp", classpath, "-d", folder, *sources], check=True, timeout=120)
    return subprocess.check_output(["java", "-cp", classpath, program], input=lines, text=True, timeout=120)


def main(jars: str, older: str) -> None:
    newest, pairs, older_pairs, announced = [f"{jars}/*"], [], [], ""
    for release, asked in sorted(requests().items()):
        with tempfile.TemporaryDirectory() as folder:
            if not release:
                pairs = refused(asked, newest, folder)
                announced = java("Announced", newest, folder)
            else:  # the jars of a release with a logging backend
                more = [str(path) for path in Path(jars).glob("slf4j-api-*.jar")]
                older_pairs += refused(asked, [f"{older}/{release}/*", *more], folder)
    DATA.mkdir(exist_ok=True)
    for name, lines in (("errors", pairs), ("older-errors", older_pairs)):
        text = "".join(f"{line}\n" for line in lines)
        (DATA / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    (DATA / "announced.txt").write_text(announced, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
