"""Write the measured messages as samples for ``kafka-message-generator cost``, one file each.

python benchmarks/samples.py FOLDER
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

import adapter_kafka_messages
import encoded_metadata
from environments import HERE
from peer_worker import Loaded
from workloads import WORKLOADS


def samples() -> Iterator[tuple[str, str, int, bytes]]:
    for key, workload in WORKLOADS.items():
        yield key, workload.message, workload.version, Loaded(adapter_kafka_messages.prepare(workload)).data
    for contents in encoded_metadata.ALL_CONTENTS:
        for form in encoded_metadata.FORMS:
            message = encoded_metadata.build(form, contents)
            version = encoded_metadata.VERSION
            yield f"{form}-{contents.name}", message.NAME, version, message.write(version)


def main() -> None:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    sys.path.insert(0, str(HERE.parent / "generated" / "src"))
    encoded_metadata.use_package()
    folder.mkdir(parents=True, exist_ok=True)
    for name, message, version, data in samples():
        line = json.dumps({"message": message, "version": version, "hex": data.hex()})
        (folder / f"{name}.jsonl").write_text(line + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
