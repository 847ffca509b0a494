"""Waivers of the command ``compat``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.compat_command import CHANGED, RELEASED, printed, run

WAIVER = """[[waiver]]
rule = "{rule}"
message = "{message}"
path = "{path}"
before = "{before}"
after = "{after}"
versions = {versions}
reason = "agreed in review"
"""


def test_waiver_does_not_apply_to_a_different_change(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = folders
    finding = json.loads(printed(folders, capsys, "json"))["findings"][0]
    waivers = Path(new, "waivers.toml")
    waivers.write_text(WAIVER.format(**finding))
    assert run("--old", old, "--new", new, "--waivers", str(waivers)) == 0
    capsys.readouterr()
    Path(new, "OrderRecord.json").write_text(RELEASED.replace("int32", "int16"))
    assert run("--old", old, "--new", new, "--waivers", str(waivers)) == 3
    unused = f"{waivers}: waiver 1: the finding has changed; update or remove the waiver: "
    unused += "RELEASED_LAYOUT_CHANGED OrderRecord 0 Id"
    assert capsys.readouterr().err == f"{unused}\nnothing was compared\n"


def test_waiver_without_a_matching_difference_is_a_warning(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = folders
    waivers = Path(new, "waivers.toml")
    waivers.write_text(WAIVER.format(**json.loads(printed(folders, capsys, "json"))["findings"][0]))
    what = f"no such difference from {old}; remove or correct it: RELEASED_LAYOUT_CHANGED OrderRecord 0 Id"
    warning = f"{waivers}: warning: waiver 1: {what}\n"
    Path(old, "OrderRecord.json").write_text(CHANGED)
    assert run("--old", old, "--new", new, "--waivers", str(waivers)) == 0
    assert capsys.readouterr().err == warning
    Path(new, "OrderRecord.json").write_text(CHANGED.replace('"Id"', '"Key"'))
    assert run("--old", old, "--new", new, "--waivers", str(waivers)) == 1
    shown = capsys.readouterr()
    assert "FIELD_RENAMED" in shown.out
    assert shown.err == warning
    Path(new, "OrderRecord.json").write_text(CHANGED.replace("int64", "int16"))
    assert run("--old", old, "--new", new, "--waivers", str(waivers)) == 1
    shown = capsys.readouterr()
    assert "RELEASED_LAYOUT_CHANGED" in shown.out
    assert shown.err == warning


def test_waiver_does_not_cover_additional_versions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = RELEASED.replace("metadata", "request").replace("Record", "Request").replace('"0"', '"0-3"')
    request = request.replace('"fields"', '"listeners": ["broker"],\n  "fields"')
    response = (
        request.replace("request", "response").replace("Request", "Response").replace('"listeners": ["broker"],', "")
    )
    for first in ("3+", "2+", "0+"):
        folder = tmp_path / first
        folder.mkdir()
        (folder / "OrderRequest.json").write_text(request.replace('"none"', f'"{first}"'))
        (folder / "OrderResponse.json").write_text(response.replace('"none"', '"0+"'))
    words = ("--old", str(tmp_path / "3+"), "--format", "json", "--level", "wire")
    assert run(*words, "--new", str(tmp_path / "2+")) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    (header,) = [each for each in found if each["rule"] == "HEADER_VERSION_CHANGED"]
    waivers = tmp_path / "waivers.toml"
    waivers.write_text(WAIVER.format(**header))
    run(*words, "--new", str(tmp_path / "2+"), "--waivers", str(waivers))
    assert "HEADER_VERSION_CHANGED" not in capsys.readouterr().out
    assert run(*words, "--new", str(tmp_path / "0+"), "--waivers", str(waivers)) == 3
    assert capsys.readouterr().err == (
        f"{waivers}: waiver 1: the finding has changed; update or remove the waiver: "
        "HEADER_VERSION_CHANGED OrderRequest 2\nnothing was compared\n"
    )


BROKEN_WAIVERS = {
    "[[waiver]]\nrule = 1": (
        "waiver 1: rule must be a string",
        "waiver 1: missing message",
        "waiver 1: missing reason",
        "waiver 1: missing before or after; --format json prints both for each finding",
    ),
    '[[waiver]]\nrule = ["a"]\nmessage = "A"\nbefore = "1"\nafter = "2"\nreason = " "\nversions = "0-3"': (
        "waiver 1: rule must be a string",
        "waiver 1: versions must be a list of numbers",
        "waiver 1: missing reason",
    ),
    '[[waiver]]\nrule = "NEWS"\nmessage = "A"\nbefore = "1"\nafter = "2"\nreason = "Agreed."\nversions = [true]': (
        "waiver 1: versions must be a list of numbers",
        "waiver 1: unknown rule 'NEWS'; --list-rules prints them",
    ),
    "waiver = 1": ("waiver must be a list of tables; write [[waiver]]",),
    "waivers = []": ("unknown key 'waivers'; expected only [[waiver]]",),
}


@pytest.mark.parametrize("text", BROKEN_WAIVERS)
def test_invalid_waivers_exit_with_3(
    text: str, folders: tuple[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "waivers.toml"
    path.write_text(text)
    assert run("--old", folders[0], "--new", folders[0], "--waivers", str(path)) == 3
    lines = [f"{path}: {line}" for line in BROKEN_WAIVERS[text]]
    assert capsys.readouterr().err == "\n".join([*lines, "nothing was compared\n"])
