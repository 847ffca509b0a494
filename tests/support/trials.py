"""Distributions tried as users have them: wheels in environments where nothing else is. Downloads what they depend on.

python -m tests.support.trials generator|records|native|packages FOLDER
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.support import invoices
from tests.support.interpreters import interpreters
from tests.support.pages import ROOT

LIMIT = 900
"""Seconds after which a step is ended."""
DESCRIBE = """
from importlib.metadata import metadata
said = metadata("acme-invoices")
print(said["Name"], said["Version"], said["License-Expression"], said.get_all("License-File"), said.get_all("Requires-Dist"))
"""
DESCRIBED = "acme-invoices 2.1.0 LicenseRef-Acme ['COPYING'] None\n"
IMPORT_ALL = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    modules = [module.name for module in pkgutil.walk_packages(package.__path__, name + ".")]
    for module in modules:
        if not module.endswith("__main__"):
            importlib.import_module(module)
    print(name, "with", len(modules), "modules")
"""


class Failed(Exception):
    """A step of a trial went wrong; the text has what it printed."""


class Place:
    """An environment of its own, empty at first."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        run(python, "-m", "venv", "--without-pip", str(folder))
        self.commands = folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = str(self.commands / "python")

    def install(self, *what: str) -> None:
        """Install wheels or folders with all that they depend on."""
        run(sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet", *what)

    def run_script(self, script: str, *arguments: str) -> str:
        """What a script prints that sees only what is installed."""
        return run(self.python, "-I", "-c", script, *arguments)


def run(*command: str, folder: Path | None = None) -> str:
    """What a command prints on standard output; it runs where nothing of this repository is in reach. Raises Failed."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        done = subprocess.run(
            command,
            cwd=folder or tempfile.gettempdir(),
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)}\ntook more than {LIMIT} s") from None
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def same(what: str, found: str, expected: str) -> None:
    if found != expected:
        raise Failed(f"{what}: expected {expected!r}, found {found!r}")


def wheel(folder: Path, name: str, tag: str = "py3") -> Path:
    """The one wheel of a distribution in a folder, for every Python or for the one with a tag."""
    found = sorted(folder.glob(f"{name}-*-{tag}-*.whl"))
    if len(found) != 1:
        raise Failed(f"{folder} has {len(found)} wheels of {name} for {tag}, expected one")
    return found[0].resolve()


def try_generator(folder: Path, work: Path) -> None:
    """The generator makes a stranger's package, which is installed by itself, talks, and is all its owner's."""
    path = wheel(folder, "kafka_message_generator")
    tool = Place(work / "tool")
    tool.install(str(path))
    command = str(tool.commands / "kafka-message-generator")
    same("--version", run(command, "--version"), f"kafka-message-generator {path.name.split('-')[1]}\n")
    specs, package = invoices.write(work / "invoices"), work / "package"
    for step in ("generate", "check"):
        run(command, step, "--specs", str(specs), "--output", str(package))
    if foreign := list(invoices.foreign(package)):
        raise Failed("the stranger's package has what it does not need:\n" + "\n".join(foreign))
    place = Place(work / "place")
    place.install(str(package))
    same("its messages", place.run_script(invoices.USE), invoices.PRINTED)
    same("its metadata", place.run_script(DESCRIBE), DESCRIBED)


def try_packages(folder: Path, work: Path) -> None:
    """The packages are installed together, with PySpark, import whole and decode what a broker said."""
    place = Place(work / "place")
    names = ("kafka_messages", "kafka_records", "kafka_messages_spark")
    messages, records, spark = (wheel(folder, name) for name in names)
    place.install(f"{messages}[arrow]", f"{records}[arrow]", f"{spark}[spark]")
    print(place.run_script(IMPORT_ALL, *names), end="")
    decoded = run(place.python, "-I", str(ROOT / "examples" / "decode_response.py"))
    line = "  topic 'orders' has 3 partitions, error code NONE\n"
    if line not in decoded:
        raise Failed(f"examples/decode_response.py does not print {line!r}:\n{decoded}")


def try_records(folder: Path, work: Path) -> None:
    """The package of record batches works alone: its README's example runs where nothing else is installed."""
    place = Place(work / "place")
    place.install(str(wheel(folder, "kafka_records")))
    text = (ROOT / "packages" / "records" / "README.md").read_text(encoding="utf-8")
    example = text.partition("```python\n")[2].partition("```")[0]
    same("its example", place.run_script(example), "gzip 0 b'order-1' b'paid'\n")


def try_native(folder: Path, work: Path) -> None:
    """With the wheel for it each CPython of this machine reads and writes every message natively, at every version."""
    for interpreter in interpreters():
        place = Place(work / interpreter.tag, interpreter.path)
        core = wheel(folder, "kafka_messages_native", interpreter.tag)
        place.install("--no-deps", str(wheel(folder, "kafka_messages")), str(core))
        print(f"{interpreter}: {run(place.python, '-m', 'tests.support.native_proof', folder=ROOT)}", end="")


TRIALS = {"generator": try_generator, "records": try_records, "native": try_native, "packages": try_packages}


def main(arguments: Sequence[str]) -> int:
    name, folder = arguments
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        try:
            TRIALS[name](Path(folder), Path(work))
        except Failed as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
    print(f"{name}: installed from wheels into empty environments, and works; {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
