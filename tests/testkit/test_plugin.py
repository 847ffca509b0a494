"""The pytest plugin: fixtures, the marker, options, and reports of failed tests."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys

import pytest
from kafka_messages.protocol import api, apis
from kafka_messages_testkit import KafkaCluster
from kafka_messages_testkit.handlers.table import FAMILIES, handlers

pytest_plugins = ["pytester"]
# Imported here, because pytester removes the modules that are imported during its tests.
MESSAGES = [(each.request_class, each.response_name and each.response_class) for each in apis()]
PLUGIN = ("-p", "kafka_messages_testkit_plugin", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
ARGUMENTS = ", ".join(inspect.signature(KafkaCluster).parameters)
HEAD = """
import asyncio
import pytest
from kafka_messages import MetadataRequest
from kafka_messages.aio import connect
from kafka_messages.connection import ClientConnection
from kafka_messages.protocol import ErrorCode

async def ask(servers, name="orders"):
    host, _, port = servers.split(",")[0].rpartition(":")
    async with await connect(host, int(port), connection=ClientConnection("billing")) as client:
        topic = MetadataRequest.MetadataRequestTopic(name=name)
        return (await client.request(MetadataRequest(topics=[topic]))).topics[0]
"""


@pytest.fixture(autouse=True)
def import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let other processes import what this one imports."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))


def run(pytester: pytest.Pytester, test: str, *options: str) -> pytest.RunResult:
    """Run a test file in another process, as pytester would import the modules of the kit twice in this one."""
    pytester.makepyfile(HEAD + test)
    return pytester.runpytest_subprocess(*PLUGIN, *options)


def test_cluster_is_configured_by_the_marker(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
@pytest.mark.kafka(brokers=3, topics={"orders": 4}, release="2.8", seed=1)
class TestOrders:
    def test_all(self, kafka_cluster):
        assert len(kafka_cluster.bootstrap_servers.split(",")) == 3
        assert len(asyncio.run(ask(kafka_cluster.bootstrap_servers)).partitions) == 4
        assert kafka_cluster.exchanges(MetadataRequest)[0].version == 11

    @pytest.mark.kafka(topics={"orders": 2})
    def test_closest_marker_wins(self, kafka_cluster):
        assert len(kafka_cluster.bootstrap_servers.split(",")) == 3
        assert len(asyncio.run(ask(kafka_cluster.bootstrap_servers)).partitions) == 2

def test_default(kafka_cluster):
    assert len(kafka_cluster.bootstrap_servers.split(",")) == 1
""",
        "--strict-markers",
    ).assert_outcomes(passed=3)


def test_the_marker_has_the_arguments_of_the_cluster_and_the_proxy(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
import inspect
from kafka_messages_testkit import KafkaCluster, KafkaProxy

GIVEN = {"brokers": 2, "topics": {"orders": 1}, "release": "3.9", "seed": 7, "max_exchange_bytes": 0}

@pytest.fixture
def kafka_bootstrap_servers(kafka_cluster):
    return kafka_cluster.bootstrap_servers

@pytest.mark.kafka(**GIVEN)
def test_it(kafka_cluster, kafka_proxy):
    assert set(GIVEN) == set(inspect.signature(KafkaCluster).parameters)
    asyncio.run(ask(kafka_proxy.bootstrap_servers))
    assert kafka_cluster.exchanges() == kafka_proxy.exchanges() == []
    of_both = set(GIVEN) & set(inspect.signature(KafkaProxy).parameters)
    assert of_both == {"seed", "max_exchange_bytes"}
""",
    ).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "broker=3",
            f"pytest.mark.kafka has no argument broker; its arguments are {ARGUMENTS}",
        ),
        (
            "3",
            f"pytest.mark.kafka has no argument 3; its arguments are {ARGUMENTS}",
        ),
        ("brokers=0", "pytest.mark.kafka: brokers must be a number from 1 on, not 0"),
        (
            "topics=['orders']",
            "pytest.mark.kafka: topics must map names to numbers of partitions, such as {'orders': 1}, not ['orders']",
        ),
        ("release=3.9", "pytest.mark.kafka: release must be str, such as '3.9', not 3.9"),
    ],
)
def test_invalid_marker_is_an_error_that_names_the_test(
    pytester: pytest.Pytester, arguments: str, message: str
) -> None:
    result = run(pytester, f"@pytest.mark.kafka({arguments})\ndef test_it(kafka_cluster): pass")
    result.assert_outcomes(errors=1)
    name = "test_invalid_marker_is_an_error_that_names_the_test.py::test_it"
    assert f"{name}: {message}" in result.outlines


def test_report_of_a_failed_test_has_the_exchanges(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.mark.kafka(topics={"orders": 1})
def test_it(kafka_cluster):
    kafka_cluster.on(MetadataRequest, topic="orders").fail(ErrorCode.LEADER_NOT_AVAILABLE)
    assert asyncio.run(ask(kafka_cluster.bootstrap_servers)).error_code == 0
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*- Kafka exchanges of kafka_cluster -*",
            "??:??:??.??? billing → node 1  ApiVersions v5  ok  *ms",
            "??:??:??.??? billing → node 1  Metadata v13    LEADER_NOT_AVAILABLE  rule: fail LEADER_NOT_AVAILABLE  * ms",
            "    → topics=[[]orders[]]",
            "    ← brokers=* topics=[[]orders LEADER_NOT_AVAILABLE[]]",
        ]
    )
    result.stdout.no_fnmatch_line("*RequestHeader*")


def test_option_explains_the_bytes(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_it(kafka_cluster):
    assert asyncio.run(ask(kafka_cluster.bootstrap_servers)).error_code == 0
""",
        "--kafka-explain",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["    request", "    MetadataRequest v13", "    0000  *frame_length*"])


def test_report_of_a_passed_test_has_no_exchanges(pytester: pytest.Pytester) -> None:
    result = run(pytester, "def test_it(kafka_cluster): asyncio.run(ask(kafka_cluster.bootstrap_servers))", "-rA")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*Kafka exchanges*")


def test_unused_rule_fails_the_test(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_it(kafka_cluster):
    kafka_cluster.on(MetadataRequest, topic="orders").fail(ErrorCode.LEADER_NOT_AVAILABLE)
""",
    )
    result.assert_outcomes(failed=1)  # and no error at teardown
    text = "<Rule on(MetadataRequest, topic='orders'): fail LEADER_NOT_AVAILABLE, 0 requests>"
    assert f"UnusedRuleError: unused: {text}; correct the arguments of on(), or pass optional=True" in result.outlines
    result.stdout.no_fnmatch_line("*--full-trace*")


def test_unused_rule_of_a_failed_test_is_not_reported(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_it(kafka_cluster):
    kafka_cluster.on(MetadataRequest).drop()
    assert False

def test_skipped(kafka_cluster):
    kafka_cluster.on(MetadataRequest).drop()
    pytest.skip("not today")
""",
    )
    result.assert_outcomes(failed=1, skipped=1)
    result.stdout.no_fnmatch_line("*UnusedRuleError*")


def test_exception_of_a_function_fails_the_test_with_its_traceback(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def answer(request):
    return 1 / 0

def test_it(kafka_cluster):
    kafka_cluster.on(MetadataRequest).respond(answer)
    with pytest.raises(ConnectionError):
        asyncio.run(ask(kafka_cluster.bootstrap_servers))
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([">       return 1 / 0", "E   *ZeroDivisionError: division by zero"])


@pytest.mark.parametrize("selector", ["when=check", "times=2"])
def test_pytest_fail_in_a_function_fails_the_test(pytester: pytest.Pytester, selector: str) -> None:
    result = run(
        pytester,
        f"""
def check(request):
    pytest.fail("must not ask")

def test_it(kafka_cluster):
    kafka_cluster.on(MetadataRequest, {selector}, optional=True).respond(check)
    with pytest.raises(ConnectionError):
        asyncio.run(ask(kafka_cluster.bootstrap_servers))

def test_exit(kafka_cluster):
    kafka_cluster.on(MetadataRequest).respond(lambda request: exit(3))
    with pytest.raises(ConnectionError):
        asyncio.run(ask(kafka_cluster.bootstrap_servers))
""",
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["E   *Failed: must not ask", "E   *SystemExit: 3"])


def test_exception_of_a_function_is_shown_beside_the_failure_it_caused(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def answer(request):
    return 1 / 0

def test_it(kafka_cluster):
    kafka_cluster.on(MetadataRequest).respond(answer)
    asyncio.run(ask(kafka_cluster.bootstrap_servers))
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *ConnectionError: *", "*- Kafka errors of kafka_cluster -*", "    return 1 / 0"])


def test_invalid_response_of_a_function_does_not_end_the_run(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
from kafka_messages import MetadataResponse

def answer(request):
    response = MetadataResponse()
    response.error_code = "5"
    return response

def test_it(kafka_cluster):
    kafka_cluster.on(MetadataRequest).respond(answer)
    with pytest.raises(ConnectionError):
        asyncio.run(ask(kafka_cluster.bootstrap_servers))

def test_other(): pass
""",
    )
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["E   *EncodeError: *error_code*", "*Metadata v13    no response  rule: respond*"])


def test_a_changed_exchange_does_not_end_the_run(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_it(kafka_cluster):
    asyncio.run(ask(kafka_cluster.bootstrap_servers))
    exchange = kafka_cluster.exchanges()[-1]
    exchange.response = exchange.response
    exchange.response.error_code = "5"
    assert False

def test_other(): pass
""",
    )
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["the exchanges cannot be printed: ValueError(*"])


def test_rules_may_be_used_by_fixtures_until_they_end(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
@pytest.fixture
def client(kafka_cluster):
    yield
    asyncio.run(ask(kafka_cluster.bootstrap_servers))

def test_it(client): pass
""",
    ).assert_outcomes(passed=1)


def test_exception_during_teardown_is_an_error(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.fixture
def client(kafka_cluster):
    yield
    kafka_cluster.on(MetadataRequest).respond(lambda request: 1 / 0)
    with pytest.raises(ConnectionError):
        asyncio.run(ask(kafka_cluster.bootstrap_servers))

def test_it(client): pass
""",
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["E   *ZeroDivisionError: division by zero"])


def test_test_that_raised_during_setup_has_one_error(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.fixture
def broken(kafka_cluster):
    kafka_cluster.on(MetadataRequest).drop()
    raise RuntimeError("broken")

def test_it(broken): pass
""",
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E   *RuntimeError: broken"])


PROXIED = """
def test_it(kafka_proxy):
    kafka_proxy.on(MetadataRequest).fail(ErrorCode.LEADER_NOT_AVAILABLE)
    assert asyncio.run(ask(kafka_proxy.bootstrap_servers)).error_code == ErrorCode.LEADER_NOT_AVAILABLE
    assert asyncio.run(ask(kafka_proxy.bootstrap_servers)).error_code == ErrorCode.NONE
"""


def test_proxy_takes_brokers_from_option_and_configuration_file(pytester: pytest.Pytester) -> None:
    with KafkaCluster(topics={"orders": 1}) as cluster:
        servers = cluster.bootstrap_servers
        run(pytester, PROXIED, f"--kafka-bootstrap-servers={servers}").assert_outcomes(passed=1)
        pytester.makeini(f"[pytest]\nkafka_bootstrap_servers = {servers}\n")
        run(pytester, PROXIED).assert_outcomes(passed=1)
        run(pytester, PROXIED, "--kafka-bootstrap-servers=127.0.0.1:1").assert_outcomes(failed=1)


def test_proxy_takes_brokers_from_a_fixture(pytester: pytest.Pytester) -> None:
    text = """
@pytest.fixture
def kafka_bootstrap_servers(kafka_cluster):
    return kafka_cluster.bootstrap_servers

@pytest.mark.kafka(topics={"orders": 1})
"""
    run(pytester, text + PROXIED.lstrip()).assert_outcomes(passed=1)
    failing = PROXIED.replace("ErrorCode.NONE", "ErrorCode.UNKNOWN_TOPIC_OR_PARTITION").lstrip()
    result = run(pytester, text + failing)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- Kafka exchanges of kafka_cluster -*", "*- Kafka exchanges of kafka_proxy -*"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            (),
            "kafka_proxy needs a broker: pass --kafka-bootstrap-servers=HOST:PORT, set kafka_bootstrap_servers in the "
            "configuration file, or define a fixture kafka_bootstrap_servers",
        ),
        (
            ("--kafka-bootstrap-servers=localhost",),
            "kafka_bootstrap_servers: bootstrap_servers has 'localhost'; expected addresses such as localhost:9092",
        ),
    ],
)
def test_missing_broker_of_the_proxy_is_an_error(
    pytester: pytest.Pytester, options: tuple[str, ...], message: str
) -> None:
    result = run(pytester, "def test_it(kafka_proxy): pass", *options)
    result.assert_outcomes(errors=1)
    assert message in result.outlines


def test_marker_and_fixtures_are_listed(pytester: pytest.Pytester) -> None:
    markers = run(pytester, "", "--markers")
    markers.stdout.fnmatch_lines(
        ["@pytest.mark.kafka(brokers, topics, release, seed, max_exchange_bytes): arguments of KafkaCluster; *"]
    )
    fixtures = run(pytester, "def test_it(): pass", "--fixtures")
    fixtures.stdout.fnmatch_lines(["kafka_cluster -- *", "kafka_proxy -- *", "kafka_bootstrap_servers *"])


def test_plugin_imports_no_other_module_of_ours() -> None:
    code = (
        "import sys, kafka_messages_testkit_plugin\n"
        "print(sorted(name for name in sys.modules if name.startswith('kafka_')), 'asyncio' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['kafka_messages_testkit_plugin'] False\n"


def test_pytest_rewrites_the_plugin_only(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an installed distribution with a plugin, pytest rewrites all modules (python/cpython#106905)."""
    installed = pytester.mkdir("site")
    (installed / "kit-1.dist-info").mkdir()
    names = "kafka_messages_testkit/__init__.py", "kafka_messages_testkit_plugin.py"
    files = {
        "METADATA": "Metadata-Version: 2.1\nName: kit\nVersion: 1\n",
        "RECORD": "".join(f"{name},,\n" for name in names),
        "entry_points.txt": "[pytest11]\nkafka_messages_testkit_plugin = kafka_messages_testkit_plugin\n",
    }
    for name, text in files.items():
        (installed / "kit-1.dist-info" / name).write_text(text)
    (installed / "kafka_messages_testkit").mkdir()
    for name in names:
        (installed / name).touch()  # behind the real ones on the path
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([os.environ["PYTHONPATH"], str(installed)]))
    pytester.makepyfile("""
import sys

def test_it(kafka_cluster):
    loaders = {n: type(m.__loader__).__name__ for n, m in sys.modules.items() if n.startswith("kafka_messages_testkit")}
    assert [n for n, loader in loaders.items() if "Rewriting" in loader] == ["kafka_messages_testkit_plugin"]
    assert len(loaders) > 20
""")
    pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest").assert_outcomes(passed=1)


def test_import_of_the_kit_imports_no_message() -> None:
    """Message classes would take most of the 300 ms that the import may cost."""
    code = (
        "import sys\nfrom kafka_messages_testkit import *\n"
        "print([name for name in sys.modules if name.startswith('kafka_messages.messages.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_each_api_has_a_handler_for_its_request() -> None:
    found = handlers()
    assert sorted(api(each).name for each in found) == sorted(name for names in FAMILIES.values() for name in names)
    for request, handler in found.items():
        assert inspect.iscoroutinefunction(handler)
        assert handler.__annotations__["request"] == request.__name__
