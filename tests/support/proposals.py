"""The package of the proposals: generated from specs/proposals into a cache folder, again after a change.

python -m tests.support.proposals
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPECS = ROOT / "specs" / "proposals"
FOLDER = ROOT / ".work" / "proposals"
SOURCE = FOLDER / "src"
"""What holds ``kafka_messages_proposals``."""
_DIGEST = FOLDER / ".digest"


def generate() -> Path:
    """Generate the package unless it is there; returns the folder of its project."""
    digest = "".join(_digests())
    if not _DIGEST.exists() or _DIGEST.read_text() != digest:
        work = FOLDER.with_name(f"proposals-{os.getpid()}")
        command = (sys.executable, "-m", "kafka_message_generator", "generate")
        paths = ("--specs", str(SPECS), "--output", str(work))
        subprocess.run([*command, *paths], check=True, stdout=subprocess.DEVNULL)
        (work / _DIGEST.name).write_text(digest)
        shutil.rmtree(FOLDER, ignore_errors=True)
        work.rename(FOLDER)
    return FOLDER


def make_importable() -> None:
    """Let this process, and those that it starts with its own path, import the package; no generator, no package."""
    if find_spec("kafka_message_generator") is not None:
        generate()
        sys.path.append(str(SOURCE))


def _digests() -> Iterator[str]:
    """Digests of all that the package is made of, in a fixed order."""
    spec = find_spec("kafka_message_generator")
    assert spec is not None
    assert spec.origin is not None
    for folder in (Path(spec.origin).parent, SPECS):
        files = (path for path in folder.rglob("*") if path.is_file() and path.suffix not in {".pyc", ".so"})
        for path in sorted(files):
            yield hashlib.sha256(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes()).hexdigest()[
                :16
            ]
    yield from (version(name) for name in ("black", "jinja2"))


if __name__ == "__main__":
    print(generate())
