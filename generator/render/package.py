"""The whole package as a set of files: path to text, formatted, with its manifest."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import keyword
import re
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import black
from black.mode import TargetVersion
from black.parsing import InvalidInput

from generator.definitions import Definitions, files_of
from generator.plan.model import MessagePlan
from generator.render import prose, tables
from generator.render.environment import ENVIRONMENT, TEMPLATES
from generator.render.portable import message as portable
from generator.spec.companions import NAMES

RUNTIME = Path(__file__).parents[1] / "runtime"
MODE = black.Mode(line_length=120, target_versions={TargetVersion.PY311})
TOOLS = ("black", "jinja2")
MANIFEST = "MANIFEST"
PRINTED = ("__init__.py", "protocol/_tables.py", "records/_tables.py")
"""Modules that are printed from all definitions together."""


class RequestError(ValueError):
    """What was asked for cannot be done; the text says why."""


@dataclass(frozen=True)
class Request:
    """What to generate: definitions, the import name of the package, and where it will be written."""

    specs: Path
    output: Path
    package: str = "kafka_messages"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.package):
            raise RequestError(f"package name {self.package!r} must be lower case letters, digits and underscores")
        if keyword.iskeyword(self.package):
            raise RequestError(f"package name {self.package!r} is a keyword of Python; nobody could import it")
        if self.package in sys.stdlib_module_names:
            raise RequestError(f"package name {self.package!r} is a module of Python itself; choose another")


def inputs_hash(request: Request) -> str:
    """One hash of everything the output depends on: definitions, generator, tools, package name."""
    digest = hashlib.sha256(request.package.encode())
    for tool in TOOLS:
        digest.update(f"\0{tool} {importlib.metadata.version(tool)}".encode())
    generator = Path(__file__).parents[1]
    ours = sorted([*generator.rglob("*.py"), *TEMPLATES.rglob("*.jinja")])
    theirs = [*files_of(request.specs), *(p for name in NAMES if (p := request.specs / name).exists())]
    for root, paths in ((generator, ours), (request.specs, theirs)):
        for path in paths:
            digest.update(b"\0" + path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def render(request: Request, definitions: Definitions) -> dict[str, str]:
    """Every file of the package but its manifest, by path relative to the output folder."""
    root = f"src/{request.package}"
    printed = {f"{root}/messages/{plan.module}.py": portable.render(plan) for plan in definitions.plans}
    printed |= {f"{root}/{name}": _template(name, request, definitions) for name in PRINTED}
    printed[f"{root}/messages/__init__.py"] = prose.header("the definitions") + '"""One module for each message."""\n'
    files = _formatted(printed)
    for path in sorted(RUNTIME.rglob("*.py")):
        name = path.relative_to(RUNTIME).as_posix()
        if name != "__init__.py":
            text = path.read_text(encoding="utf-8")
            files[f"{root}/{name}"] = prose.header(f"generator/runtime/{name}") + text
    files[f"{root}/py.typed"] = ""
    for name in ("pyproject.toml", "README.md"):
        files[name] = _template(name, request, definitions)
    return files | definitions.licenses


def manifest(request: Request, files: dict[str, str]) -> str:
    """JSON: the hash of the inputs, the tools, and the hash of each file."""
    hashes = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in sorted(files.items())}
    tools = {tool: importlib.metadata.version(tool) for tool in TOOLS}
    return json.dumps({"inputs": inputs_hash(request), "tools": tools, "files": hashes}, indent=1) + "\n"


def _template(name: str, request: Request, definitions: Definitions) -> str:
    template = ENVIRONMENT.get_template(f"{name}.jinja")
    plans = sorted(definitions.plans, key=lambda plan: plan.name)
    return template.render(
        header=prose.header("the definitions"),
        package=request.package,
        distribution=request.package.replace("_", "-"),
        release=definitions.release,
        version=definitions.release or "0.1.0",
        licenses=list(definitions.licenses),
        sample=_sample(request, definitions, plans),
        plans=plans,
        apis=tables.apis(definitions),
        record_types=tables.record_types(definitions),
        error_codes=definitions.error_codes,
    )


def _sample(request: Request, definitions: Definitions, plans: Sequence[MessagePlan]) -> str:
    """What the README shows: the sample beside the definitions, else that a message is read as it was written."""
    own = definitions.sample
    if own is not None and request.package in own.packages:
        return own.text
    if not plans:
        return ""
    name, version = plans[0].name, plans[0].valid.highest
    lines = (
        f"from {request.package} import {name}\n",
        f"message = {name}()",
        f"data = message.write({version})",
        f"assert {name}.read(data, {version}) == message",
        f"assert message.size({version}) == len(data)",
    )
    return "\n".join(lines) + "\n"


def _formatted(files: dict[str, str]) -> dict[str, str]:
    names = list(files)
    with ProcessPoolExecutor() as pool:
        texts: Iterable[str] = pool.map(_format, names, files.values(), chunksize=4)
        return dict(zip(names, texts, strict=True))


def _format(name: str, text: str) -> str:
    try:
        return black.format_str(text, mode=MODE)
    except InvalidInput as error:
        raise RuntimeError(f"the generator printed {name} wrongly: {error}") from error
