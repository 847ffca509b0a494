"""The package of the proposals, generated from specs/proposals into a cache folder."""

from __future__ import annotations

import importlib
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass
class PackageOnDemand:
    """A finder of modules that generates a package when it is first imported; without the generator it finds none."""

    name: str
    specs: Path
    folder: Path
    timeout: float = 600
    """Seconds to wait for another process that generates the package."""

    @property
    def source(self) -> Path:
        """The import path of the package."""
        return self.folder / "src"

    def write(self) -> None:
        """Generate the package unless it is current; other processes wait meanwhile, as workers of pytest-xdist."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with closing(
            sqlite3.connect(self.folder.with_suffix(".lock"), timeout=self.timeout, isolation_level=None)
        ) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            command = (sys.executable, "-m", "kafka_message_generator", "generate")
            paths = ("--specs", str(self.specs), "--output", str(self.folder))
            subprocess.run([*command, *paths], check=True, stdout=subprocess.DEVNULL)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        """Write the package before its first import, and put it on the import path, where the next finder finds it."""
        if name == self.name and self in sys.meta_path and find_spec("kafka_message_generator") is not None:
            self.write()
            sys.meta_path.remove(self)
            sys.path.append(str(self.source))
            importlib.invalidate_caches()  # the folder may be new

    def install(self) -> None:
        if self not in sys.meta_path and str(self.source) not in sys.path:
            sys.meta_path.insert(0, self)


PROPOSALS = PackageOnDemand("kafka_messages_proposals", ROOT / "specs" / "proposals", ROOT / ".work" / "proposals")
