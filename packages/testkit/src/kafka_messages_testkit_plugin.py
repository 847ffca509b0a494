"""Plugin for pytest: the fixtures ``kafka_cluster`` and ``kafka_proxy``. Imports the kit when a test uses one."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any, NoReturn, TypeVar

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kafka_messages_testkit import KafkaCluster, KafkaProxy
    from kafka_messages_testkit._kit import Kit

K = TypeVar("K", bound="Kit")
_ARGUMENTS = ("brokers", "topics", "release", "seed", "max_exchange_bytes")
_OF_PROXY = ("seed", "max_exchange_bytes")
_KITS = pytest.StashKey["dict[str, Kit]"]()
_ERROR = pytest.StashKey[BaseException]()
# Maximum numbers of exchanges in a report, without and with their bytes.
_MOST, _MOST_EXPLAINED = 50, 20
_NO_BROKER = (
    "kafka_proxy needs a broker: pass --kafka-bootstrap-servers=HOST:PORT, set kafka_bootstrap_servers in the "
    "configuration file, or define a fixture kafka_bootstrap_servers"
)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    # Pytest rewrites this module only, see ADR 0017.
    getattr(pluginmanager.rewrite_hook, "_must_rewrite", set()).discard("kafka_messages_testkit")
    group = parser.getgroup("kafka", "Kafka test kit")
    about = "brokers behind kafka_proxy, such as localhost:9092,localhost:9093"
    group.addoption("--kafka-bootstrap-servers", metavar="SERVERS", help=about)
    about = "explain the bytes of requests and responses in the reports of failed tests"
    group.addoption("--kafka-explain", action="store_true", help=about)
    parser.addini("kafka_bootstrap_servers", "brokers behind kafka_proxy")


def pytest_configure(config: pytest.Config) -> None:
    about = f"arguments of KafkaCluster; {' and '.join(_OF_PROXY)} also of KafkaProxy"
    config.addinivalue_line("markers", f"kafka({', '.join(_ARGUMENTS)}): {about}")


@pytest.fixture
def kafka_cluster(request: pytest.FixtureRequest) -> Iterator[KafkaCluster]:
    """Mock cluster of this test, as ``@pytest.mark.kafka`` describes it."""
    from kafka_messages_testkit import KafkaCluster

    arguments = _arguments(request.node)
    cluster = _made(f"{request.node.nodeid}: pytest.mark.kafka", partial(KafkaCluster, **arguments))
    yield from _running(request.node, "kafka_cluster", cluster)


@pytest.fixture
def kafka_proxy(request: pytest.FixtureRequest, kafka_bootstrap_servers: str) -> Iterator[KafkaProxy]:
    """Fault proxy of this test, in front of the brokers ``kafka_bootstrap_servers``."""
    from kafka_messages_testkit import KafkaProxy

    arguments = {name: value for name, value in _arguments(request.node).items() if name in _OF_PROXY}
    proxy = _made("kafka_bootstrap_servers", partial(KafkaProxy, kafka_bootstrap_servers, **arguments))
    yield from _running(request.node, "kafka_proxy", proxy)


@pytest.fixture(scope="session")
def kafka_bootstrap_servers(request: pytest.FixtureRequest) -> str:
    """Brokers behind ``kafka_proxy``: of the command line or the configuration file. Define your own to replace it."""
    servers = request.config.getoption("kafka_bootstrap_servers") or request.config.getini("kafka_bootstrap_servers")
    if not servers:
        pytest.fail(_NO_BROKER, pytrace=False)
    return str(servers)


def _arguments(item: pytest.Item) -> dict[str, Any]:
    """Return the arguments of the markers of a test; the closest one wins. Fails the test for an unknown one."""
    found: dict[str, Any] = {}
    for mark in reversed(list(item.iter_markers("kafka"))):
        unknown = [*map(repr, mark.args), *(name for name in mark.kwargs if name not in _ARGUMENTS)]
        if unknown:
            text = f"pytest.mark.kafka has no argument {', '.join(unknown)}; its arguments are {', '.join(_ARGUMENTS)}"
            pytest.fail(f"{item.nodeid}: {text}", pytrace=False)
        found |= mark.kwargs
    return found


def _made(where: str, kit: Callable[[], K]) -> K:
    try:
        return kit()
    except (TypeError, ValueError) as error:
        text = f"{where}: {error}"
    pytest.fail(text, pytrace=False)


def _fail(message: str) -> NoReturn:
    """Fail a test; a frame that pytest does not hide, so that it does not add a note about hidden frames."""
    pytest.fail(message, pytrace=False)


def _running(item: pytest.Item, name: str, kit: K) -> Iterator[K]:
    item.stash.setdefault(_KITS, {})[name] = kit
    kit.__enter__()
    yield kit
    error = item.stash.get(_ERROR, None)
    kit.__exit__(type(error) if error else None, error, None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _arguments(item)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Fail a test that passed for unused rules, and for exceptions of handlers and functions."""
    __tracebackhide__ = True
    result = yield
    unused = ""
    for kit in pyfuncitem.stash.get(_KITS, {}).values():
        from kafka_messages_testkit._rule import UnusedRuleError

        try:
            kit._check()
        except UnusedRuleError as error:
            unused = f"UnusedRuleError: {error}"
    if unused:
        _fail(unused)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the exchanges to the report of a test that failed."""
    report = yield
    if call.excinfo is not None:
        item.stash[_ERROR] = call.excinfo.value
    if report.failed:
        for name, kit in item.stash.get(_KITS, {}).items():
            report.sections.append((f"Kafka exchanges of {name}", _rendered(item.config, kit)))
            if kit._failures:
                errors = (text for error in kit._failures for text in traceback.format_exception(error))
                report.sections.append((f"Kafka errors of {name}", "".join(errors)))
    return report


def _rendered(config: pytest.Config, kit: Kit) -> str:
    from kafka_messages_tools.conversation import render

    explain = bool(config.getoption("kafka_explain"))
    width = min(max(config.get_terminal_writer().fullwidth, 100), 160)
    limit = _MOST_EXPLAINED if explain else _MOST
    try:
        return render(kit.exchanges(), width=width, explain=explain, limit=limit).rstrip()
    except Exception as error:  # an invalid response of a test must not end the run of pytest
        return f"the exchanges cannot be printed: {error!r}"
