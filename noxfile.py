"""Sessions of the project; ``nox -l`` lists them. Each makes its own environment from PyPI."""

from __future__ import annotations

import os
import shutil
from itertools import chain
from pathlib import Path

import nox

nox.needs_version = ">=2026.1"
nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["check", "lint", "types", "tests"]

PYPROJECT = nox.project.load_toml("pyproject.toml")
PACKAGES = (
    ("--specs", "specs/kafka", "--output", "generated"),
    ("--specs", "specs/proposals", "--output", "generated_proposals"),
)
GENERATED = ("./generated", "./generated_proposals")


MESSAGES = ("tests/generator", "tests/package", "tests/connection", "tests/proposals")
"""The tests of messages, which run by the native core too."""
COLUMNS = "tests/arrow"
"""Those of columns, which run by the native extension too, and need more to be installed."""


def groups(*names: str) -> list[str]:
    return [requirement for name in names for requirement in nox.project.dependency_groups(PYPROJECT, name)]


GENERATOR = (".", *groups("generate"))
"""The generator as users install it, and the versions of its tools that the committed packages are printed with."""
WITH_PAGES = (".[pages]", *GENERATOR[1:])
"""With what prose on a site needs."""


def install(session: nox.Session, *requirements: str) -> None:
    """Install requirements and projects of this repository, these always anew and as they are now."""
    clean(*(requirement.partition("[")[0] for requirement in requirements if requirement.startswith(".")))
    session.install(*requirements)


def clean(*projects: str) -> None:
    """Remove what earlier builds left beside projects: setuptools would put modules that are gone into the next one."""
    for project in map(Path, projects):
        for left in chain([project / "build"], project.glob("*.egg-info"), project.glob("src/*.egg-info")):
            shutil.rmtree(left, ignore_errors=True)


def install_native(session: nox.Session) -> bool:
    """Build and install the native core where there is a compiler; whether there is one."""
    if os.name != "nt" and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        session.warn("no C compiler: the native core is not built, and its half of the tests is skipped")
        return False
    install(session, "./native")
    return True


@nox.session
def regenerate(session: nox.Session) -> None:
    """Write the generated packages from specs/; nothing is touched when they are up to date."""
    install(session, *GENERATOR)
    for package in PACKAGES:
        session.run("kafka-message-generator", "generate", *package)


@nox.session
def check(session: nox.Session) -> None:
    """Regenerate in memory; print the difference and fail when a package is not what specs/ gives."""
    install(session, *GENERATOR)
    compare(session)


def compare(session: nox.Session) -> None:
    for package in PACKAGES:
        session.run("kafka-message-generator", "check", *package)


@nox.session
def demo(session: nox.Session) -> None:
    """Show what a consumer and a real broker said to each other, decoded by the generated package."""
    install(session, "./generated")
    session.run("python", "examples/decode_response.py")


@nox.session
def lint(session: nox.Session) -> None:
    """Formatting and lint of everything written by hand."""
    session.install(*groups("generate", "lint"))
    folders = ("generator", "tests", "benchmarks", "examples", "pipeline", "native", "vectors", "noxfile.py")
    session.run("black", "--check", "--quiet", *folders)
    session.run("ruff", "check", *folders)


@nox.session
def types(session: nox.Session) -> None:
    """Strict mypy on what is written by hand, the package and a sample client; pyright on package and client."""
    install(session, *WITH_PAGES, *groups("types", "tests", "arrow", "spark"), "nox", *GENERATED)
    adapters = ("adapter_kafka_messages_native", "adapter_kafka_python", "adapter_kio")  # which are imported by name
    scripts = (
        "compare",
        "batches",
        "other_languages",
        "imports",
        "command",
        "encodings",
        "plots",
        "samples",
        *adapters,
    )
    benchmarks = [f"benchmarks/{name}.py" for name in scripts]
    session.run("mypy", "-p", "kafka_message_generator", "-p", "tests.support", "-p", "tests.fuzz")
    session.run("mypy", "noxfile.py", *benchmarks)
    session.run("mypy", "-p", "kafka_messages_spark")
    session.run("mypy", "native/src/kafka_messages_native")
    session.run("mypy", "vectors/src/kafka_protocol_vectors")
    session.run("mypy", "generated/src/kafka_messages")
    session.run("mypy", "generated_proposals/src/kafka_messages_proposals")
    session.run("mypy", "tests/typing/client.py", "examples/decode_response.py")
    session.run("pyright", "-p", "tests/typing")


@nox.session
def tests(session: nox.Session) -> None:
    """Every test; the pipeline's on Spark Connect with the native core, on classic without, all others with it and without.

    PySpark is a large download.
    """
    install(
        session,
        *WITH_PAGES,
        *groups("tests", "types", "arrow", "compression", "spark", "stores", "frames"),
        *GENERATED,
        "./pipeline",
    )
    # A file stays with one worker, and so do the tables that its tests on Spark share.
    pytest = ("python", "-m", "pytest", "-n", "2", "--dist", "loadfile")
    rest = session.posargs
    if not session.posargs:
        is_native = install_native(session)
        native = {"TESTS_NATIVE": "1"} if is_native else {}
        session.run(*pytest, "tests/pipeline", env={"TESTS_ON_CONNECT": "1", **native})
        if is_native:
            session.run(*pytest, "tests/native", *MESSAGES, COLUMNS, env=native)
            rest = ["--ignore=tests/native"]
    session.run(*pytest, *rest, env={"KAFKA_MESSAGES_NATIVE": "0"})


@nox.session
def quick(session: nox.Session) -> None:
    """The tests that need neither Spark nor Arrow, in two to four minutes; options go to pytest."""
    install(session, *GENERATOR, *groups("tests"), *GENERATED)
    session.run("python", "-m", "pytest", "-n", "2", *(session.posargs or ("tests/docs", "tests/command", *MESSAGES)))


@nox.session
def pages(session: nox.Session) -> None:
    """Write the protocol as a static site into site/; -- --check runs an HTML checker, a real Chromium and axe-core on it."""
    install(session, *WITH_PAGES, "./generated")
    session.run("kafka-message-generator", "pages", "--specs", "specs/kafka", "--docs", ".", "--output", "site")
    if session.posargs == ["--check"]:
        check_pages(session)


def check_pages(session: nox.Session) -> None:
    """Valid HTML, by the checker of validator.nu, and the tests of pages, those in a browser included."""
    for tool, package in (("npm", "npm"), ("java", "default-jre-headless"), ("chromium", "chromium")):
        if shutil.which(tool) is None:
            session.error(f"install {tool} first; of Debian: apt-get install {package}")
    folder = ".work/vnu"
    session.run("npm", "install", "--silent", "--no-save", "--prefix", folder, "vnu-jar@26.9.27", external=True)
    checker = f"{folder}/node_modules/vnu-jar/build/dist/vnu.jar"
    session.run("java", "-jar", checker, "--skip-non-html", "--format", "gnu", "site", external=True)
    install(session, *groups("tests", "browser"), GENERATED[1])
    folder = ".work/axe"
    session.run("npm", "install", "--silent", "--no-save", "--prefix", folder, "axe-core@4.14.1", external=True)
    session.run("python", "-m", "pytest", "tests/pages", env={"AXE_CORE": f"{folder}/node_modules/axe-core/axe.min.js"})


@nox.session
def wireshark(session: nox.Session) -> None:
    """tshark with our dissector and our reader of captures say the same; needs tshark (of Debian: apt-get install tshark)."""
    if shutil.which("tshark") is None:
        session.error("install tshark, 3.6 or later; it comes with Wireshark")
    install(session, *groups("tests"), "./generated")
    session.run("python", "-m", "pytest", *(session.posargs or ("tests/capture",)))


@nox.session
def javascript(session: nox.Session) -> None:
    """The codec of the pages, in Node, says what the package says; needs Node 18 or later."""
    if shutil.which("node") is None:
        session.error("install Node 18 or later, for example: apt-get install nodejs")
    install(session, *GENERATOR, *groups("tests"), *GENERATED)
    session.run("python", "-m", "pytest", *(session.posargs or ("tests/javascript",)))


@nox.session
def captures(session: nox.Session) -> None:
    """Make examples/captures anew: a real broker and clients on loopback. Needs Maven, a JDK, tcpdump, tshark and root."""
    install(session, *groups("tests", "arrow", "peers"), "./generated")
    session.run("python", "-m", "tests.interop.captures", "examples/captures")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Damaged bytes, wrong values and plans, natively and purely, for a minute; -- --seconds 600, --sanitize, --guided."""
    install(session, *groups("tests", "arrow"), *GENERATED, "./native")
    session.run("python", "-m", "tests.fuzz", *session.posargs)


@nox.session
def readme(session: nox.Session) -> None:
    """Run the shell blocks of README and docs in a fresh clone; -- --all for the slow ones too, which it lists."""
    session.run("python", "-m", "tests.support.commands", *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build wheels and source distributions of everything into dist/, look whether all is in them, and use them."""
    install(session, *GENERATOR, *groups("release"))
    build(session)
    for trial in ("generator", "native"):
        session.run("python", "-m", "tests.support.trials", trial, "dist")


@nox.session
def release(session: nox.Session) -> None:
    """Build what is released together into dist/, check and try it, and say what to upload. Nothing is uploaded."""
    install(session, *GENERATOR, *groups("release"))
    session.run("python", "-m", "tests.support.release", "versions")
    compare(session)
    build(session)
    session.run("twine", "check", "--strict", *map(str, sorted(Path("dist").iterdir())))
    for trial in ("generator", "native", "packages"):
        session.run("python", "-m", "tests.support.trials", trial, "dist")
    session.run("python", "-m", "tests.support.release", "uploads", "dist")


def build(session: nox.Session) -> None:
    """Wheels and source distributions of every project, looked into; the native core for each CPython of the machine."""
    shutil.rmtree("dist", ignore_errors=True)
    projects = (".", *GENERATED, "./pipeline", "./vectors")
    protocol = ("--specs", "specs/kafka", "--output", "vectors/src/kafka_protocol_vectors")
    session.run("kafka-message-generator", "protocol", *protocol)
    clean(*projects, "./native")
    for project in projects:
        session.run("python", "-m", "build", "--outdir", "dist", project, silent=True)
    session.run("python", "-m", "build", "--sdist", "--outdir", "dist", "./native", silent=True)
    session.run("python", "-m", "tests.support.native_wheels", "dist")
    session.run("python", "-m", "tests.support.distributions", "dist")


@nox.session
def changelog(session: nox.Session) -> None:
    """Print what changelog.d says; -- VERSION moves it into CHANGELOG.md, below the version and today's date."""
    session.install(*groups("changelog"))
    if len(session.posargs) > 1:
        session.error("name one version, for example: nox -s changelog -- 0.2.0")
    version = ("--version", *session.posargs, "--yes") if session.posargs else ("--version", "next", "--draft")
    session.run("towncrier", "build", *version)


@nox.session
def pipeline(session: nox.Session) -> None:
    """From a broker's segment files to typed tables and a report of hanging transactions, on Spark local[*]."""
    install(session, *groups("arrow", "spark"), "./generated", "./pipeline")
    session.run("python", "examples/pipeline_demo.py", *session.posargs)


@nox.session
def interop(session: nox.Session) -> None:
    """A real Kafka broker and other clients as judges; -- --write makes examples/cluster anew. Needs Maven, a JDK, Go."""
    install(session, *GENERATOR, *groups("tests", "arrow", "spark", "peers"), "./generated", "./pipeline")
    if session.posargs == ["--write"]:
        session.run("python", "-m", "tests.interop.make", "examples/cluster")
    else:
        session.run("python", "-m", "pytest", "tests/interop", *session.posargs)


@nox.session(name="import-specs")
def import_specs(session: nox.Session) -> None:
    """Take the definitions of a Kafka release from Maven Central: nox -s import-specs -- 4.4.0"""
    if not session.posargs:
        session.error("name the release, for example: nox -s import-specs -- 4.4.0, or -- 2.8.2 --target FOLDER")
    install(session, *GENERATOR)
    work = f".work/jars-{session.posargs[0]}"
    session.run("kafka-message-generator", "import-specs", *session.posargs, "--work", work)


@nox.session(name="import-release")
def import_release(session: nox.Session) -> None:
    """A new release, or a folder of its jars: what it changes and leaves to do; -- 4.4.0 --write writes it, too."""
    if not session.posargs:
        session.error("name the release or a folder with its jars, for example: nox -s import-release -- 4.4.0 --write")
    install(session, *GENERATOR)
    session.run("kafka-message-generator", "import-release", *session.posargs)
    if "--write" in session.posargs:
        session.run("kafka-message-generator", "evolution", "--past", "docs/history.md")
        for package in PACKAGES:
            session.run("kafka-message-generator", "generate", *package)


@nox.session
def history(session: nox.Session) -> None:
    """Take the definitions of every Kafka release from Maven Central into specs/history; needs Maven."""
    install(session, *GENERATOR)
    session.run("kafka-message-generator", "import-history", "--to", "specs/history", "--work", ".work/history")
    session.run("kafka-message-generator", "evolution", "--past", "docs/history.md")


@nox.session(name="history-classes")
def history_classes(session: nox.Session) -> None:
    """Kafka's own classes exchange the bytes that docs/history.md shows; after nox -s history; needs a JDK."""
    install(session, *GENERATOR, *groups("tests"))
    session.run("python", "-m", "tests.evolution.kafka_classes", ".work/history")


@nox.session
def evolution(session: nox.Session) -> None:
    """Compare specs/kafka with every release of Kafka; options go to the command, such as: -- --old git:main"""
    install(session, *GENERATOR)
    session.run("kafka-message-generator", "evolution", *session.posargs)


@nox.session
def vectors(session: nox.Session) -> None:
    """Have Kafka's own classes write vectors/ anew, and say what they do with damaged bytes; needs Maven and a JDK."""
    install(session, *GENERATOR, "./generated")
    paths = ("--specs", "specs/kafka", "--work", ".work/vectors", "--target", "vectors/src/kafka_protocol_vectors")
    session.run("python", "-m", "kafka_message_generator.vectors.write", *paths)
    paths = ("--specs", "specs/kafka", "--work", ".work/history", "--target", "vectors/src/kafka_protocol_vectors")
    session.run("python", "-m", "kafka_message_generator.vectors.older", *paths)
    session.run("python", "-m", "tests.support.negative", ".work/vectors")


@nox.session
def enumerations(session: nox.Session) -> None:
    """Renew the names of numbers and the error codes from Kafka's own classes; needs Maven and a JDK."""
    install(session, *GENERATOR)
    paths = ("--specs", "specs/kafka", "--work", ".work/settings")
    session.run("python", "-m", "kafka_message_generator.vectors.enumerations", *paths)


@nox.session
def settings(session: nox.Session) -> None:
    """Take the table of Kafka's settings and their types from Kafka's own classes; needs Maven and a JDK."""
    install(session, *GENERATOR)
    paths = ("--specs", "specs/kafka", "--work", ".work/settings")
    session.run("python", "-m", "kafka_message_generator.vectors.settings", *paths)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure pure, native, kafka-python and kio side by side; needs a C compiler; options go to benchmarks/compare.py."""
    session.run("python", "benchmarks/compare.py", *session.posargs)
    session.run("python", "benchmarks/imports.py")
    session.run("python", "benchmarks/command.py")


@nox.session(name="bench-languages")
def bench_languages(session: nox.Session) -> None:
    """Measure side by side with Kafka's Java classes, franz-go and kafka-protocol, each where its toolchain is."""
    session.run("python", "benchmarks/other_languages.py", *session.posargs)


@nox.session(name="bench-spark")
def bench_spark(session: nox.Session) -> None:
    """Measure side by side with Spark's from_avro and binaryFile; needs Maven, for the connector that has from_avro."""
    # The newest release of Spark whose connectors Maven Central has.
    install(session, *groups("arrow"), "pyspark==4.1.1", "pandas>=2.2,<3", "./generated", "./pipeline[java]")
    session.run("python", "benchmarks/spark_functions.py", *session.posargs)
    session.run("python", "benchmarks/segments.py", *session.posargs)


@nox.session
def encodings(session: nox.Session) -> None:
    """Measure the integer encodings and draw docs/img; options go to benchmarks/encodings.py."""
    session.run("python", "benchmarks/encodings.py", "--plots", "docs/img", *session.posargs)
