"""Layers of the distributions, their imports and sizes, and the tables of layers in CONTRIBUTING."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kafka_message_generator.spec.components import COMPONENTS
from tests.support.pages import ROOT

GENERATOR = ROOT / "generator" / "src" / "kafka_message_generator"
NAME = GENERATOR.name
CONNECTION = f"{NAME}.runtime.connection."
TRAVERSALS = ("_error_response", "_iterators", "_places", "_tables", "_traversal")
"""Modules of ``connection`` about errors, addresses and names in messages; they import no other module of it."""


@dataclass(frozen=True)
class Layer:
    """Modules and folders at the top of a package. A layer imports only itself and earlier layers."""

    name: str
    content: str = ""
    """What CONTRIBUTING says about it."""
    modules: tuple[str, ...] = ()
    """None: one module or folder with the name of the layer."""
    most: int = 2600
    """Maximum number of lines."""


def only(*names: str) -> tuple[Layer, ...]:
    return tuple(map(Layer, names))


LAYERS: dict[str, tuple[Layer, ...]] = {
    NAME: (
        *only("runtime", "files", "spec", "rules", "plan"),
        Layer("compat", most=4000),
        *only("merging", "definitions", "render", "export", "cost", "output", "cli"),
    ),
    "kafka_records": (
        Layer(
            "objects",
            "record batches as objects, compression, index files",
            (
                *("_native", "_values", "errors", "files", "format", "crc", "contents", "engines", "compression"),
                *("header", "legacy", "records", "encode", "reader", "writer", "index_files"),
            ),
        ),
        Layer("segments", "log segments as Arrow columns"),
    ),
    "kafka_messages_spark": (
        Layer("java", "search for a Java runtime for a local Spark"),
        Layer("_core", "errors, options, conversion of Arrow types to Spark's, Python settings of Spark's workers"),
        Layer("_charts", "SVG charts"),
        Layer("columns", "`from_kafka`, `to_kafka`, `decode`, and their code in the workers"),
        Layer(
            "sources",
            "the data sources `kafka_log` and `kafka_frames`, one folder each. `kafka_log`: `_log_options.py` → "
            "`_source.py` → `_logs.py` (files, byte ranges; `_isolation.py`: committed data) → `_range_reader.py` with "
            "`_batch_filter.py` (tasks); `_stream.py` → `_planner.py` → `_progress.py` for streams",
        ),
        Layer(
            "analyses",
            "functions from data frame to data frame, one module per subject; a folder where a subject has code for "
            "workers",
        ),
        Layer("state", "rows that a job keeps for its next run"),
        Layer("jobs", "commands: arguments, reports, tables", most=4000),
    ),
    "kafka_messages_tools": (
        Layer("text", "numbers, times and names as text, safe for a terminal"),
        Layer("package", "the generated package that a command uses"),
        Layer("wireshark", "the dissector for Wireshark"),
        Layer("packets", "TCP segments of packets"),
        Layer("capture", "captured traffic: streams, frames, exchanges"),
        Layer("conversation", "exchanges as text or HTML"),
        Layer("logs", "files of a broker's log directory"),
        Layer("command", "the command `kafka-messages`", most=4000),
    ),
    "kafka_messages_testkit": (
        Layer("state", "state of the mock cluster: topics, logs, groups, transactions"),
        Layer(
            "handlers",
            "requests to the mock cluster: one module per family of APIs, listed in `table.py`, each a function with "
            "the name of its API",
        ),
        Layer(
            "kit",
            "rules, recorded exchanges, the cluster and the proxy",
            (
                *("_codes", "_exchange", "_selectors", "_damage", "_rule", "_actions", "_partial", "_faults"),
                *("_capture", "_loop", "_kit", "_group", "_cluster", "_proxy"),
            ),
        ),
    ),
    "kafka_conformance": (
        Layer("case", "cases and results", ("case", "known", "result", "pipe", "pattern", "wire")),
        Layer("codec", "the mode for codecs", ("codec_case", "codec_check", "codec_run")),
        Layer(
            "broker",
            "the mode for brokers",
            ("broker_case", "cluster", "session", "cleanup", "broker_setup", "broker_steps", "broker_run"),
        ),
        Layer(
            "client",
            "the mode for clients",
            (
                *("client_case", "client_judge", "client_judge_groups", "client_judge_records", "client_log"),
                *("client_process", "client_run", "client_scripts"),
            ),
        ),
        Layer("command", "reports, and the command `kafka-conformance`", ("text", "html", "command")),
    ),
    "kafka_protocol_pages": (
        Layer(
            "message",
            "pages about one message",
            (
                *("byte_view", "fields", "inspector", "lifetimes", "message", "package", "recipes", "samples"),
                *("markdown", "prose"),
            ),
        ),
        Layer(
            "site",
            "the other pages, and the command",
            ("conversations", "examples", "indexes", "releases", "site", "cli"),
        ),
    ),
    "kafka_protocol_upstream": only("publish", "kafka", "vectors", "tasks", "cli"),
    "kafka_protocol_vectors": (),
    "kafka_messages_native": only("_absent"),
}
"""Layers of each distribution's package, lowest first."""
FOLDERS = [GENERATOR, *sorted(path for path in ROOT.glob("packages/*/src/*") if path.name in LAYERS)]
"""The package of each distribution."""


def tables() -> dict[str, str]:
    """Return the tables of CONTRIBUTING by the heading above them."""
    parts = ["| layer | content | may import |", "|---|---|---|"]
    for each in COMPONENTS.values():
        needs = ", ".join(f"`{need}`" for need in each.needs) or "\N{EN DASH}"
        parts.append(f"| `{each.name}` | {each.about} | {needs} |")
    found = {"Layers of a package": "\n".join(parts)}
    parts = ["| package | layer | content |", "|---|---|---|"]
    for package, layers in LAYERS.items():
        parts += [f"| `{package}` | `{each.name}` | {each.content} |" for each in layers if each.content]
    return found | {"Layers of other distributions": "\n".join(parts)}


def with_tables(page: str) -> str:
    """Return a page with the tables as they should be."""
    for heading, table in tables().items():
        pattern = rf"(?ms)(^## {heading}$.*?\n\n)\|.*?\n\n"
        assert re.search(pattern, page), heading
        page = re.sub(pattern, lambda found: f"{found[1]}{table}\n\n", page, count=1)  # noqa: B023
    return page


def modules_below(folder: Path) -> dict[str, Path]:
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path) -> Iterator[str]:
    """Yield the full names imported by a module: ``from a import b`` yields ``a.b``."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@cache
def imports_by_module(folder: Path) -> Mapping[str, frozenset[str]]:
    """Return the imports of each module below a folder, limited to modules of that folder."""
    modules = modules_below(folder)
    found = {}
    for name, path in modules.items():
        # ``from .schema import types`` imports a module, ``from .schema import Schema`` a package.
        targets = (each if each in modules else each.rpartition(".")[0] for each in imports(name, path))
        found[name] = frozenset(each for each in targets if each in modules and each != name)
    return found


def layer_of(module: str) -> Layer | None:
    """Return the layer of a module; None for the package itself and its ``__main__``. Raises KeyError for others."""
    package, _, inner = module.partition(".")
    first = inner.partition(".")[0]
    by_module = {name: each for each in LAYERS[package] for name in each.modules or (each.name,)}
    return None if first in ("", "__main__") else by_module[first]


def lines_by_part(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the lines and their maximum of each layer; the runtime's components and the pipeline's folders count alone."""
    found: dict[str, tuple[int, int]] = {}
    for name, path in modules_below(folder).items():
        if (layer := layer_of(name)) is None:
            continue
        part, inner = layer.name, name.split(".")[1:]
        if layer.name == "runtime":
            part = "runtime.connection traversals" if inner[-1] in TRAVERSALS else ".".join(inner[:2])
        elif folder.name == "kafka_messages_spark":
            part = ".".join(inner if path.name == "__init__.py" else inner[:-1]) or layer.name
        before = found.get(part, (0, 0))[0]
        found[part] = before + len(path.read_text(encoding="utf-8").splitlines()), layer.most
    return found
