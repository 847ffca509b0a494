"""Python blocks of the documentation pass mypy and pyright in strict mode."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support import pages
from tests.support.proposals import PROPOSALS

PARTS = ("mypy", "pyright", "pyarrow", "pyspark", "kafka_messages_spark")
SOURCES = (
    "generated/src",
    ".work/proposals/src",
    "packages/conformance/src",
    "packages/pipeline/src",
    "packages/testkit/src",
    "packages/vectors/src",
)
MYPY = """[mypy]
strict = true
python_version = 3.11
[mypy-pyarrow.*]
ignore_missing_imports = true
"""
UNTYPED = (
    "UnknownVariableType",
    "UnknownMemberType",
    "UnknownArgumentType",
    "UnknownParameterType",
    "MissingTypeStubs",
)
"""Rules of pyright's strict mode that are disabled for pyarrow and pyspark, which lack type information."""

pytestmark = pytest.mark.skipif(
    not all(map(find_spec, PARTS)), reason=f"needs {', '.join(PARTS)}; nox -s tests installs them"
)


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    PROPOSALS.write()
    folder = tmp_path_factory.mktemp("pages")
    for page in pages.pages():
        for number, program in enumerate(pages.programs(page)):
            name = page.removesuffix(".md").replace("/", "__").replace("-", "_").replace(".", "_")
            source = pages.module(page, program).removeprefix("\n")
            (folder / f"{name}_{number}.py").write_text(_header(page) + source, encoding="utf-8")
    return folder


def _header(page: str) -> str:
    rules = ["UnusedExpression"]  # an expression in an interactive session shows its value
    if any(name in pages.module(page) for name in ("pyarrow", "pyspark")):
        rules += UNTYPED
    return "# pyright: " + ", ".join(f"report{rule}=false" for rule in rules) + "\n"


def _check(*command: str, cwd: Path) -> str:
    sources = [str(pages.ROOT / source) for source in SOURCES]
    environment = os.environ | {"MYPYPATH": os.pathsep.join(sources), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    line = [sys.executable, "-m", *command]
    done = subprocess.run(line, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_python_blocks_pass_mypy(modules: Path) -> None:
    (modules / "mypy.ini").write_text(MYPY, encoding="utf-8")
    cache = pages.ROOT / ".mypy_cache" / "pages"
    names = sorted(path.name for path in modules.glob("*.py"))
    assert _check("mypy", "--config-file=mypy.ini", f"--cache-dir={cache}", *names, cwd=modules) == ""


def test_python_blocks_pass_pyright(modules: Path) -> None:
    settings = {
        "include": ["."],
        "extraPaths": [str(pages.ROOT / source) for source in SOURCES],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
    }
    (modules / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    assert _check("pyright", "--pythonpath", sys.executable, cwd=modules) == ""
