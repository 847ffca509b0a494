"""Dependencies between layers, without circular imports.

Imports inside functions and under ``TYPE_CHECKING`` count too.
"""

from __future__ import annotations

import ast
import sys
from graphlib import CycleError, TopologicalSorter
from itertools import takewhile
from pathlib import Path

import pytest

from kafka_message_generator.spec.components import COMPONENTS
from tests.support.goldens import matches_golden
from tests.support.layers import (
    CONNECTION,
    FOLDERS,
    GENERATOR,
    LAYERS,
    NAME,
    TRAVERSALS,
    imports,
    imports_by_module,
    layer_of,
    lines_by_part,
    modules_below,
    with_tables,
)
from tests.support.pages import ROOT

RUNTIME = GENERATOR / "runtime"
DISTRIBUTIONS = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
ABOVE = {
    NAME: ("kafka_protocol_",),
    "kafka_protocol_pages": ("kafka_protocol_upstream",),
    "kafka_protocol_upstream": ("kafka_protocol_pages", "tests"),
}
"""Dependents that a distribution must not import."""
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


@DISTRIBUTIONS
def test_distribution_has_no_circular_imports(folder: Path) -> None:
    try:
        TopologicalSorter(imports_by_module(folder)).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


@DISTRIBUTIONS
def test_layer_imports_no_later_layer(folder: Path) -> None:
    order = [each.name for each in LAYERS[folder.name]]
    wrong = []
    for name, targets in imports_by_module(folder).items():
        layer = layer_of(name)
        for target in targets if layer is not None else ():
            below = layer_of(target)
            if layer is not None and below is not None and order.index(below.name) > order.index(layer.name):
                wrong.append(f"{name} imports {target}")
    assert wrong == []


@DISTRIBUTIONS
def test_every_module_has_a_layer(folder: Path) -> None:
    found = {name.split(".")[1] for name in modules_below(folder) if "." in name} - {"__main__"}
    assert found == {name for each in LAYERS[folder.name] for name in each.modules or (each.name,)}


def test_every_distribution_has_layers() -> None:
    assert sorted(path.parents[1] for path in FOLDERS[1:]) == sorted(ROOT.glob("packages/*"))


def test_stages_that_import_the_runtime() -> None:
    """protocol.json describes contents of bytes fields; the schema codec encodes witnesses."""
    found = {
        layer(name)
        for name, targets in imports_by_module(GENERATOR).items()
        for target in targets
        if layer(target) == "runtime"
    }
    assert found == {"compat", "cost", "export", "runtime"}


def test_tables_of_layers_are_up_to_date() -> None:
    page = ROOT / "CONTRIBUTING.md"
    matches_golden(page, with_tables(page.read_text(encoding="utf-8")))


def test_tools_import_only_our_packages() -> None:
    folder = next(path for path in FOLDERS if path.name == "kafka_messages_tools")
    ours = {"kafka_messages", "kafka_messages_tools", "kafka_records", "shtab"}
    found = {target.partition(".")[0] for name, path in modules_below(folder).items() for target in imports(name, path)}
    assert found - sys.stdlib_module_names <= ours


@DISTRIBUTIONS
def test_distribution_does_not_import_its_dependents(folder: Path) -> None:
    wrong = [
        f"{name} imports {target}"
        for name, path in modules_below(folder).items()
        for target in imports(name, path)
        if target.startswith(ABOVE.get(folder.name, ("tests",)))
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


def test_traversals_import_no_other_modules_of_connection() -> None:
    lower = {f"{CONNECTION}{name}" for name in TRAVERSALS}
    for name in sorted(lower & imports_by_module(GENERATOR).keys()):  # `_tables` is written by the generator
        assert {target for target in imports_by_module(GENERATOR)[name] if target.startswith(CONNECTION)} <= lower, name


@DISTRIBUTIONS
def test_layer_has_a_limited_number_of_lines(folder: Path) -> None:
    assert {part: each for part, each in lines_by_part(folder).items() if each[0] > each[1]} == {}


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
    for_type_checkers = ("typing_extensions", "_typeshed")  # under TYPE_CHECKING
    ours = ("kafka_message_generator.runtime", "kafka_records", *for_type_checkers, *EXTRAS)
    wrong = [
        f"{name} imports {target}"
        for name, path in modules_below(GENERATOR).items()
        if name.startswith("kafka_message_generator.runtime.")
        for target in imports(name, path)
        if target.partition(".")[0] not in sys.stdlib_module_names and not target.startswith(ours)
    ]
    assert wrong == []


def test_records_package_imports_only_itself_and_its_extras() -> None:
    records = next(path for path in FOLDERS if path.name == "kafka_records")
    for name, path in modules_below(records).items():
        extras = {"numpy", "pyarrow"} if ".segments" in name else set()
        found = {target.partition(".")[0] for target in imports(name, path)}
        assert found <= {"kafka_records", *extras, *sys.stdlib_module_names}, name


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
