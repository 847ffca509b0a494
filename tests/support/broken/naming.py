"""Cases for names reserved in Python, and for rules about whole messages."""

# ruff: noqa: E501 -- each expected line is whole, as a user reads it

from __future__ import annotations

from tests.support.broken.case import ASK, Case, common, request, response, sub
from tests.support.specs import field, text

NAMES: tuple[Case, ...] = (
    Case(
        "message is lower case",
        text(name="probe"),
        "1: $.name: probe becomes a class, so its first letter must be a capital",
    ),
    Case(
        "message takes a name of modules",
        text(name="UUID"),
        "1: $.name: UUID is reserved in generated modules; rename it",
    ),
    Case("message is a keyword", text(name="None"), "1: $.name: None is reserved in generated modules; rename it"),
    Case(
        "message is a keyword as a module",
        text(name="Class"),
        "1: $.name: message Class would be the module class, a Python keyword; rename it",
    ),
    *(
        Case(
            f"message {name} would be a file that Windows cannot store",
            text(name=name),
            f"1: $.name: message {name} would be the module {name.lower()}, a reserved device name of Windows; "
            "rename it",
        )
        for name in ("Con", "Aux", "Nul", "Prn", "Com1", "Lpt9")
    ),
    Case(
        "struct takes a name of modules",
        text(sub("A", field("X"), type="Message")),
        "2: $.fields[0].type: Message is reserved in generated modules; rename it",
    ),
    Case(
        "empty struct takes a name of modules",
        text(sub("A", type="UUID"), field("B", "Struct"), commonStructs=[common("Struct")]),
        "1: $.commonStructs[0]: Struct is reserved in generated modules; rename it",
        "2: $.fields[0].type: UUID is reserved in generated modules; rename it",
    ),
    Case(
        "message takes a name of the package",
        text(sub("A", field("X"), type="EncodeError"), name="DecodeError"),
        "1: $.name: DecodeError is a name that the generated package exports; rename the message",
    ),
    Case(
        "struct is no identifier",
        text(sub("A", field("X"), type="A²"), sub("B", field("X"), type="\u212b")),
        "2: $.fields[0].type: 'A²' cannot be the name of a Python class; use ASCII letters and digits",
        "3: $.fields[1].type: '\u212b' cannot be the name of a Python class; use ASCII letters and digits",
    ),
    Case(
        "structs fold",
        text(sub("A", field("X"), type="ABc"), sub("B", field("X"), type="Abc")),
        "3: $.fields[1].type: ABc and Abc would both define functions for abc in Python; rename one",
    ),
    Case(
        "struct folds like the message",
        text(sub("A", field("X"), type="PRobe")),
        "2: $.fields[0].type: Probe and PRobe would both define functions for probe in Python; rename one",
    ),
    Case(
        "struct is called like the functions of arrays",
        text(sub("A", field("X"), type="AllTopic"), sub("B", field("X"), type="[]Topic")),
        "3: $.fields[1].type: AllTopic and Topic would both define functions for all_topic in Python; rename one",
    ),
    Case(
        "struct is called like the functions of tags",
        text(
            field("T", versions="2+", tag=0, taggedVersions="2+"),
            sub("A", field("X"), type="TagsProbe"),
            sub("B", field("X"), type="OptionalProbe"),
        ),
        "3: $.fields[1].type: Probe and TagsProbe would both define functions for tags_probe in Python; rename one",
    ),
    Case(
        "struct is called like a collection",
        text(sub("A", field("X", mapKey=True), type="[]Sub"), sub("B", type="SubCollection")),
        "3: $.fields[1].type: SubCollection is also the name of the generated class for arrays of Sub; rename one",
    ),
    Case(
        "collection takes a name of modules",
        text(sub("A", field("X", mapKey=True), type="[]Keyed")),
        "2: $.fields[0].type: the class for arrays of Keyed would be KeyedCollection, a name reserved in generated modules; rename Keyed",
    ),
    Case(
        "field is self",
        text(field("Self"), field("Isinstance"), field("ElementsOf")),
        "2: $.fields[0].name: field Self would be self in Python, which is reserved there; rename it",
        "3: $.fields[1].name: field Isinstance would be isinstance in Python, which is reserved there; rename it",
        "4: $.fields[2].name: field ElementsOf would be elements_of in Python, which is reserved there; rename it",
    ),
    Case(
        "field names fold in JSON",
        text(field("ABc"), field("aBc")),
        "3: $.fields[1].name: in Probe, fields ABc and aBc are both aBc in JSON; rename one",
    ),
    Case(
        "common struct is lower case",
        text(commonStructs=[common("sub")]),
        "1: $.commonStructs[0]: sub becomes a class, so its first letter must be a capital",
        "1: $.commonStructs[0]: warning: common struct sub is never used",
    ),
    Case(
        "field name twice",
        text(field("A"), field("A", "int8")),
        "3: $.fields[1].name: in Probe, field name A is used twice; field names must be unique",
    ),
    Case(
        "field names fold",
        text(field("Abc"), field("abc"), field("ABC")),
        "3: $.fields[1].name: in Probe, fields Abc and abc are both abc in Python; rename one",
        "4: $.fields[2].name: in Probe, fields Abc and ABC are both abc in Python; rename one",
    ),
    Case(
        "field names fold in structs",
        text(
            sub("A", field("X"), field("x")), field("B", "Com"), commonStructs=[common("Com", field("Y"), field("Y"))]
        ),
        "1: $.commonStructs[0].fields[1].name: in Com, field name Y is used twice; field names must be unique",
        "2: $.fields[0].fields[1].name: in Sub, fields X and x are both x in Python; rename one",
    ),
    Case(
        "field is a keyword",
        text(field("From"), field("Class")),
        "2: $.fields[0].name: field From would be from in Python, which is reserved there; rename it",
        "3: $.fields[1].name: field Class would be class in Python, which is reserved there; rename it",
    ),
    Case(
        "field hides a builtin",
        text(field("Bytes"), field("List")),
        "2: $.fields[0].name: field Bytes would be bytes in Python, which is reserved there; rename it",
        "3: $.fields[1].name: field List would be list in Python, which is reserved there; rename it",
    ),
    Case(
        "field hides a method",
        text(field("Write"), field("readFrom")),
        "2: $.fields[0].name: field Write would be write in Python, which is reserved there; rename it",
        "3: $.fields[1].name: field readFrom would be read_from in Python, which is reserved there; rename it",
    ),
    Case(
        "field is unknownTaggedFields",
        text(field("UnknownTaggedFields"), sub("S", field("unknownTaggedFields"))),
        "2: $.fields[0].name: field UnknownTaggedFields would be unknown_tagged_fields in Python, which is reserved there; rename it",
        "3: $.fields[1].fields[0].name: field unknownTaggedFields would be unknown_tagged_fields in Python, which is reserved there; rename it",
    ),
)

MESSAGES: tuple[Case, ...] = (
    Case(
        "validVersions open-ended",
        text(validVersions="0+"),
        "1: $.validVersions: message Probe has validVersions 0+, which has no highest version; write for example 0-3",
    ),
    Case(
        "flexibleVersions closed",
        text(flexibleVersions="2-3"),
        "1: $.flexibleVersions: message Probe has flexibleVersions 2-3; they must be none or open-ended, like 2+",
    ),
    Case(
        "deprecatedVersions outside",
        text(validVersions="2-3", deprecatedVersions="0-1"),
        "1: $.deprecatedVersions: warning: deprecatedVersions 0-1 are not all in validVersions 2-3; narrow them",
    ),
    Case(
        "deprecatedVersions above",
        text(deprecatedVersions="7"),
        "1: $.deprecatedVersions: warning: deprecatedVersions 7 are not all in validVersions 0-3; narrow them",
    ),
    Case(
        "flexibleVersions above",
        text(flexibleVersions="4+"),
        "1: $.flexibleVersions: warning: message Probe has flexibleVersions 4+, but validVersions 0-3; no version is flexible",
    ),
    Case(
        "listeners on data",
        text(listeners=["broker"]),
        "1: $.listeners: message Probe has type data, but listeners belong to requests; remove them",
    ),
    Case(
        "latestVersionUnstable on data",
        text(latestVersionUnstable=True),
        "1: $.latestVersionUnstable: message Probe has type data, but latestVersionUnstable belongs to requests; remove it",
    ),
    Case(
        "coordinator-key",
        text(name="Probe", type="coordinator-key"),
        "1: $: coordinator-key Probe has no apiKey; add the type of the record",
        "1: $.flexibleVersions: coordinator-key Probe cannot have flexibleVersions; write none",
        "1: $.name: coordinator-key Probe must have a name that ends in Key",
        "1: $.validVersions: coordinator-key Probe has validVersions 0-3; a key must have only version 0",
    ),
    Case(
        "coordinator-value",
        text(name="Probe", type="coordinator-value"),
        "1: $: coordinator-value Probe has no apiKey; add the type of the record",
        "1: $.name: coordinator-value Probe must have a name that ends in Value",
    ),
    Case(
        "headerVersions on data",
        text(headerVersions={"0+": 1}),
        "1: $.headerVersions: message Probe has type data, but headerVersions belong to requests and responses; remove them",
    ),
    Case(
        "headerVersions empty",
        text(**ASK, headerVersions={}),
        "1: $.headerVersions: headerVersions is empty; remove it or map every version to a header version",
    ),
    Case(
        "headerVersions no range",
        text(**ASK, headerVersions={"x": 1}),
        "1: $.headerVersions: 'x' is not a version range; write none, N, N-M or N+ (for example 0-3 or 2+)",
    ),
    Case(
        "headerVersions no number",
        text(**ASK, headerVersions={"0+": "one"}),
        "1: $.headerVersions: headerVersions maps 0+ to 'one'; a header version is a number below 10000",
    ),
    Case(
        "headerVersions gap",
        text(**ASK, headerVersions={"0": 0, "2+": 1}),
        "1: $.headerVersions: headerVersions has no range for 1; add it, because every version needs one",
    ),
    Case(
        "headerVersions not from 0",
        text(**ASK, headerVersions={"2+": 1}),
        "1: $.headerVersions: headerVersions has no range for 0-1; add it, because every version needs one",
    ),
    Case(
        "headerVersions overlap",
        text(**ASK, headerVersions={"3+": 2, "0-5": 1}),
        "1: $.headerVersions: headerVersions has overlapping ranges 0-5 and 3+; give each version one header",
    ),
    Case(
        "headerVersions of ApiVersionsResponse",
        text(name="ApiVersionsResponse", type="response", headerVersions={"0-5": 0, "6+": 1}),
        "1: $.headerVersions: ApiVersionsResponse has header 1 in 6+, but clients read it before they know versions; "
        "give it header 0 in all versions",
    ),
    Case(
        "headerVersions with an empty range",
        text(**ASK, headerVersions={"none": 1, "0+": 1}),
        "1: $.headerVersions: headerVersions has the range none, which is empty; remove it",
    ),
    Case(
        "headerVersions in any order, and above the valid versions",
        text(**ASK, headerVersions={"4+": 2, "0-1": 1, "2-3": 1}),
    ),
    Case(
        "headerVersions decreasing",
        text(**ASK, headerVersions={"0-1": "3", "2+": "2"}),
        "1: $.headerVersions: headerVersions decrease from 3 for 0-1 to 2 for 2+; header versions must not decrease as "
        "versions increase",
    ),
    Case(
        "headerVersions decreasing in any order, twice",
        text(**ASK, headerVersions={"4+": 0, "0-1": 10, "2-3": 9}),
        "1: $.headerVersions: headerVersions decrease from 10 for 0-1 to 9 for 2-3; header versions must not decrease as "
        "versions increase",
        "1: $.headerVersions: headerVersions decrease from 9 for 2-3 to 0 for 4+; header versions must not decrease as "
        "versions increase",
    ),
    Case(
        "headerVersions closed",
        text(**ASK, headerVersions={"2-3": 1, "0-1": 1}),
        "1: $.headerVersions: headerVersions ends with 2-3; the last range must be open, like 4+",
    ),
    Case(
        "headerVersions without valid versions",
        text(**ASK, validVersions="none", headerVersions={"0+": 1}),
        "1: $.headerVersions: message AskRequest has no valid versions, so it has no headers; remove headerVersions",
    ),
    Case(
        "message twice",
        {"a.json": text(), "b.json": text()},
        "b.json:1: $.name: message Probe has the module name of Probe, defined at a.json:1; rename one",
    ),
    Case(
        "messages fold",
        {"a.json": text(), "b.json": text(name="PROBE")},
        "b.json:1: $.name: message PROBE has the module name of Probe, defined at a.json:1; rename one",
    ),
    Case(
        "request without response",
        {"a.json": request()},
        "a.json:1: $.apiKey: request AskRequest with apiKey 1 has no response; define AskResponse with the same apiKey, "
        "or list AskRequest under one-way, below [protocol] in package.toml",
    ),
    Case(
        "response without request",
        {"a.json": response()},
        "a.json:1: $.apiKey: response AskResponse with apiKey 1 has no request; define AskRequest with the same apiKey",
    ),
    Case(
        "request suffix",
        {"a.json": request(name="Ask"), "b.json": response()},
        "a.json:1: $.name: request Ask must be named after its API, with the suffix Request",
    ),
    Case(
        "request without the name of an API",
        {"a.json": request(name="Request"), "b.json": response()},
        "a.json:1: $.name: Request is reserved in generated modules; rename it",
    ),
    Case(
        "request and response differ in versions",
        {"a.json": request(), "b.json": text(name="AskResponse", type="response", apiKey=1, validVersions="0-2")},
        "b.json:1: $.validVersions: response AskResponse has validVersions 0-2, but request AskRequest has 0-3; a request and its response must have the same versions",
    ),
    Case(
        "removed request with a response",
        {"a.json": text(name="AskRequest", type="request", apiKey=1, validVersions="none"), "b.json": response()},
        "b.json:1: $.validVersions: response AskResponse has validVersions 0-3, but request AskRequest has none; a request and its response must have the same versions",
    ),
    Case(
        "apiKey twice",
        {"a.json": request(), "b.json": request(name="AskAgainRequest"), "c.json": response()},
        "b.json:1: $.apiKey: request AskAgainRequest has apiKey 1, already used by AskRequest; choose another",
    ),
    Case(
        "record type twice",
        {
            "x/a.json": text(name="R1", type="metadata", apiKey=3),
            "x/b.json": text(name="R2", type="metadata", apiKey=3),
            "y/c.json": text(name="R3", type="metadata", apiKey=3),
        },
        "x/b.json:1: $.apiKey: metadata R2 has apiKey 3, already used by R1; choose another",
    ),
)
