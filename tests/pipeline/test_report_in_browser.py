"""The HTML report in a real browser, if one is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_messages_spark.jobs import JobReport, JobRun

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")
CLICKS = """
addEventListener("load", () => {
  const words = at => [...document.querySelectorAll("tbody tr")].map(row => row.cells[at].textContent).join(" ");
  const button = at => document.querySelectorAll("th button")[at];
  const log = text => document.body.append(Object.assign(document.createElement("pre"), { textContent: text }));
  for (const at of [0, 1, 1]) {
    button(at).click();
    log(`${at} ${button(at).parentElement.getAttribute("aria-sort")}: ${words(at)}`);
  }
  button(0).focus();
  log(`focus: ${document.activeElement === button(0)}`);
});
"""


def page() -> str:
    made = JobReport("What")
    made.table(["group", "lag"], [["b", 10], ["partition-10", None], ["partition-9", 9], ["a", 100]])
    run = JobRun("groups", {}, [], 0, datetime(2026, 11, 22, tzinfo=UTC))
    return made.html(run)


def dom(content: str, folder: Path) -> str:
    file = folder / "page.html"
    file.write_text(content)
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}", "--dump-dom")
    return subprocess.run(
        [str(BROWSER), *options, file.as_uri()], capture_output=True, text=True, timeout=120, check=True
    ).stdout


def test_columns_are_sorted_on_click(tmp_path: Path) -> None:
    open_page = re.sub(r"<meta http-equiv[^>]*>", "", page()).replace("</body>", f"<script>{CLICKS}</script></body>")
    assert re.findall(r"<pre>(.*?)</pre>", dom(open_page, tmp_path)) == [
        "0 ascending: a b partition-9 partition-10",
        "1 ascending: 9 10 100 -",
        "1 descending: 100 10 9 -",
        "focus: true",
    ]


def test_foreign_script_does_not_run(tmp_path: Path) -> None:
    other = page().replace("</body>", '<script>document.title = "taken over"</script></body>')
    found = dom(other, tmp_path)
    assert found.count("<button") == 2
    assert "<title>What</title>" in found
