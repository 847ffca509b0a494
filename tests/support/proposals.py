"""The package of the proposals, generated from specs/proposals into a cache folder."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".work" / "proposals"
SOURCE = FOLDER / "src"  # Import path of ``kafka_messages_proposals``.


def make_importable() -> None:
    """Generate the package unless it is current, and put it on the import path; without the generator its tests fail."""
    if find_spec("kafka_message_generator") is not None:
        command = (sys.executable, "-m", "kafka_message_generator", "generate")
        paths = ("--specs", str(ROOT / "specs" / "proposals"), "--output", str(FOLDER))
        subprocess.run([*command, *paths], check=True, stdout=subprocess.DEVNULL)
        sys.path.append(str(SOURCE))
