"""The codecs under comparison and a virtual environment for each, made on first use below one work folder."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = "kafka_messages"


@dataclass(frozen=True)
class Codec:
    """A codec to measure. ``requirement`` is what pip installs or, for our package, an import root as well."""

    name: str
    adapter: str
    requirement: str
    is_peer: bool


PEERS = (
    Codec("kafka-python", "adapter_kafka_python", "kafka-python==3.0.12", is_peer=True),
    Codec("kio", "adapter_kio", "kio==0.6.5", is_peer=True),
)


@dataclass(frozen=True)
class Environment:
    """How to start Python so that it finds one codec."""

    codec: Codec
    python: Path
    import_root: Path | None = None

    def variables(self) -> dict[str, str]:
        """The caller's environment without its Python settings: they must not reach only some of the codecs."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return clean | ({"PYTHONPATH": str(self.import_root)} if self.import_root else {})


def add_arguments(parser: ArgumentParser) -> None:
    """The options that say what to compare and where the environments are."""
    parser.add_argument(
        "--codecs",
        type=names,
        metavar="NAMES",
        help="choice among kafka-messages, kafka-messages-native, kafka-python, kio (default: all there are)",
    )
    parser.add_argument(
        "--package",
        default=str(HERE.parent / "generated" / "src"),
        metavar="PATH",
        help="our package: a wheel, or an import root to use as it is (default: generated/src of this repository)",
    )
    parser.add_argument(
        "--native", metavar="WHEEL", help="a compiled wheel of our package, to compare as kafka-messages-native"
    )
    parser.add_argument(
        "--work", type=Path, default=HERE / ".venvs", metavar="DIR", help="where the environments are kept"
    )
    parser.add_argument(
        "--python",
        type=interpreter,
        action="append",
        default=[],
        metavar="NAME=EXECUTABLE",
        help="use an environment in which that codec is installed already",
    )


def names(text: str) -> list[str]:
    """A comma-separated option value."""
    return [name.strip() for name in text.split(",") if name.strip()]


def interpreter(text: str) -> tuple[str, Path]:
    """``NAME=EXECUTABLE``. The path is kept as given: resolving the link would leave the virtual environment."""
    name, _, path = text.partition("=")
    if not Path(path).is_file():
        raise ArgumentTypeError(f"{text!r} does not say NAME=EXECUTABLE with an executable that exists")
    return name, Path(path).absolute()


def prepare(arguments: Namespace) -> list[Environment]:
    """An environment for every chosen codec, created where it is missing."""
    available = [Codec(PACKAGE.replace("_", "-"), "adapter_kafka_messages", arguments.package, is_peer=False)]
    if arguments.native:
        available.append(Codec("kafka-messages-native", "adapter_kafka_messages", arguments.native, is_peer=False))
    codecs = {codec.name: codec for codec in (*available, *PEERS)}
    chosen = arguments.codecs or list(codecs)
    given: Mapping[str, Path] = dict(arguments.python)
    if unknown := [name for name in (*chosen, *given) if name not in codecs]:
        raise SystemExit(f"unknown codec {', '.join(unknown)}; there are {', '.join(codecs)}")
    return [_environment(codecs[name], given.get(name), arguments.work) for name in dict.fromkeys(chosen)]


def _environment(codec: Codec, given: Path | None, work: Path) -> Environment:
    if given is not None:
        return Environment(codec, given)
    if codec.is_peer:
        return Environment(codec, _installed(work / codec.name, codec.requirement, always=False))
    path = Path(codec.requirement).resolve()
    if (path / PACKAGE / "__init__.py").is_file():
        return Environment(codec, Path(sys.executable), import_root=path)
    if path.is_file():
        return Environment(codec, _installed(work / codec.name, str(path), always=True))
    raise SystemExit(f"{codec.requirement} is neither a wheel nor a folder with {PACKAGE}; peers alone: see --codecs")


def _installed(folder: Path, requirement: str, *, always: bool) -> Path:
    """The interpreter of a virtual environment that has the requirement, installed anew each time if ``always``."""
    python = folder.absolute() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    installed = folder / "requirement.txt"  # written last, so that an interrupted installation starts over
    wanted = f"{requirement} on Python {sys.version}\n"
    if not installed.is_file() or installed.read_text(encoding="utf-8") != wanted:
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
    elif not always:
        return python
    _run(
        str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", requirement
    )
    installed.write_text(wanted, encoding="utf-8")
    return python


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, stdout=sys.stderr)
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"could not set up an environment: {error}") from None
