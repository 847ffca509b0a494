"""Codecs with their virtual environments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORKER = HERE / "peer_worker.py"
PACKAGE = "kafka_messages"
OURS = "kafka-messages"
NATIVE = "kafka-messages-native"
# Environment variable that selects our pure code.
SWITCH = "KAFKA_MESSAGES_NATIVE"


@dataclass(frozen=True)
class Codec:
    """Codec to measure; ``requirement`` is a requirement for pip or, for our package, an import root."""

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
    codec: Codec
    python: Path
    import_root: Path | None = None

    def variables(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        switch = {SWITCH: "1" if self.codec.name == NATIVE else "0"}
        return clean | switch | ({"PYTHONPATH": str(self.import_root)} if self.import_root else {})

    def worker(self) -> tuple[str, list[str], dict[str, str]]:
        return self.codec.name, [str(self.python), str(WORKER), self.codec.adapter], self.variables()


def add_arguments(parser: ArgumentParser) -> None:
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
        "--native",
        type=Path,
        default=HERE.parent / "packages" / "native",
        metavar="PATH",
        help="the core for kafka-messages-native: a wheel, or sources to compile (default: packages/native)",
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
        help="use the environment of this interpreter, in which the codec is installed",
    )


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def interpreter(text: str) -> tuple[str, Path]:
    """Parse ``NAME=EXECUTABLE`` without resolving links, which would leave the virtual environment."""
    name, _, path = text.partition("=")
    if not Path(path).is_file():
        raise ArgumentTypeError(f"{text!r} is not NAME=EXECUTABLE with an existing executable")
    return name, Path(path).absolute()


def prepare(arguments: Namespace) -> list[Environment]:
    ours = Codec(OURS, "adapter_kafka_messages", arguments.package, is_peer=False)
    native = Codec(NATIVE, "adapter_kafka_messages_native", arguments.package, is_peer=False)
    codecs = {codec.name: codec for codec in (native, ours, *PEERS)}
    chosen = arguments.codecs or list(codecs)
    given: Mapping[str, Path] = dict(arguments.python)
    if unknown := [name for name in (*chosen, *given) if name not in codecs]:
        raise SystemExit(f"unknown codec {', '.join(unknown)}; there are {', '.join(codecs)}")
    return [
        _environment(codecs[name], given.get(name), arguments.work, arguments.native) for name in dict.fromkeys(chosen)
    ]


def _environment(codec: Codec, given: Path | None, work: Path, native: Path) -> Environment:
    if given is not None:
        return Environment(codec, given)
    if codec.is_peer:
        return Environment(codec, installed(work / codec.name, codec.requirement))
    path = Path(codec.requirement).resolve()
    is_import_root = (path / PACKAGE / "__init__.py").is_file()
    if not is_import_root and not path.is_file():
        raise SystemExit(
            f"{codec.requirement} is neither a wheel nor a folder with {PACKAGE}; peers alone: see --codecs"
        )
    requirements = [] if is_import_root else [str(path)]
    if codec.name == NATIVE:
        requirements.append(str(_core(native, work)))
    python = installed(work / codec.name, *requirements) if requirements else Path(sys.executable)
    return Environment(codec, python, import_root=path if is_import_root else None)


def _core(native: Path, work: Path) -> Path:
    # A wheel is used as is; sources are copied so that the build leaves them clean.
    if native.is_file():
        return native.resolve()
    if not (native / "pyproject.toml").is_file():
        raise SystemExit(f"{native} is neither a wheel nor a folder with the sources of {NATIVE}")
    _require_compiler()
    copy = work.absolute() / f"{NATIVE}-sources"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(native, copy, ignore=shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", "*.so"))
    return copy


def _require_compiler() -> None:
    # Fail before pip does, with a clearer message.
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "").split()
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    missing = [f"the C compiler {compiler[0]} is not there"] if compiler and not shutil.which(compiler[0]) else []
    missing += [] if headers.is_file() else [f"Python's headers are not there ({headers})"]
    if missing:
        others = ",".join(name for name in (OURS, *(peer.name for peer in PEERS)))
        raise SystemExit(
            f"{NATIVE} has to be compiled, but {' and '.join(missing)}; install that, or measure without it:"
            f" --codecs {others}"
        )


def installed(folder: Path, *requirements: str) -> Path:
    """Return the interpreter of a virtual environment, recreated when its requirements change."""
    python = folder.absolute() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    installed = folder / "requirement.txt"  # written last, so that an interrupted installation starts over
    wanted = f"{' '.join(map(_identity, requirements))} on Python {sys.version}\n"
    if not installed.is_file() or installed.read_text(encoding="utf-8") != wanted:
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        _run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements)
        installed.write_text(wanted, encoding="utf-8")
    return python


def _identity(requirement: str) -> str:
    # A local requirement includes a hash of its content.
    path = Path(requirement)
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    if not path.exists():
        return requirement
    contents = sha256()
    for file in files:
        contents.update(f"{file.relative_to(path)}\n".encode() + file.read_bytes())
    return f"{requirement} {contents.hexdigest()}"


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, stdout=sys.stderr)
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"could not set up an environment: {error}") from None
