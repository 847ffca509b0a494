"""Asks Kafka's own classes for what is in ``data``: ``python -m tests.connection KAFKA_JARS``, a folder of Kafka's jars."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from kafka_messages import Message
from kafka_messages.protocol import apis

from tests.support.random_messages import Chances, Draw

HERE = Path(__file__).parent
DATA = HERE / "data"
ERROR_CODE = 41
ALL = Chances(null=0, default=0, unknown=0, repeat=0, empty=0)


class Numbered(Draw):
    """Every field has a value of its own, so that one can see where it went; what Kafka's classes check is valid."""

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

    def count(self, field: object) -> int:
        return 2


def requests() -> Iterator[tuple[int, int, Message]]:
    """A request of every API at every version."""
    for api in apis():
        for version in api.valid_versions:
            yield int(api.key), version, Numbered(api.request_class, version, f"{api} {version}", ALL).message()


def main(jars: str) -> None:
    asked = [f"{key} {version} {message.write(version).hex()} {ERROR_CODE}" for key, version, message in requests()]
    with tempfile.TemporaryDirectory() as folder:
        classpath = os.pathsep.join([folder, f"{jars}/*"])
        source = str(HERE / "java" / "Answers.java")
        subprocess.run(["javac", "-encoding", "UTF-8", "-cp", classpath, "-d", folder, source], check=True, timeout=120)
        java = ["java", "-cp", classpath, "Answers"]
        lines = "".join(f"{line}\n" for line in asked)
        answers = subprocess.check_output([*java, "errors"], input=lines, text=True, timeout=120).splitlines()
        announced = subprocess.check_output([*java, "announce"], text=True, timeout=120)
    DATA.mkdir(exist_ok=True)
    pairs = "".join(f"{line} {answer}\n" for line, answer in zip(asked, answers, strict=True))
    (DATA / "errors.txt.gz").write_bytes(gzip.compress(pairs.encode(), mtime=0))
    (DATA / "announced.txt").write_text(announced, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
