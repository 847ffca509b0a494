"""Broken settings and their expected problems."""

from __future__ import annotations

import json
from collections.abc import Mapping

from kafka_message_generator.spec.components import OPTIONAL
from tests.support.specs import field, message

A = field("A", about="A number.")
ASK = message(A, name="AskRequest", type="request", apiKey=1)
ANSWER = message(A, name="AskResponse", type="response", apiKey=1)
KEY = message(field("A"), name="EntryKey", type="coordinator-key", apiKey=1, validVersions="0", flexibleVersions="none")
NONE = "none of"
KNOWN = "expected one of definitions, internal-topics, package, protocol"
NAME = "must be a lower-case letter, then lower-case letters, digits and underscores"
FILE = "is not the name of a file next to package.toml; use letters, digits, dots, dashes, underscores"
NEEDS = "the component protocol requires the messages RequestHeader and ResponseHeader of type header"
REMEDY = 'define them, or write headers = "kafka" below [protocol] in package.toml'
WRITTEN = "is a file that the generator writes or build tools read; choose another name"
PACKAGE = "[package]\n"


class Case:
    """Files next to the definition ``Probe``, and every expected problem as printed."""

    def __init__(self, name: str, settings: str, *lines: str, files: Mapping[str, object] | None = None) -> None:
        self.name, self.settings = name, settings
        self.files = {each: text if isinstance(text, str) else json.dumps(text) for each, text in (files or {}).items()}
        self.lines = [line if line.partition(":")[0] in self.files else f"package.toml:{line}" for line in lines]


def of_package(name: str, line: str, problem: str) -> Case:
    """Return a case with one invalid line in ``[package]``."""
    return Case(name, PACKAGE + line, f"2: $.package.{line.partition(' =')[0]}: {problem}")


def header(name: str, *fields: object, **more: object) -> Mapping[str, object]:
    return {**message(**{"name": name, "type": "header", "validVersions": "0-2"} | more), "fields": list(fields)}


API_KEY, API_VERSION, ID = (
    *(field(f"RequestApi{name}", "int16") for name in ("Key", "Version")),
    field("CorrelationId"),
)
CLIENT = field("ClientId", "string", nullableVersions="0+")
ANSWERS = header("ResponseHeader", ID)
TYPES = (
    ("a number", "name", "1", "expected a string, found number 1"),
    ("a boolean", "version", "true", "expected a string, found boolean True"),
    ("an array", "license", "['x']", "expected a string, found array ['x']"),
    ("a table", "description", "{ a = 1 }", "expected a string, found table {'a': 1}"),
    ("infinity", "readme", "inf", "expected a string, found number inf"),
    ("a text for an array", "license-files", "'LICENSE'", "expected an array, found string 'LICENSE'"),
    ("a table for an array", "authors", "{ name = 'A' }", "expected an array, found table {'name': 'A'}"),
    ("an array for a table", "urls", "[]", "expected a table, found array []"),
    ("a date", "version", "2026-01-02", "expected a string, found the date or time 2026-01-02; put it in quotes"),
)
TEXTS = (
    ("no name", "name", "", "must be ASCII letters, digits, and dots, dashes or underscores between them"),
    (
        "a name with blanks",
        "name",
        "a b",
        "must be ASCII letters, digits, and dots, dashes or underscores between them",
    ),
    (
        "a name that ends in a dash",
        "name",
        "a-",
        "must be ASCII letters, digits, and dots, dashes or underscores between them",
    ),
)
# All keys, as in docs/own-package.md.
SOUND = """
[package]
name = "acme-asks"
import-name = "acme_asks"
version = "1.2.0"
description = "What our machines ask each other"
license = "Apache-2.0 OR LicenseRef-Ours"
license-files = ["LICENSE"]
readme = "LICENSE"
requires-python = ">=3.12"
classifiers = ["Topic :: System :: Networking"]
components = ["protocol", "internal_topics", "arrow", "secrets"]
authors = [{ name = "Ada", email = "ada@example.org" }, { name = "Bob" }, { email = "eve@example.org" }]
[package.urls]
Source = "https://example.org/asks"
[protocol]
headers = "kafka"
one-way = ["TellRequest"]
[internal-topics.logs]
__entries = "."
[definitions]
accepted-warnings = []
older = []
"""
TELL = message(field("A"), name="TellRequest", type="request", apiKey=2)

CASES = [
    Case(
        "nothing wrong",
        SOUND,
        files={"LICENSE": "Ours.", "Ask.json": ASK, "Answer.json": ANSWER, "Tell.json": TELL, "Key.json": KEY},
    ),
    Case("invalid TOML", "[package]\nname = \n", "2: $: not TOML: invalid value"),
    Case("no end", '[package]\nname = """a\nb\n', "3: $: not TOML: unterminated string"),
    Case("twice", "[package]\nname = 'a'\nname = 'b'\n", "3: $: not TOML: cannot overwrite a value"),
    Case("JSON", '{"package": {}}', "1: $: not TOML: invalid statement"),
    Case("too deep", f"a = {'[' * 5000}", "1: $: not TOML: nested too deeply"),
    Case(
        "number too long",
        f"a = {'9' * 5000}",
        "1: $: not TOML: exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits; "
        "use sys.set_int_max_str_digits() to increase the limit",
    ),
    Case("a table unknown", "[tool]\n", f"1: $.tool: unknown property 'tool' of package.toml; {KNOWN}"),
    Case(
        "a table misspelt",
        "\n[pakage]\n",
        "2: $.pakage: unknown property 'pakage' of package.toml; did you mean package?",
    ),
    Case(
        "misspelt key is treated as the suggested one",
        "[package]\ncomponents = ['protocol']\n[protocol]\nhedaers = 'kafka'\n",
        "4: $.protocol.hedaers: unknown property 'hedaers' of the table protocol of package.toml; did you mean headers?",
        files={"Ask.json": ASK, "Answer.json": ANSWER},
    ),
    Case(
        "consequences of an unreadable definition",
        "[package]\ncomponents = ['protocol', 'internal_topics']\n[protocol]\none-way = ['TellRequest']\n"
        "[internal-topics.logs]\nlog = 'logs'\n[definitions]\naccepted-warnings = ['TellRequest.json']\n",
        "TellRequest.json:1: $: the file is empty; a definition must be one JSON object",
        "logs/EntryKey.json:1: $: the file is empty; a definition must be one JSON object",
        "TypeRequest.json:1: $.apiKey: expected an int16, found string 'x'",
        files={
            "TellRequest.json": "",
            "logs/EntryKey.json": "",
            "TellResponse.json": message(field("A"), name="TellResponse", type="response", apiKey=3),
            "TypeRequest.json": message(field("A"), name="TypeRequest", type="request", apiKey="x"),
            "TypeResponse.json": message(field("A"), name="TypeResponse", type="response", apiKey=4),
        },
    ),
    Case("keys without a table", "name = 'a'", f"1: $.name: unknown property 'name' of package.toml; {KNOWN}"),
    Case("no table", "package = 'a'", "1: $.package: expected a table, found string 'a'"),
    Case(
        "an array of tables", "[[package]]\nname = 'a'\n", "1: $.package: expected a table, found array [{'name': 'a'}]"
    ),
    Case(
        "a key misspelt",
        "[protocol]\n# one of two\noneway = []\n",
        "3: $.protocol.oneway: unknown property 'oneway' of the table protocol of package.toml; did you mean one-way?",
    ),
    Case(
        "mistakes without their consequences",
        "[protcol]\nheader = 'kafka'\noneway = ['TellRequest']\n",
        "1: $.protcol: unknown property 'protcol' of package.toml; did you mean protocol?",
        "2: $.protcol.header: unknown property 'header' of the table protocol of package.toml; did you mean headers?",
        "3: $.protcol.oneway: unknown property 'oneway' of the table protocol of package.toml; did you mean one-way?",
        files={"Tell.json": TELL},
    ),
    Case(
        "key with a newline",
        '[package]\n"a\\nb" = 1\n',
        "2: $.package.a\\nb: unknown property 'a\\nb' of the table package of package.toml; expected one of authors, "
        "classifiers, components, description, import-name, license, license-files, name, readme, "
        "requires-python, urls, version",
    ),
    *(of_package(name, f"{key} = {text}", problem) for name, key, text, problem in TYPES),
    *(
        of_package(name, f"{key} = '{text}'", f"distribution name '{text}' {problem}")
        for name, key, text, problem in TEXTS
    ),
    of_package("an import name with a dash", "import-name = 'a-b'", f"package name 'a-b' {NAME}"),
    of_package("no import name", "import-name = ''", f"package name '' {NAME}"),
    of_package("a keyword", "import-name = 'class'", "package name 'class' is a Python keyword; choose another"),
    of_package(
        "a device of Windows",
        "import-name = 'con'",
        "package name 'con' is a reserved device name of Windows; choose another",
    ),
    of_package(
        "a module of Python", "import-name = 'json'", "package name 'json' is a standard library module; choose another"
    ),
    *(
        of_package(
            f"version {text!r}",
            f"version = '{text}'",
            f"version {text!r} is not a version of a Python package; write for example 1.0.0",
        )
        for text in ("", "one", "1.0 ", "9" * 5000)
    ),
    *(
        of_package(f"description {text!r}", f"description = {json.dumps(text)}", f"{text!r} must be one line of text")
        for text in ("", "  ", "a\nb")
    ),
    *(
        of_package(
            f"program {text!r}",
            f"program = '{text}'",
            "unknown property 'program' of the table package of package.toml; expected one of authors, classifiers, "
            "components, description, import-name, license, license-files, name, readme, requires-python, urls, version",
        )
        for text in ("asks", "python", "../asks")
    ),
    of_package(
        "no license",
        "license = 'Mine'",
        "license 'Mine' is not an SPDX expression; write for example Apache-2.0 or LicenseRef-Proprietary",
    ),
    *(
        of_package(
            f"range {text!r}",
            f"requires-python = '{text}'",
            f"requires-python {text!r} allows Python {old}, but generated code needs 3.11",
        )
        for text, old in (("", "2.7"), (">=3.10", "3.10"), (">=3.9,!=3.10", "3.9"), (">3.10", "3.10.99"), ("<4", "2.7"))
    ),
    of_package(
        "no range",
        "requires-python = '3.11'",
        "requires-python '3.11' is not a version specifier; write for example >=3.11",
    ),
    *(
        Case(
            f"license file {name!r}",
            f"[package]\nlicense-files = [\n'{name}']\n",
            f"2: $.package.license-files[0]: {name!r} {FILE}",
        )
        for name in ("../LICENSE", "/LICENSE", "texts/LICENSE", "", ".", "LICEN[CS]E*")
    ),
    *(
        Case(
            f"license file {name!r}",
            f"[package]\nlicense-files = ['{name}']\n",
            f"2: $.package.license-files[0]: {name!r} {WRITTEN}",
        )
        for name in ("pyproject.toml", "README.md", "readme.MD", "MANIFEST", "setup.py", "src")
    ),
    Case(
        "license file missing",
        "[package]\nlicense-files = ['LICENSE', 1]\n",
        "2: $.package.license-files[0]: there is no file 'LICENSE' next to package.toml; add it, or remove its name",
        "2: $.package.license-files[1]: expected a string, found number 1",
    ),
    Case(
        "license file twice",
        "[package]\nlicense-files = ['LICENSE', 'LICENSE']\n",
        "2: $.package.license-files[1]: license-files has 'LICENSE' twice; remove one",
        files={"LICENSE": "Ours."},
    ),
    of_package("readme outside", "readme = '../README.md'", f"'../README.md' {FILE}"),
    Case(
        "authors",
        "[[package.authors]]\nname = ''\n[[package.authors]]\nemail = 'me'\n[[package.authors]]\n"
        "[[package.authors]]\nname = 5\nmail = 'me@example.org'\n",
        "2: $.package.authors[0].name: '' must be one line of text",
        "4: $.package.authors[1].email: 'me' is not an e-mail address; write for example me@example.org",
        "5: $.package.authors[2]: an author needs a name or an email",
        "7: $.package.authors[3].name: expected a string, found number 5",
        "8: $.package.authors[3].mail: unknown property 'mail' of an author; did you mean email?",
    ),
    Case("an author", "[package]\nauthors = ['Me']\n", "2: $.package.authors[0]: expected a table, found string 'Me'"),
    Case(
        "links",
        f"[package.urls]\nSource = 'example.org'\n'' = 'https://a'\n'{'x' * 33}' = 'https://b'\nHome = 1\n",
        "2: $.package.urls.Source: 'example.org' is not a link; write for example https://example.org",
        "3: $.package.urls.: '' is not a link label; write one or two words of at most 32 characters",
        f"4: $.package.urls.{'x' * 33}: '{'x' * 33}' is not a link label; write one or two words of at most 32 characters",
        "5: $.package.urls.Home: expected a string, found number 1",
    ),
    Case(
        "classifiers",
        "[package]\nclassifiers = ['License :: OSI Approved', 'Beta', 'A :: B', 'A :: B']\n",
        "2: $.package.classifiers[0]: classifier 'License :: OSI Approved' repeats the key license; remove it",
        "2: $.package.classifiers[1]: 'Beta' is not a classifier; write for example Development Status :: 4 - Beta",
        "2: $.package.classifiers[3]: classifiers has 'A :: B' twice; remove one",
    ),
    Case(
        "a history without other releases",
        "[package]\ncomponents = ['history']\n",
        "2: $.package.components: the component history requires older releases, and package.toml lists "
        "none; write older = [...] below [definitions], or remove it",
    ),
    Case(
        "components",
        "[package]\ncomponents = ['schema', 'arow', 'x', 'capture', 'protocol', 'internal_topics']\n",
        "2: $.package.components: the component protocol requires messages of type request, response, but "
        "there are none; remove it",
        "2: $.package.components: the component internal_topics requires messages of type coordinator-key, "
        "coordinator-value, metadata, but there are none; remove it",
        "2: $.package.components[0]: the component schema is in every package; remove it",
        "2: $.package.components[1]: unknown component 'arow'; did you mean arrow?",
        f"2: $.package.components[2]: unknown component 'x'; expected one of {', '.join(OPTIONAL)}",
        "2: $.package.components[3]: capture is no longer a component; remove it, and "
        "install kafka-messages-tools (README.md)",
    ),
    Case(
        "components that are separate distributions",
        "[package]\ncomponents = ['batches', 'segments']\n",
        "2: $.package.components[0]: batches is no longer a component; remove it, and install "
        "kafka-records (README.md)",
        "2: $.package.components[1]: segments is no longer a component; remove it, and install "
        "kafka-records (README.md)",
    ),
    Case(
        "no headers",
        "[package]\ncomponents = ['protocol']\n",
        f"2: $.package.components: {NEEDS}; {REMEDY}",
        files={"Ask.json": ASK, "Answer.json": ANSWER},
    ),
    Case(
        "headers of another type",
        "[package]\ncomponents = ['protocol']\n",
        f"2: $.package.components: {NEEDS}; {REMEDY}",
        files={
            "Ask.json": ASK,
            "Answer.json": ANSWER,
            "RequestHeader.json": {**header("RequestHeader", API_KEY, API_VERSION, ID, CLIENT), "type": "data"},
            "ResponseHeader.json": ANSWERS,
        },
    ),
    Case(
        "headers unknown",
        "[protocol]\nheaders = 'kafkas'\n",
        "2: $.protocol.headers: unknown headers 'kafkas'; did you mean kafka?",
    ),
    Case(
        "headers is a number", "[protocol]\nheaders = 1\n", "2: $.protocol.headers: expected a string, found number 1"
    ),
    Case(
        "headers twice",
        "[protocol]\nheaders = 'kafka'\n",
        'ResponseHeader.json:1: $.name: ResponseHeader is defined here, but package.toml says headers = "kafka"; '
        "remove the definition or the setting",
        files={"Ask.json": ASK, "Answer.json": ANSWER, "ResponseHeader.json": ANSWERS},
    ),
    Case(
        "headers with other fields",
        "",
        "RequestHeader.json:1: $.fields: RequestHeader needs a field ClientId of type string, which every "
        "message header has",
        "RequestHeader.json:1: $.fields[0]: CorrelationId must be field 3 of RequestHeader, in all its versions and "
        "without a tag: the field is read before the version of the header is known",
        "RequestHeader.json:1: $.fields[1].type: RequestHeader needs a field RequestApiKey of type int16, which every "
        "message header has",
        "RequestHeader.json:1: $.fields[2]: RequestApiVersion must be field 2 of RequestHeader, in all its versions and "
        "without a tag: the field is read before the version of the header is known",
        files={
            "RequestHeader.json": header(
                "RequestHeader", ID, {**API_KEY, "type": "int32"}, {**API_VERSION, "versions": "1+"}
            ),
            "ResponseHeader.json": ANSWERS,
        },
    ),
    Case(
        "headers with other versions",
        "",
        "RequestHeader.json:1: $.validVersions: RequestHeader has no version 2, which AskRequest needs; add it, "
        "or declare headerVersions in AskRequest",
        "ResponseHeader.json:1: $.validVersions: ResponseHeader has no version 0, which AskResponse needs; add "
        "it, or declare headerVersions in AskResponse",
        files={
            "Ask.json": ASK,
            "Answer.json": ANSWER,
            "RequestHeader.json": header("RequestHeader", API_KEY, API_VERSION, ID, CLIENT, validVersions="0-1"),
            "ResponseHeader.json": header("ResponseHeader", ID, validVersions="1"),
        },
    ),
    Case(
        "declared header version that the header lacks",
        "",
        "Ask.json:1: $.headerVersions: RequestHeader has no version 3, which AskRequest names for 7+; change it, or "
        "add the version to RequestHeader",
        files={
            "Ask.json": {**ASK, "headerVersions": {"7+": "3", "0-6": "2"}},
            "Answer.json": ANSWER,
            "RequestHeader.json": header("RequestHeader", API_KEY, API_VERSION, ID, CLIENT, validVersions="1-2"),
            "ResponseHeader.json": ANSWERS,
        },
    ),
    Case(
        "invalid header versions",
        "",
        "Ask.json:1: $.headerVersions: headerVersions maps 0+ to 'x'; a header version is a number below 10000",
        files={
            "Ask.json": {**ASK, "headerVersions": {"0+": "x"}},
            "Answer.json": ANSWER,
            "RequestHeader.json": header("RequestHeader", API_KEY, API_VERSION, ID, CLIENT),
            "ResponseHeader.json": ANSWERS,
        },
    ),
    Case(
        "one-way",
        "[protocol]\nheaders = 'kafka'\none-way = ['AskRequest', 'Probe', 'AskRequest']\n",
        "3: $.protocol.one-way: one-way lists AskRequest, which has the response AskResponse; remove it",
        "3: $.protocol.one-way: one-way lists Probe, which is not a request; remove it",
        "3: $.protocol.one-way[2]: one-way has 'AskRequest' twice; remove one",
        files={"Ask.json": ASK, "Answer.json": ANSWER},
    ),
    Case(
        "misspelt one-way is treated as the suggestion",
        "[protocol]\none-way = ['TelRequest']\n",
        "2: $.protocol.one-way: one-way lists TelRequest, which is not a request; did you mean TellRequest?",
        files={"Tell.json": TELL},
    ),
    Case(
        "consequences of invalid TOML",
        "[package]\ncomponents = ['protocol']\nname = \n[protocol]\none-way = ['TellRequest']\n",
        "3: $: not TOML: invalid value",
        files={"Tell.json": TELL},
    ),
    Case(
        "consequences of an invalid table",
        "[package]\ncomponents = ['protocol']\n[[protocol]]\none-way = ['TellRequest']\n",
        "3: $.protocol: expected a table, found array [{'one-way': ['TellRequest']}]",
        files={"Tell.json": TELL},
    ),
    Case(
        "consequences of values of another type",
        "[package]\ncomponents = ['protocol']\n[protocol]\nheaders = ['kafka']\none-way = 'TellRequest'\n",
        "4: $.protocol.headers: expected a string, found array ['kafka']",
        "5: $.protocol.one-way: expected an array, found string 'TellRequest'",
        files={"Tell.json": TELL},
    ),
    Case(
        "consequences of an element of another type",
        "[package]\ncomponents = ['protocol']\n[protocol]\nheaders = 'kafkas'\none-way = [7]\n",
        "4: $.protocol.headers: unknown headers 'kafkas'; did you mean kafka?",
        "5: $.protocol.one-way[0]: expected a string, found number 7",
        files={"Tell.json": TELL},
    ),
    Case(
        "flexible body with a header that is not flexible",
        "[protocol]\nheaders = 'kafka'\n",
        "Answer.json:1: $.headerVersions: AskResponse is flexible in 2+, but ResponseHeader 0 is not; declare a "
        "flexible header for these versions",
        "Ask.json:1: $.headerVersions: AskRequest is flexible in 1+, but RequestHeader 1 is not; declare a flexible "
        "header for these versions",
        files={
            "Ask.json": {**ASK, "flexibleVersions": "1+", "headerVersions": {"0+": "1"}},
            "Answer.json": {**ANSWER, "flexibleVersions": "2+", "headerVersions": {"0+": "0"}},
        },
    ),
    Case(
        "ApiVersionsResponse with another header than 0",
        "[protocol]\nheaders = 'kafka'\n",
        "Answer.json:1: $.headerVersions: ApiVersionsResponse has header 1 in 2+, but clients read it before they "
        "know versions; give it header 0 in all versions",
        files={
            "Ask.json": {**ASK, "name": "ApiVersionsRequest"},
            "Answer.json": {**ANSWER, "name": "ApiVersionsResponse", "headerVersions": {"2+": "1", "0-1": "0"}},
        },
    ),
    Case(
        "header versions of later bodies",
        "[protocol]\nheaders = 'kafka'\n",
        "Answer.json:1: $.headerVersions: ApiVersionsResponse has header 1 in 4+, but clients read it before they "
        "know versions; give it header 0 in all versions",
        "Ask.json:1: $.headerVersions: Kafka's RequestHeader has versions 1-2, not 9; declare another in "
        "headerVersions of ApiVersionsRequest",
        files={
            "Ask.json": {**ASK, "name": "ApiVersionsRequest", "headerVersions": {"0-1": "1", "2-3": "2", "4+": "9"}},
            "Answer.json": {**ANSWER, "name": "ApiVersionsResponse", "headerVersions": {"4+": "1", "0-3": "0"}},
        },
    ),
    Case(
        "versions unknown to Kafka's headers",
        "[protocol]\nheaders = 'kafka'\n",
        "Answer.json:1: $.headerVersions: Kafka's ResponseHeader has versions 0-1, not 5; declare another in "
        "headerVersions of AskResponse",
        "Ask.json:1: $.headerVersions: Kafka's RequestHeader has versions 1-2, not 0; declare another in "
        "headerVersions of AskRequest",
        files={
            "Ask.json": {**ASK, "headerVersions": {"0+": "0"}},
            "Answer.json": {**ANSWER, "headerVersions": {"0+": "5"}},
        },
    ),
    Case(
        "accepted warnings",
        "[definitions]\naccepted-warnings = ['Probe.json']\n",
        "2: $.definitions.accepted-warnings: accepted-warnings lists 'Probe.json', which has no warning; remove it",
    ),
    Case(
        "logs",
        "[internal-topics.logs]\n__a = 'b'\n'a b' = '.'\n__c = ''\n__d = '.'\n",
        "1: $.internal-topics.logs: the log __a has records in the folder 'b', which has no definitions; expected one of .",
        "3: $.internal-topics.logs.a b: 'a b' is not a topic name; use up to 249 ASCII letters, digits, dots, dashes and "
        "underscores",
        "4: $.internal-topics.logs.__c: '' must be one line of text",
        files={"Key.json": KEY},
    ),
    *(
        Case(
            f"version {own} of release {release}",
            f"[package]\nversion = '{own}'\n",
            f"2: $.package.version: version {own} does not match the release {release} in SOURCE; write for "
            "example 4.4.0.1",
            files={"SOURCE": {"release": release}},
        )
        for own, release in (("4.5.0.1", "4.4.0"), ("4.4", "4.4.0-rc1"), ("1!4.4.1", "4.4.0"))
    ),
    Case(
        "invalid release",
        "[package]\nversion = '1.0'\n",
        "SOURCE:1: $.release: release '4.x' cannot be the version of a package; write for example 4.4.0 or 4.4.0-rc1",
        files={"SOURCE": {"release": "4.x"}},
    ),
]
