"""The task ``trial``: installs built distributions into empty environments, and uses them."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

from kafka_protocol_upstream.publish import invoices, platforms
from kafka_protocol_upstream.publish.interpreters import interpreters
from kafka_protocol_upstream.publish.native import Failed, run
from kafka_protocol_upstream.publish.wheels import PROJECTS, ROOT

ABOUT = "install built distributions into empty environments, which downloads dependencies, and use them"
DESCRIBE = """
from importlib.metadata import metadata
found = metadata("acme-invoices")
fields = [found[name] for name in ("Name", "Version", "License-Expression")]
print(*fields, found.get_all("License-File"), found.get_all("Requires-Dist"))
"""
DESCRIBED = "acme-invoices 2.1.0 LicenseRef-Acme ['COPYING'] ['kafka-messages-tools; extra == \"tools\"']\n"
EMPTY_HISTORY = """
import sys
from pathlib import Path
from kafka_message_generator.compat import store
store.write(Path(sys.argv[1]), {}, {})
"""
RELEASED = """
{ "type": "data", "name": "PayRecord", "validVersions": "0", "flexibleVersions": "0+",
  "fields": [ { "name": "Sum", "type": "int32", "versions": "0+" } ] }
"""
IMPORT_ALL = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    modules = [module.name for module in pkgutil.walk_packages(package.__path__, name + ".")]
    for module in modules:
        if not module.endswith("__main__"):
            importlib.import_module(module)
    print(name, "with", len(modules), "modules")
"""


class Environment:
    """A new virtual environment."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        run(python, "-m", "venv", "--without-pip", str(folder))
        self.commands = folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = str(self.commands / "python")

    def install(self, *what: str) -> None:
        """Install wheels or folders with dependencies."""
        run(sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet", *what)

    def run_script(self, script: str, *arguments: str) -> str:
        """Return the output of a script that sees only installed packages."""
        return run(self.python, "-I", "-c", script, *arguments)


def same(what: str, found: str, expected: str) -> None:
    if found != expected:
        raise Failed(f"{what}: expected {expected!r}, found {found!r}")


def wheel(folder: Path, name: str, tag: str = "py3") -> Path:
    """Return the only wheel of a distribution in a folder with a Python tag."""
    found = sorted(folder.glob(f"{name}-*-{tag}*.whl"))
    if len(found) != 1:
        raise Failed(f"{folder} has {len(found)} wheels of {name} for {tag}, expected one")
    return found[0].resolve()


def try_generator(folder: Path, work: Path) -> None:
    """Generate, install and use a package unrelated to Kafka."""
    path = wheel(folder, "kafka_message_generator")
    tool = Environment(work / "tool")
    tool.install(str(path))
    command = str(tool.commands / "kafka-message-generator")
    same("--version", run(command, "--version"), f"kafka-message-generator {path.name.split('-')[1]}\n")
    specs, package = invoices.write(work / "invoices"), work / "package"
    for step in ("generate", "check"):
        run(command, step, "--specs", str(specs), "--output", str(package))
    if foreign := list(invoices.foreign(package)):
        raise Failed("the package has unused modules:\n" + "\n".join(foreign))
    environment = Environment(work / "environment")
    environment.install(str(package))
    same("its messages", environment.run_script(invoices.USE), invoices.PRINTED)
    same("its metadata", environment.run_script(DESCRIBE), DESCRIBED)


def try_packages(folder: Path, work: Path) -> None:
    """Install the packages with PySpark, import all modules, and decode a broker's response."""
    environment = Environment(work / "environment")
    names = ("kafka_messages", "kafka_records", "kafka_messages_spark")
    messages, records, spark = (wheel(folder, name) for name in names)
    environment.install(f"{messages}[arrow,testing]", f"{records}[arrow]", f"{spark}[spark]")
    print(environment.run_script(IMPORT_ALL, *names), end="")
    decoded = run(environment.python, "-I", str(ROOT / "examples" / "decode_response.py"))
    line = "  topic 'orders' has 3 partitions, error code NONE\n"
    if line not in decoded:
        raise Failed(f"examples/decode_response.py does not print {line!r}:\n{decoded}")


def try_records(folder: Path, work: Path) -> None:
    """Install the package of record batches alone, and run its README's example."""
    environment = Environment(work / "environment")
    environment.install(str(wheel(folder, "kafka_records")))
    text = (ROOT / "packages" / "records" / "README.md").read_text(encoding="utf-8")
    example = text.partition("```python\n")[2].partition("```")[0]
    same("its example", environment.run_script(example), "gzip 0 b'order-1' b'paid'\n")


def try_native(folder: Path, work: Path, tag: str = "") -> None:
    """Run the test of cibuildwheel in each CPython with a wheel."""
    test, packages = native_test(folder)
    for interpreter in interpreters():
        environment = Environment(work / interpreter.tag, interpreter.path)
        core = wheel(folder, "kafka_messages_native", f"{interpreter.tag}-*{tag}" if tag else interpreter.tag)
        environment.install(str(core), *packages)
        print(f"{core.name}, {interpreter}: {run(environment.python, *test, folder=ROOT)}", end="", flush=True)


def native_test(folder: Path) -> tuple[list[str], list[str]]:
    """Return the arguments for Python of the test of cibuildwheel, and the packages for it."""
    settings = tomllib.loads((PROJECTS["kafka_messages_native"] / "pyproject.toml").read_text(encoding="utf-8"))
    _, *test = shlex.split(settings["tool"]["cibuildwheel"]["test-command"])
    return test, [f"{wheel(folder, name)}[arrow]" for name in ("kafka_messages", "kafka_records")]


def try_platforms(folder: Path, work: Path) -> None:
    """Build the core for other platforms; run the same test with manylinux wheels, and the C library with musl."""
    for path in platforms.build(folder):
        print(f"{path.name}: accepted by auditwheel and abi3audit", flush=True)
    try_native(folder, work, "manylinux*_x86_64")
    for core in sorted(folder.resolve().glob("*manylinux*_aarch64.whl")):
        print(f"{core.name}: {platforms.try_foreign(core, 'aarch64', work, *native_test(folder))}", end="", flush=True)
    for line in platforms.try_library(work):
        print(line, flush=True)


def try_tools(folder: Path, work: Path) -> None:
    """Install the tools, and run the command, captures and the dissector."""
    environment = Environment(work / "environment")
    names = ("kafka_messages", "kafka_records", "kafka_messages_tools")
    environment.install("--no-deps", *(str(wheel(folder, name)) for name in names))
    print(environment.run_script(IMPORT_ALL, "kafka_messages_tools"), end="")
    command = str(environment.commands / "kafka-messages")
    decoded = run(command, "decode", "ApiVersionsRequest", "3", "056a61766106342e342e3000")
    same("decode", decoded, '{"clientSoftwareName": "java", "clientSoftwareVersion": "4.4.0"}\n')
    capture = str(ROOT / "examples" / "captures" / "librdkafka.pcap.gz")
    if "ApiVersions v" not in (found := run(command, "capture", capture)):
        raise Failed(f"no ApiVersions in {capture}:\n{found}")
    for words, start in (
        (("wireshark",), "-- Wireshark dissector for the messages of kafka_messages;"),
        (("completion", "bash"), "# AUTOMATICALLY GENERATED"),
    ):
        if not (found := run(command, *words)).startswith(start):
            raise Failed(f"{' '.join(words)} begins with {found[:200]!r}, expected {start!r}")


def try_pages(folder: Path, work: Path) -> None:
    """Install the pages, and write the site of this repository."""
    environment = Environment(work / "environment")
    names = (
        "kafka_message_generator",
        "kafka_messages",
        "kafka_records",
        "kafka_messages_tools",
        "kafka_protocol_pages",
    )
    wheels = [wheel(folder, name) for name in names]
    environment.install(*map(str, wheels))
    command, site = str(environment.commands / "kafka-protocol-pages"), work / "site"
    same("--version", run(command, "--version"), f"kafka-protocol-pages {wheels[-1].name.split('-')[1]}\n")
    specs = ROOT / "specs" / "kafka"
    print(run(command, "--specs", str(specs), "--docs", str(ROOT), "--output", str(site), folder=work), end="")
    for name in ("index.html", "messages/FetchRequest.html", "docs/pages.html", "assets/codec.js"):
        if not (site / name).is_file():
            raise Failed(f"the site has no {name}")


def try_upstream(folder: Path, work: Path) -> None:
    """Install the maintainers' tasks, and import a release from a jar."""
    environment = Environment(work / "environment")
    names = ("kafka_message_generator", "kafka_messages", "kafka_protocol_upstream")
    environment.install(*(str(wheel(folder, name)) for name in names))
    print(environment.run_script(IMPORT_ALL, "kafka_protocol_upstream"), end="")
    history, jars = work / "history", work / "jars"
    environment.run_script(EMPTY_HISTORY, str(history))
    jars.mkdir()
    with zipfile.ZipFile(jars / "kafka-clients-3.0.0.jar", "w") as jar:
        jar.writestr("common/message/PayRecord.json", RELEASED)
    folders = ("--specs", str(work / "specs"), "--history", str(history))
    task = (environment.python, "-I", "-m", "kafka_protocol_upstream", "import-release", str(jars))
    printed = run(*task, *folders)
    for line in (f"{history}: write definitions/PayRecord/3.0.0.json\n", "nothing was written: this was a dry run;"):
        if line not in printed:
            raise Failed(f"import-release does not print {line!r}:\n{printed}")


TRIALS = {
    "pages": try_pages,
    "upstream": try_upstream,
    "generator": try_generator,
    "native": try_native,
    "packages": try_packages,
    "platforms": try_platforms,
    "records": try_records,
    "tools": try_tools,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", choices=TRIALS, help="distribution")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("dist"), help="default: %(default)s")
    parser.set_defaults(run=lambda arguments: run_trial(arguments.name, arguments.folder))


def run_trial(name: str, folder: Path) -> int:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        try:
            TRIALS[name](folder, Path(work))
        except Failed as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
    print(f"{name}: installed from wheels into empty environments, and works; {time.monotonic() - started:.0f} s")
    return 0
