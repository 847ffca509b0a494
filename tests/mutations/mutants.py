"""Choice of mutants by a seed, and their runs, with cosmic-ray."""

from __future__ import annotations

import ast
import os
import random
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest import mock

from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_and_test, mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkItem, WorkResult

from tests.mutations.copy import COPY, ENVIRONMENT, GENERATED, PARTS, RUNTIME, WORK
from tests.mutations.coverage import Tests

# Seconds after which the tests of a mutant count as timed out.
TIMEOUT = 120
# Maximum number of tests per mutant: first one of each test function, then further parameters.
MOST_TESTS = 200


@contextmanager
def session(path: Path) -> Iterator[WorkDB]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with use_db(path) as found:
        yield found


def part_of(item: WorkItem) -> str:
    name = place(item)[0]
    return next(part for part, (folder, _) in PARTS.items() if name.startswith(f"{folder}/"))


def place(item: WorkItem) -> tuple[str, int]:
    """Return the file, relative to the checkout, and the line of a mutant."""
    mutation = item.mutations[0]
    return mutation.module_path.relative_to(COPY).as_posix(), mutation.start_pos[0]


def choose(part: str, tests: Tests, seed: int, session: WorkDB) -> WorkItem | None:
    """Return the next mutant of the part; each place of a module has the same chance, whatever its operators."""
    known = {_key(item) for item in session.work_items}
    chance = random.Random(f"{seed} {part}")
    modules = sorted((COPY / PARTS[part][0]).rglob("*.py"))
    sizes = [len(module.read_bytes()) for module in modules]
    for _ in range(5000):
        (module,) = chance.choices(modules, sizes)
        places = mutants_of(module)
        item = chance.choice(places[chance.choice(sorted(places))]) if places else None
        if item is not None and _key(item) not in known and tests_of(item, tests):
            return item
    return None


def _key(item: WorkItem) -> tuple[str, str, int]:
    mutation = item.mutations[0]
    return str(mutation.module_path), mutation.operator_name, mutation.occurrence


@cache
def mutants_of(module: Path) -> dict[tuple[int, int], list[WorkItem]]:
    """Return the mutants of a module by position, without those of annotations, which are not evaluated."""
    ignored = {place for node in _unevaluated(ast.parse(module.read_bytes())) for place in _positions(node)}
    found: dict[tuple[int, int], list[WorkItem]] = {}
    with use_db(WORK / "module.sqlite") as scratch:
        init([module], scratch, {})
        for item in sorted(scratch.work_items, key=_key):
            start = item.mutations[0].start_pos
            if start[0] not in ignored and start not in ignored:
                found.setdefault(start, []).append(item)
    return found


def _unevaluated(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        yield from (each for each in (getattr(node, "annotation", None), getattr(node, "returns", None)) if each)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from node.body


def _positions(node: ast.AST) -> Iterator[int | tuple[int, int]]:
    """Yield the lines of a statement, and the positions of an expression."""
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    if isinstance(node, ast.stmt):
        yield from range(first, last + 1)
    elif first == last:
        columns = range(getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0))
        yield from ((first, column) for column in columns)


def tests_of(item: WorkItem, tests: Tests) -> list[str]:
    """Return the tests that run the line, or those of its file if it runs at import or in another process."""
    name, line = place(item)
    if name.startswith(RUNTIME):
        name, line = name.replace(RUNTIME, GENERATED), line + 1  # below the line that names the source
    lines = tests.get(name, {})
    found = lines.get(line) or sorted({test for each in lines.values() for test in each})
    found = random.Random(item.mutations[0].occurrence).sample(found, len(found))
    counts: Counter[str] = Counter()
    ranks = {}
    for test in found:
        counts[test.partition("[")[0]] += 1
        ranks[test] = counts[test.partition("[")[0]]
    return sorted(found, key=lambda test: ranks[test])[:MOST_TESTS]


def run(item: WorkItem, tests: Tests) -> WorkResult:
    """Apply a mutant to the copy, run its tests there, and undo it; a mutant of the runtime is generated code as well."""
    names = WORK / "tests.txt"
    names.write_text("\n".join(tests_of(item, tests)) + "\n", encoding="utf-8")
    words = ["env", "-C", str(COPY), sys.executable, "-m", "pytest", "-xq", "-p", "no:cacheprovider", f"@{names}"]
    with mock.patch.dict(os.environ, ENVIRONMENT), _generated_too(item):
        return mutate_and_test(item.mutations, shlex.join(words), TIMEOUT)


@contextmanager
def _generated_too(item: WorkItem) -> Iterator[None]:
    """Apply a mutant of the runtime to the copy of its module in the generated package."""
    module, _ = place(item)
    twin, mutation = COPY / module.replace(RUNTIME, GENERATED), item.mutations[0]
    if not module.startswith(RUNTIME) or not twin.exists():
        yield
        return
    header, before = twin.read_text(encoding="utf-8").split("\n", 1)
    operator = get_operator(mutation.operator_name)(**mutation.operator_args)
    twin.write_text(f"{header}\n{mutate_code(before, operator, mutation.occurrence)}", encoding="utf-8")
    try:
        yield
    finally:
        twin.write_text(f"{header}\n{before}", encoding="utf-8")
