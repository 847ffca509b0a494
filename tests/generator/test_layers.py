"""Dependencies between layers, without circular imports.

Imports inside functions and under ``TYPE_CHECKING`` count too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import takewhile
from pathlib import Path

import pytest

import kafka_message_generator
from kafka_message_generator.spec.components import COMPONENTS
from tests.support.pages import ROOT

GENERATOR = Path(kafka_message_generator.__file__).parent
NAME = kafka_message_generator.__name__
RUNTIME = GENERATOR / "runtime"
PIPELINE = ROOT / "packages" / "pipeline" / "src" / "kafka_messages_spark"
TOOLS = ROOT / "packages" / "tools" / "src" / "kafka_messages_tools"
RECORDS = ROOT / "packages" / "records" / "src" / "kafka_records"
STAGES = (
    *("files", "spec", "rules", "plan", "compat", "merging", "definitions"),
    *("render", "export", "cost", "output", "cli"),
)
"""Stages of the generator; each may import itself and earlier ones."""
PIPELINE_LAYERS = ("java", "_core", "_charts", "columns", "sources", "analyses", "state", "jobs")
"""Layers of the pipeline; each may import itself and earlier ones."""
PAGES = ROOT / "packages" / "pages" / "src" / "kafka_protocol_pages"
UPSTREAM = ROOT / "packages" / "upstream" / "src" / "kafka_protocol_upstream"
TASKS = ("publish", "kafka", "vectors", "tasks", "cli")
"""Modules of the maintainers' tasks; each may import itself and earlier ones."""
TOOL_LAYERS = ("text", "package", "wireshark", "packets", "capture", "conversation", "logs", "command")
"""Layers of the tools; each may import itself and earlier ones."""
DISTRIBUTIONS = pytest.mark.parametrize(
    "folder", [GENERATOR, RECORDS, PIPELINE, TOOLS, PAGES, UPSTREAM], ids=lambda folder: folder.name
)
CONNECTION = "kafka_message_generator.runtime.connection."
TRAVERSALS = ("_error_response", "_iterators", "_places", "_tables", "_traversal")
"""Modules of ``connection`` about errors, addresses and names in messages; they import no other module of it."""
MESSAGE_PAGES = ("byte_view", "fields", "frames", "inspector", "lifetimes", "message", "package", "recipes", "samples")
"""Modules of the pages about one message; they import no other module of the pages."""
# Layers of up to 4,000 lines.
WIDE_LAYERS = {"kafka_message_generator.compat", "kafka_messages_tools.command", "kafka_messages_spark.jobs"}
EXTRAS = ("pyarrow", "hypothesis")
"""Third-party dependencies of package components."""
QUICK = ("generator", "generated")
"""Test folders of ``nox -s quick``."""
SHARED_CLASS_NAMES = {
    # Required by Spark in each module of a data source.
    "DefaultSource",
    # Protocols for the class of a generated package that the pages do not import.
    "Explanation",
    "Span",
    # A generated package, as the pages and the tools load it.
    "Package",
    # Of a definition (``spec``) and of its runtime counterpart, which must not import the generator.
    "Field",
    "Message",
    "Struct",
    "Versions",
    # Public names of the test kit. An exchange is one of a capture, too; a rule of findings is another thing.
    "Exchange",
    "Rule",
}
"""Names of classes in several modules."""
NOT_QUICK = {"numpy", "pandas", "pyarrow", "pyspark", "mypy"}
# Third-party packages that ``nox -s quick`` does not install.


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


@DISTRIBUTIONS
def test_distribution_has_no_circular_imports(folder: Path) -> None:
    try:
        TopologicalSorter(imports_by_module(folder)).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


@pytest.mark.parametrize("stage", STAGES[:-1])
def test_stage_imports_no_later_stage(stage: str) -> None:
    allowed = STAGES[: STAGES.index(stage) + 1]
    # protocol.json describes contents of bytes fields; the schema codec encodes witnesses.
    allowed += ("runtime",) if stage in ("export", "compat", "cost") else ()
    wrong = [
        f"{name} imports {target}"
        for name, targets in imports_by_module(GENERATOR).items()
        for target in targets
        if layer(name) == stage and layer(target) not in (*allowed, NAME)
    ]
    assert wrong == []


def test_tools_layer_imports_no_later_layer() -> None:
    wrong = [
        f"{name} imports {target}"
        for name, targets in imports_by_module(TOOLS).items()
        for target in targets
        if layer(name) != "__main__" and layer(target) not in TOOL_LAYERS[: TOOL_LAYERS.index(layer(name)) + 1]
    ]
    assert wrong == []
    others = {"kafka_messages", "kafka_messages_tools", "kafka_records", "shtab"}
    foreign = {
        target.partition(".")[0] for name, path in modules_below(TOOLS).items() for target in imports(name, path)
    }
    assert foreign - sys.stdlib_module_names <= others


@pytest.mark.parametrize(
    ("folder", "layers"), [(PIPELINE, PIPELINE_LAYERS), (UPSTREAM, TASKS)], ids=["pipeline", "upstream"]
)
def test_layer_imports_no_later_layer(folder: Path, layers: tuple[str, ...]) -> None:
    wrong = [
        f"{name} imports {target}"
        for name, targets in imports_by_module(folder).items()
        for target in targets
        if "." in name and layer(name) != "__main__" and layer(target) not in layers[: layers.index(layer(name)) + 1]
    ]
    assert wrong == []
    found = {path.name.removesuffix(".py") for path in folder.iterdir() if path.name[:2] != "__"}
    assert found == {*layers, "py.typed"}


@pytest.mark.parametrize("folder", [GENERATOR, PAGES, UPSTREAM], ids=lambda folder: folder.name)
def test_distribution_does_not_import_its_dependents(folder: Path) -> None:
    above = {GENERATOR: ("kafka_protocol_",), PAGES: (UPSTREAM.name,), UPSTREAM: (PAGES.name, "tests")}[folder]
    wrong = [
        f"{name} imports {target}"
        for name, path in modules_below(folder).items()
        for target in imports(name, path)
        if target.startswith(above)
    ]
    assert wrong == []


@DISTRIBUTIONS
def test_distribution_has_no_duplicate_functions(folder: Path) -> None:
    first: dict[str, str] = {}
    twice = []
    for name, path in modules_below(folder).items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                place = f"{name}.{node.name}"
                if len(body) > 1 and (other := first.setdefault(shape(node, body), place)) != place:
                    twice.append(f"{place} is {other}")
    assert twice == []


def test_copies_of_a_function_are_equal() -> None:
    """The generator and ``kafka_records``, which cannot import each other, have copies of ``replace_file``."""
    names = ("generator/src/kafka_message_generator/files.py", "packages/records/src/kafka_records/files.py")
    paths = [ROOT / name for name in names]
    assert len({path.read_text(encoding="utf-8") for path in paths}) == 1
    found = [path for path in ROOT.glob("*/**/src/**/*.py") if "def replace_file(" in path.read_text(encoding="utf-8")]
    assert sorted(found) == sorted(paths)


def test_class_name_has_one_meaning() -> None:
    places: dict[str, set[str]] = {}
    for folder in [ROOT / "generator" / "src", *sorted(ROOT.glob("packages/*/src"))]:
        for path in modules_below(folder).values():
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name.lstrip("_"), set()).add(path.relative_to(ROOT).as_posix())
    repeated = {name: sorted(found) for name, found in places.items() if len(found) > 1}
    assert {name: found for name, found in repeated.items() if name not in SHARED_CLASS_NAMES} == {}
    assert repeated.keys() == SHARED_CLASS_NAMES


def test_lower_modules_of_a_folder_import_no_others() -> None:
    for folder, prefix, names in (
        (GENERATOR, CONNECTION, TRAVERSALS),
        (PAGES, f"{PAGES.name}.", MESSAGE_PAGES),
    ):
        lower = {f"{prefix}{name}" for name in names}
        for name in sorted(lower & imports_by_module(folder).keys()):
            assert {target for target in imports_by_module(folder)[name] if target.startswith(prefix)} <= lower, name


def layer_with_lines(module: str) -> str:
    """Return the layer that counts a module's lines: a folder, without the folders in it, or part of a large folder."""
    first, *inner = module.split(".")
    if first == PAGES.name:
        return f"{first} of messages" if inner[:1] and inner[0] in MESSAGE_PAGES else first
    if module.startswith(CONNECTION) and inner[-1] in TRAVERSALS:
        return f"{CONNECTION}traversals"
    if first == PIPELINE.name:
        return ".".join([first, *inner[:-1]])
    return ".".join([first, *inner[: 2 if inner[:1] == ["runtime"] else 1]])


def test_layer_has_at_most_2600_lines() -> None:
    lines: dict[str, int] = {}
    for folder in (GENERATOR, RECORDS, PIPELINE, TOOLS, PAGES, UPSTREAM):
        for name, path in modules_below(folder).items():
            where = layer_with_lines(f"{name}.__init__" if path.name == "__init__.py" else name)
            lines[where] = lines.get(where, 0) + len(path.read_text(encoding="utf-8").splitlines())
    too_long = {each: count for each, count in lines.items() if count > (4000 if each in WIDE_LAYERS else 2600)}
    assert too_long == {}


def shape(function: ast.FunctionDef, body: list[ast.stmt]) -> str:
    """Return the syntax tree of a function with normalized names."""
    nodes = list(ast.walk(function))
    own = [node.arg for node in nodes if isinstance(node, ast.arg)]
    own += [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    numbers = {name: f"_{number}" for number, name in enumerate(dict.fromkeys(own))}
    for node in nodes:
        if isinstance(node, ast.Name):
            node.id = numbers.get(node.id, node.id)
    return "\n".join(map(ast.dump, body))


def layer(module: str) -> str:
    """Return the layer of a module: ``plan`` for ``kafka_message_generator.plan.model``."""
    return module.split(".")[1] if "." in module else module


def component_of(module: str) -> str:
    """Return the component of a runtime module: ``schema`` for ``kafka_message_generator.runtime.schema.types``."""
    return module.split(".")[2]


def test_components_import_exactly_their_dependencies() -> None:
    found = {
        (component_of(name), component_of(target))
        for name, targets in imports_by_module(GENERATOR).items()
        for target in targets
        if layer(name) == "runtime" != name.rpartition(".")[2] and component_of(name) != component_of(target)
    }
    assert found == {(each.name, need) for each in COMPONENTS.values() for need in each.needs}


def test_components_depend_only_on_earlier_components() -> None:
    before: set[str] = set()
    for each in COMPONENTS.values():
        assert before.issuperset(each.needs), each.name
        before.add(each.name)
    assert {path.name.removesuffix(".py") for path in RUNTIME.iterdir() if path.name[:2] != "__"} == before


@DISTRIBUTIONS
def test_every_module_has_a_docstring(folder: Path) -> None:
    for inner in {path.parent for path in folder.rglob("*.py")}:
        assert (inner / "__init__.py").is_file(), inner
    for path in sorted(folder.rglob("*.py")):
        first = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]
        assert first.endswith((".", ":", "?")), path


def test_runtime_imports_only_itself_and_the_standard_library() -> None:
    ours = ("kafka_message_generator.runtime", "typing_extensions", "kafka_records", *EXTRAS)
    wrong = [
        f"{name} imports {target}"
        for name, path in modules_below(GENERATOR).items()
        if name.startswith("kafka_message_generator.runtime.")
        for target in imports(name, path)
        if target.partition(".")[0] not in sys.stdlib_module_names and not target.startswith(ours)
    ]
    assert wrong == []


def test_records_package_imports_only_itself_and_its_extras() -> None:
    for name, path in modules_below(RECORDS).items():
        extras = {"numpy", "pyarrow"} if ".segments" in name else set()
        found = {target.partition(".")[0] for target in imports(name, path)}
        assert found <= {"kafka_records", *extras, *sys.stdlib_module_names}, name
    lower = {name: targets for name, targets in imports_by_module(RECORDS).items() if ".segments" not in name}
    assert not [name for name, targets in lower.items() if any(".segments" in target for target in targets)]


@pytest.mark.parametrize("distribution", EXTRAS)
def test_extra_is_imported_only_by_its_components(distribution: str) -> None:
    users = {
        component_of(name)
        for name, path in modules_below(GENERATOR).items()
        for target in imports(name, path)
        if name.startswith("kafka_message_generator.runtime.") and target.partition(".")[0] == distribution
    }
    bring = {each.name for each in COMPONENTS.values() if any(need.startswith(distribution) for need in each.extra)}
    assert users == bring


@pytest.mark.parametrize("folder", QUICK)
def test_quick_tests_are_collected_without_extras(folder: str) -> None:
    for path in sorted((ROOT / "tests" / folder).rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for node in takewhile(lambda node: "importorskip('pyarrow'" not in ast.unparse(node), body):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not NOT_QUICK & {name.partition(".")[0] for name in names}, path
