"""The recipes for continuous integration and the examples of levels in docs/compat.md."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator
from sarif_pydantic import Sarif

from kafka_message_generator.compat.findings import LEVELS
from kafka_protocol_upstream.publish.doc_blocks import blocks
from tests.support.building import build_message
from tests.support.compat_command import CHANGED, RELEASED, run
from tests.support.pages import ROOT, text

PAGE = "docs/compat.md"
GITHUB, GITLAB = (yaml.safe_load(block.text) for block in blocks(PAGE) if block.language == "yaml")
COMMANDS = {
    "GitHub": [step["run"] for step in GITHUB["jobs"]["compat"]["steps"] if "run" in step],
    "GitLab": GITLAB["compat"]["script"],
}
BRANCHES = {"GITHUB_BASE_REF": "main", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone on a new branch from ``main`` of its origin."""
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")
    origin = tmp_path / "origin"
    (origin / "definitions").mkdir(parents=True)
    (origin / "definitions" / "OrderRecord.json").write_text(RELEASED)
    (origin / "waivers.toml").touch()
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "One"]):
        subprocess.run([git, *words], cwd=origin, check=True)
    subprocess.run([git, "clone", "-q", str(origin), str(tmp_path / "clone")], check=True)
    return tmp_path / "clone"


def ran(clone: Path, recipe: str) -> int:
    """Run the commands of a recipe, except the installation, and return the exit status of the first that fails."""
    program = clone.parent / "bin" / "kafka-message-generator"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m kafka_message_generator "$@"\n')
    program.chmod(0o755)
    paths = [str(ROOT / "generator" / "src"), *sys.path]
    environment = {**os.environ, **BRANCHES, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    install, *commands = COMMANDS[recipe]
    assert install == 'pip install "git+URL#subdirectory=generator"'
    for command in commands:
        done = subprocess.run(["bash", "-ec", command], cwd=clone, env=environment, check=False)
        if done.returncode:
            return done.returncode
    return 0


def results(clone: Path, schema: Draft7Validator) -> list[dict[str, Any]]:
    printed = (clone / "compat.sarif").read_text()
    Sarif.model_validate_json(printed)
    assert [error.message for error in schema.iter_errors(json.loads(printed))] == []
    (found,) = json.loads(printed)["runs"]
    return list(found["results"])


@pytest.mark.parametrize("recipe", COMMANDS)
def test_recipe_fails_for_a_change_of_a_released_version(recipe: str, clone: Path, schema: Draft7Validator) -> None:
    assert ran(clone, recipe) == 0
    assert results(clone, schema) == []
    (clone / "definitions" / "OrderRecord.json").write_text(CHANGED)
    assert ran(clone, recipe) == 1
    (result,) = results(clone, schema)
    place = result["locations"][0]["physicalLocation"]
    assert (result["ruleId"], place["artifactLocation"]["uri"], place["region"]) == (
        "RELEASED_LAYOUT_CHANGED",
        "definitions/OrderRecord.json",
        {"startLine": 8},
    )
    if recipe == "GitLab":
        (found,) = json.loads((clone / "compat.json").read_text())
        assert found["location"] == {"path": "definitions/OrderRecord.json", "lines": {"begin": 8}}


@pytest.mark.parametrize("recipe", COMMANDS)
def test_recipe_fails_if_nothing_is_compared(recipe: str, clone: Path) -> None:
    (clone / "definitions" / "OrderRecord.json").write_text("{")
    assert ran(clone, recipe) == 3


def test_recipe_uploads_the_report_that_it_writes() -> None:
    upload = GITHUB["jobs"]["compat"]["steps"][-1]
    assert (upload["if"], upload["with"]) == ("success() || failure()", {"sarif_file": "compat.sarif"})
    artifacts = {"when": "always", "paths": ["compat.sarif"], "reports": {"codequality": "compat.json"}}
    assert GITLAB["compat"]["artifacts"] == artifacts


EXAMPLE = next(block.text for block in blocks(PAGE) if "PriceRecord" in block.text)
CODE = r"`([^`]+)`"
ROWS = re.findall(rf"^\| {CODE} \| {CODE} → {CODE} \| {CODE} \| (?:{CODE}|none) \|", text(PAGE), re.MULTILINE)


def test_every_level_has_an_example() -> None:
    assert [row[0] for row in ROWS] == list(LEVELS)


@pytest.mark.parametrize(("level", "before", "after", "old", "new"), ROWS)
def test_example_of_a_level_has_this_level_and_these_bytes(
    level: str, before: str, after: str, old: str, new: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = EXAMPLE.replace(before, after)
    folders = []
    for name, definition in (("old", EXAMPLE), ("new", changed)):
        folders.append(f"--{name}={tmp_path / name}")
        (tmp_path / name).mkdir()
        (tmp_path / name / "Record.json").write_text(definition)
    assert run(*folders, "--level", level, "--format", "json") == (level != "advice")
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert LEVELS[min(LEVELS.index(each["level"]) for each in findings)] == level
    if level not in (LEVELS[0], "advice"):
        assert run(*folders, "--level", LEVELS[LEVELS.index(level) - 1]) == 0
    assert build_message(tmp_path, json.loads(EXAMPLE))().write(0).hex(" ") == old
    if new:
        message = build_message(tmp_path, json.loads(changed))
        assert message(**({"cents": 5} if level == "advice" else {})).write(0).hex(" ") == new
