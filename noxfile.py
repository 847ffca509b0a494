"""Sessions of the project; ``nox -l`` lists them. Each session has its own environment."""

from __future__ import annotations

import os
import shutil
from itertools import chain
from pathlib import Path

import nox

nox.needs_version = ">=2026.1"
nox.options.default_venv_backend = "uv|venv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["check", "lint", "types", "tests"]

PYPROJECT = nox.project.load_toml("pyproject.toml")
PACKAGE = ("--specs", "specs/kafka", "--output", "generated")
PROPOSALS = ("--specs", "specs/proposals", "--output", ".work/proposals")
NATIVE = ("tests/native", "tests/generated", "tests/records")  # run with and without the native core
SLOW = "--ignore=tests/generator/compat"
QUICK = ("tests/docs/test_pages.py", "tests/generator", "tests/generated", SLOW)
PYTEST = ("python", "-m", "pytest", "-n", "2", "--dist", "loadfile")
"""One worker runs all tests of a file, because tests on Spark share tables."""
FAST = ("-m", "not nightly")
PURE = {"KAFKA_MESSAGES_NATIVE": "0"}


def groups(*names: str) -> list[str]:
    return [requirement for name in names for requirement in nox.project.dependency_groups(PYPROJECT, name)]


GENERATOR = ("./generator", *groups("generate"))
"""The generator, and the versions of its tools that format the committed packages."""
BUILD = ("python", "-m", "build", "--installer", "uv", "--outdir", "dist")
TASK = ("python", "-m", "kafka_protocol_upstream")
PEERS = groups("tests", "arrow", "spark", "peers")
PACKAGES = ("./generated", "./packages/records", "./packages/tools")
PAGES = (*GENERATOR, *PACKAGES, "./packages/pages")
UPSTREAM = (*GENERATOR, *PACKAGES, "./packages/upstream")


def install(session: nox.Session, *requirements: str) -> None:
    """Install requirements; projects of this repository are rebuilt."""
    folders = [requirement.partition("[")[0] for requirement in requirements if requirement.startswith(".")]
    clean(*folders)
    is_uv = session.venv_backend == "uv"  # uv keeps the wheel of a folder until its pyproject.toml changes
    projects = [nox.project.load_toml(f"{folder}/pyproject.toml")["project"]["name"] for folder in folders if is_uv]
    session.install(*requirements, *(f"--reinstall-package={project}" for project in projects))


def clean(*projects: str) -> None:
    """Remove earlier builds, whose deleted modules setuptools would include again."""
    for project in map(Path, projects):
        for left in chain([project / "build"], project.glob("*.egg-info"), project.glob("src/*.egg-info")):
            shutil.rmtree(left, ignore_errors=True)


def install_native(session: nox.Session) -> bool:
    """Build and install the native core; return False without a C compiler."""
    if os.name != "nt" and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        session.warn("no C compiler: the native core is not built, and its tests are skipped")
        return False
    install(session, "./packages/native")
    return True


@nox.session
def regenerate(session: nox.Session) -> None:
    """Write the generated package from specs/kafka, if it changed, and decode recorded traffic with it."""
    install(session, *GENERATOR)
    session.run("kafka-message-generator", "generate", *PACKAGE)
    session.run("python", "examples/decode_response.py", env={"PYTHONPATH": "generated/src"})


@nox.session
def check(session: nox.Session) -> None:
    """Check that generated/ matches specs/kafka, and compatibility with releases; options go to ``compat``."""
    install(session, *GENERATOR)
    if not session.posargs:
        session.run("kafka-message-generator", "check", *PACKAGE)
    session.run("kafka-message-generator", "compat", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check formatting and lint of hand-written code."""
    session.install(*groups("generate", "lint"))
    folders = ("generator", "tests", "benchmarks", "examples", "packages", "noxfile.py")
    session.run("black", "--check", "--quiet", *folders)
    session.run("ruff", "check", *folders)


@nox.session
def types(session: nox.Session) -> None:
    """Run strict mypy on all hand-written code and the package; pyright on the package and a sample client."""
    install(session, *PAGES, "./packages/upstream", *groups("types", "tests", "arrow", "spark-client"), "nox")
    session.run("kafka-message-generator", "generate", *PROPOSALS)
    session.run("mypy", "-p", "kafka_message_generator")
    session.run("mypy", "--explicit-package-bases", "tests")
    scripts = chain.from_iterable(Path(folder).glob("*.py") for folder in ("benchmarks", "examples"))
    session.run("mypy", "noxfile.py", *map(str, sorted(scripts)))
    ours = (
        "kafka_records",
        "kafka_messages_tools",
        "kafka_messages_testkit",
        "kafka_conformance",
        "kafka_messages_spark",
        "kafka_protocol_pages",
        "kafka_protocol_upstream",
    )
    session.run("mypy", "-m", "kafka_messages_testkit_plugin", *chain.from_iterable(("-p", name) for name in ours))
    session.run("mypy", "packages/native/src/kafka_messages_native")
    session.run("mypy", "packages/vectors/src/kafka_protocol_vectors")
    session.run("mypy", "generated/src/kafka_messages")
    session.run("mypy", ".work/proposals/src/kafka_messages_proposals")
    session.run("pyright", "-p", "tests/typing")


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests except ``nightly``; tests of messages run with and without the native core. Options go to pytest.

    PySpark is a large download.
    """
    install_tests(session)
    if session.posargs:
        session.run(*PYTEST, *session.posargs, env=PURE)
        return
    is_native = install_native(session)
    native = {"TESTS_NATIVE": "1"} if is_native else {}
    session.run(*PYTEST, *FAST, "tests/pipeline", env={"TESTS_ON_CONNECT": "1", **native})
    if is_native:
        session.run(*PYTEST, *FAST, *NATIVE, env=native)
    others = ("-n", "3", "--ignore=tests/native", "--ignore=tests/pipeline")  # which wait for processes and sockets
    session.run(*PYTEST, *FAST, *others, env=PURE)


def install_tests(session: nox.Session) -> None:
    extras = ("tests", "types", "arrow", "compression", "spark", "stores", "frames")
    install(session, *PAGES, "./packages/upstream", "./packages/pipeline", *groups(*extras))


@nox.session
def nightly(session: nox.Session) -> None:
    """Run the slow tests: -- interop, classic, connect, fuzz, browser, pythons or mutations selects a part, with options.

    interop: a real broker and third-party clients (needs Maven, a JDK, Go, Rust); classic: all Spark tests without Connect
    and without the native core; connect: the slow Spark tests with both; fuzz: ten minutes with sanitizers, and the
    slow tests of the core and of compat (needs a C compiler); browser: the site (needs npm and Chromium); pythons: the
    tests of the core on Debian's CPython 3.13 to 3.15, unpacked into .work (needs Debian and a C compiler); mutations:
    random changes of the code for 20 minutes; for each, a test must fail.
    """
    parts = {"interop": interop, "classic": classic, "connect": connect, "fuzz": long_fuzz, "browser": browser}
    parts |= {"pythons": pythons, "mutations": mutations}
    names = session.posargs[:1] or parts
    for name in names:
        if name not in parts:
            session.error(f"unknown part {name!r}; expected one of {', '.join(parts)}")
        parts[name](session, *session.posargs[1:])


def interop(session: nox.Session, *options: str) -> None:
    install(session, *UPSTREAM, *PEERS, "./packages/pipeline")
    session.run("python", "-m", "pytest", "tests/interop", *options)
    if not options:
        session.run("python", "-m", "pytest", "tests/testkit/clients")
        session.run("python", "-m", "pytest", "-m", "nightly", "tests/conformance")
        # With the broker's jars, which tests/interop has downloaded.
        jars = {"KAFKA_JARS": ".work/interop/kafka"}
        session.run("python", "-m", "pytest", "tests/records/test_kafka_classes.py", env=jars)


def classic(session: nox.Session, *options: str) -> None:
    install_tests(session)
    session.run(*PYTEST, *(options or ("tests/pipeline",)), env=PURE)


def connect(session: nox.Session, *options: str) -> None:
    """Run the slow Spark tests as CI runs the others: on Connect, with the native core."""
    install_tests(session)
    native = {"TESTS_NATIVE": "1"} if install_native(session) else {}
    session.run(*PYTEST, "-m", "nightly", *(options or ("tests/pipeline",)), env={"TESTS_ON_CONNECT": "1", **native})


def long_fuzz(session: nox.Session, *options: str) -> None:
    install_fuzz(session)
    session.run("python", "-m", "tests.fuzz", *(options or ("--seconds", "600", "--sanitize")))
    session.run("python", "-m", "pytest", "-m", "nightly", "tests/native", "tests/generator", env={"TESTS_NATIVE": "1"})


def browser(session: nox.Session, *options: str) -> None:
    write_pages(session)
    check_pages(session, *options)


def pythons(session: nox.Session, *options: str) -> None:
    install(session, *UPSTREAM, *groups("tests", "release", "platforms"))
    session.run("python", "-m", "tests.support.debian_pythons", *options)


def mutations(session: nox.Session, *options: str) -> None:
    install_tests(session)
    session.install(*groups("mutations"))
    session.run("python", "-m", "tests.mutations", *options)


@nox.session
def quick(session: nox.Session) -> None:
    """Test the generator, and messages at their lowest and highest version, in two minutes; options go to pytest."""
    install(session, *UPSTREAM, *groups("tests"))
    session.run("python", "-m", "pytest", "-n", "2", *(session.posargs or QUICK), env={"TESTS_VERSIONS": "ends"})


@nox.session
def pages(session: nox.Session) -> None:
    """Write the protocol as a static site into site/."""
    write_pages(session)


def write_pages(session: nox.Session) -> None:
    install(session, *PAGES)
    session.run("kafka-protocol-pages", "--specs", "specs/kafka", "--docs", ".", "--output", "site")


def check_pages(session: nox.Session, *options: str) -> None:
    """Check the HTML with validator.nu and run the tests of pages, including those in a browser."""
    for tool, package in (("npm", "npm"), ("java", "default-jre-headless"), ("chromium", "chromium")):
        if shutil.which(tool) is None:
            session.error(f"install {tool} first; on Debian: apt-get install {package}")
    folder = ".work/vnu"
    session.run("npm", "install", "--silent", "--no-save", "--prefix", folder, "vnu-jar@26.9.27", external=True)
    checker = f"{folder}/node_modules/vnu-jar/build/dist/vnu.jar"
    session.run("java", "-jar", checker, "--skip-non-html", "--format", "gnu", "site", external=True)
    install(session, *groups("tests", "browser"))
    folder = ".work/axe"
    session.run("npm", "install", "--silent", "--no-save", "--prefix", folder, "axe-core@4.14.1", external=True)
    axe = {"AXE_CORE": f"{folder}/node_modules/axe-core/axe.min.js"}
    session.run("python", "-m", "pytest", "tests/pages", *options, env=axe)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Compare the native core with the pure code on invalid input; -- --seconds 600, --sanitize, --guided, --tsan."""
    install_fuzz(session)
    session.run("python", "-m", "tests.fuzz", *session.posargs)


def install_fuzz(session: nox.Session) -> None:
    install(session, *GENERATOR, *groups("tests", "arrow"), "./generated", "./packages/records", "./packages/native")


@nox.session
def release(session: nox.Session) -> None:
    """Build all distributions into dist/, check, install and use them; nothing is uploaded.

    -- wheels: only build, and use the generator and the core; -- platforms: only the core, for other platforms as well
    (needs Debian and qemu-user); -- commands: run the shell blocks of README and docs in a fresh clone (--all: also the
    slow ones); -- changelog: print changelog.d; -- changelog VERSION: move it to CHANGELOG.md.
    """
    install(session, *UPSTREAM, *groups("release"))
    match session.posargs:
        case ["wheels"]:
            build(session)
            use(session, "generator", "native")
        case ["platforms"]:
            install_fuzz(session)  # for the C library
            session.install(*groups("platforms"))
            build(session)
            use(session, "platforms")
        case ["commands", *options]:
            session.run(*TASK, "doc-commands", *options)
        case ["changelog", *versions]:
            changelog(session, *versions)
        case _:
            session.run(*TASK, "publish", "versions")
            session.run("kafka-message-generator", "check", *PACKAGE)
            build(session)
            session.run("twine", "check", "--strict", *map(str, sorted(Path("dist").iterdir())))
            use(session, "generator", "records", "native", "packages", "tools", "pages", "upstream")
            session.run(*TASK, "publish", "uploads")


def use(session: nox.Session, *trials: str) -> None:
    for trial in trials:
        session.run(*TASK, "trial", trial)


def build(session: nox.Session) -> None:
    """Build and check wheels and source distributions; the native core for each CPython on the machine."""
    shutil.rmtree("dist", ignore_errors=True)
    names = ("conformance", "pages", "pipeline", "records", "testkit", "tools", "upstream", "vectors")
    packages = [f"./packages/{name}" for name in names]
    projects = ("./generator", "./generated", *packages)
    protocol = ("--specs", "specs/kafka", "--output", "packages/vectors/src/kafka_protocol_vectors")
    session.run("kafka-message-generator", "export", *protocol)
    clean(*projects, "./packages/native")
    for project in projects:
        session.run(*BUILD, project, silent=True)
    session.run(*BUILD, "--sdist", "./packages/native", silent=True)
    session.run(*TASK, "publish", "native")
    session.run(*TASK, "publish", "contents")


def changelog(session: nox.Session, *versions: str) -> None:
    session.install(*groups("changelog"))
    if len(versions) > 1:
        session.error("name one version, for example: nox -s release -- changelog 0.2.0")
    options = ("--version", *versions, "--yes") if versions else ("--version", "next", "--draft")
    session.run("towncrier", "build", *options)


@nox.session
def pipeline(session: nox.Session) -> None:
    """Print typed tables and hanging transactions from a broker's segment files, on Spark local[*]."""
    install(session, *groups("arrow", "spark"), "./generated", "./packages/records", "./packages/pipeline")
    install_native(session)
    session.run("python", "examples/pipeline_demo.py", *session.posargs)


@nox.session(name="import-release")
def import_release(session: nox.Session) -> None:
    """Report what a new Kafka release changes and breaks; with --write, also import it and write the package.

    -- 4.5.0 (needs Maven), a folder of jars or of definitions, or git:REF:FOLDER; --overlay FOLDER: a proposal's files.
    """
    task(session, "import-release", *session.posargs)


@nox.session
def upstream(session: nox.Session) -> None:
    """Run a task for a new Kafka release; without a task, list the tasks. Needs Maven; most need a JDK.

    -- import-history, import-specs 2.8.2 --target FOLDER, vectors, enumerations, settings, exchange;
    -- cluster: recreate examples/cluster with a real broker; -- captures: examples/captures (tcpdump, tshark, root);
    -- conversations: examples/conversations (tshark, root), or those named.
    """
    match session.posargs:
        case ["cluster"]:
            install(session, *UPSTREAM, *PEERS, "./packages/pipeline")
            session.run("python", "-m", "tests.interop.make", "examples/cluster")
        case ["captures"]:
            install(session, *GENERATOR, *PACKAGES, *groups("tests", "arrow", "peers"))
            session.run("python", "-m", "tests.interop.captures", "examples/captures")
        case ["conversations", *names]:
            install(session, *GENERATOR, *PACKAGES, *groups("tests", "arrow", "peers"))
            session.run("python", "-m", "tests.interop.conversations", "examples/conversations", *names)
        case tasks:
            task(session, *(tasks or ["--help"]))


def task(session: nox.Session, *words: str) -> None:
    install(session, *UPSTREAM)
    session.run(*TASK, *words)
    if "--write" in words or words[0] == "import-history":
        session.run("kafka-message-generator", "compat", "--past", "docs/history.md")
        session.run("kafka-message-generator", "compat", "--past", "docs/impact.md", "--impact")
    if "--write" in words:
        session.run("kafka-message-generator", "generate", *PACKAGE)


@nox.session
def bench(session: nox.Session) -> None:
    """Compare pure, native, kafka-python and kio; needs a C compiler; options go to benchmarks/compare.py.

    -- languages: Kafka's Java classes, franz-go and kafka-protocol, if their toolchains are installed; -- spark: Spark's
    from_avro and binaryFile (needs Maven for the connector); -- encodings: integer encodings, charts in docs/img.
    """
    match session.posargs:
        case ["languages", *options]:
            session.run("python", "benchmarks/other_languages.py", *options)
        case ["spark", *options]:
            bench_spark(session, *options)
        case ["encodings", *options]:
            install(session, *GENERATOR)
            session.run("kafka-message-generator", "generate", *PROPOSALS)
            session.run("python", "benchmarks/encodings.py", "--plots", "docs/img", *options)
        case options:
            session.run("python", "benchmarks/compare.py", *options)
            session.run("python", "benchmarks/imports.py")


def bench_spark(session: nox.Session, *options: str) -> None:
    # The latest Spark release with connectors on Maven Central.
    spark = ("pyspark==4.1.1", "pandas>=2.2,<3")
    install(session, *groups("arrow"), *spark, "./generated", "./packages/records", "./packages/pipeline[java]")
    session.run("python", "benchmarks/spark_functions.py", *options)
    session.run("python", "benchmarks/segments.py", *options)
