"""The package of the proposals, generated from specs/proposals into a cache folder.

python -m tests.support.proposals
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPECS = ROOT / "specs" / "proposals"
FOLDER = ROOT / ".work" / "proposals"
SOURCE = FOLDER / "src"  # Import path of ``kafka_messages_proposals``.
DIGEST = FOLDER / ".digest"  # File with the digest of the package's inputs.


def generate() -> Path:
    """Generate the package unless it is current; return its project folder."""
    digest = _digest()
    if not DIGEST.exists() or DIGEST.read_text() != digest:
        work = FOLDER.with_name(f"proposals-{os.getpid()}")
        command = (sys.executable, "-m", "kafka_message_generator", "generate")
        paths = ("--specs", str(SPECS), "--output", str(work))
        subprocess.run([*command, *paths], check=True, stdout=subprocess.DEVNULL)
        (work / DIGEST.name).write_text(digest)
        shutil.rmtree(FOLDER, ignore_errors=True)
        work.rename(FOLDER)
    return FOLDER


def make_importable() -> None:
    """Put the package on the import path; without the generator its tests fail."""
    if find_spec("kafka_message_generator") is not None:
        generate()
        sys.path.append(str(SOURCE))


def _digest() -> str:
    spec = find_spec("kafka_message_generator")
    assert spec is not None
    assert spec.origin is not None
    digest = hashlib.sha256("".join(map(version, ("black", "jinja2"))).encode())
    for folder in (Path(spec.origin).parent, SPECS):
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    print(generate())
