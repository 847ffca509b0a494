"""Generator of a Lua dissector for Wireshark and tshark, for all APIs and versions of a package.

The dissector supports Lua 5.1 to 5.4 and Wireshark 3.6 and later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

from ..package import DEFAULT, Package, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kafka_messages import Message
    from kafka_messages.protocol import Api

# Fields with the identity of a client: name, type letter and message. From the first version of RequestHeader with the
# second field, only the first request of a connection has the ids (KIP-1313, not merged).
IDENTITY = (
    ("client_id", "s", "RequestHeader"),
    ("client_instance_id", "u", "RequestHeader"),
    ("client_software_name", "s", "ApiVersionsRequest"),
    ("client_software_version", "s", "ApiVersionsRequest"),
)
# Default TCP ports of brokers.
PORTS = "9092-9094"


def dissector(name: str = "", ports: str = PORTS, package: str | Package = DEFAULT) -> str:
    """Return the Lua source of the dissector.

    ``name`` is the protocol name and prefix of filter fields (default: ``package``). ``ports`` are the default TCP
    ports in Wireshark's notation (``9092-9094,19092``). Raises ValueError for an invalid name or ports.
    """
    found = load(package)
    name = name or found.name
    if not re.fullmatch(r"(\d+(-\d+)?(,\d+(-\d+)?)*)?", ports, re.ASCII):
        raise ValueError(f"expected numbers and ranges separated by commas, such as {PORTS}, got {ports!r}")
    if not (name.isascii() and name.replace("_", "").replace("-", "").isalnum() and name == name.lower()):
        raise ValueError(f"expected a protocol name of lower-case letters, digits, - and _, got {name!r}")
    program = files(__name__).joinpath("dissector.lua").read_text("utf-8")
    return "\n".join([*_lines(found, name, ports), program])


def _lines(package: Package, name: str, ports: str) -> Iterator[str]:
    protocol = package.module("protocol")
    yield f"-- Wireshark dissector for the messages of {package.name}; copy it into the folder of Lua plugins."
    yield f"local NAME, TITLE, PORTS = {_text(name)}, {_text(name.replace('_', ' ').title())}, {_text(ports)}"
    known = [api for api in protocol.apis() if api.valid_versions]
    yield "local APIS = {"
    yield from (f"  [{int(api.key)}] = {_api(api)}," for api in protocol.apis())
    yield "}"
    yield "local API_NAMES = {}"
    yield "for key, api in pairs(APIS) do API_NAMES[key] = api.name end"
    yield "local ERRORS = {"
    yield from (f"  [{int(code)}] = {_text(code.name)}," for code in protocol.ErrorCode)
    yield "}"
    yield f"local ERROR_FIELDS = {_lua(dict.fromkeys(sorted({*_error_fields(package)}), True))}"
    yield f"local OPEN_SETTINGS = {_lua(_open_settings(package))}"
    fields = package.module("schema").descriptor_of(package.message("RequestHeader")).fields
    omitting = next((field.versions.lowest for field in fields if field.name == IDENTITY[1][0]), "math.huge")
    yield f"local OMITS_IDS_FROM = {omitting}"
    yield "local IDENTITY = {"
    for field, letter, message in IDENTITY:
        yield f"  {{ name = {_text(field)}, letter = {_text(letter)}, message = {_text(message)} }},"
    yield "}"
    messages = [*map(package.message, ("RequestHeader", "ResponseHeader"))]
    for api in known:
        messages += [api.request_class, api.response_class] if api.response_name else [api.request_class]
    yield "local SECRETS = {"
    yield from (f"  {each.NAME} = {_lua(rules)}," for each in messages if (rules := _rules(package, each)))
    yield "}"
    yield "local PLANS = {"
    yield from map(_plan, messages)
    yield "}"


def _error_fields(package: Package) -> Iterator[str]:
    descriptor_of = package.module("schema").descriptor_of
    for info in package.root.all_messages():
        descriptor = descriptor_of(info.message_class)
        for fields in (descriptor.fields, *descriptor.structs.values()):
            yield from (field.name for field in fields if field.is_error_code)


def _rules(package: Package, message: type[Message]) -> dict[str, Any]:
    """Return the rules of secret fields by struct and field, and the rule of unknown tagged fields as ``unknown``."""
    structs = package.module("_core.redaction").secret_structs(message)
    rules = {
        struct: {field["name"]: _rule(field["secret"]) for field in fields if "secret" in field}
        for struct, fields in structs.items()
    }
    found: dict[str, Any] = {struct: each for struct, each in rules.items() if each}
    if found:
        return found | {"unknown": True}
    if (fetched := package.module("schema.contents").FETCHED.get(message.NAME)) is None:
        return {}
    rule, descriptor = {"topics": list(fetched.names)}, package.module("schema").descriptor_of(message)
    holders = (name for name, fields in descriptor.structs.items() if any(f.name == fetched.records for f in fields))
    return {"unknown": rule} | {name: {fetched.records: rule} for name in holders}


def _rule(secret: Any) -> Any:
    if secret is True:
        return True
    holders = {"holders": dict.fromkeys(secret["in"], True)} if "in" in secret else {}
    return {"name": secret["name"], "resource": secret.get("resourceType", "")} | holders


def _open_settings(package: Package) -> dict[str, bool]:
    found = package.module("secrets._tables").OPEN_SETTINGS if package.has("secrets") else ()
    return dict.fromkeys(sorted(found), True)


def _lua(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"[{_text(key)}] = {_lua(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "{ " + ", ".join(map(_lua, value)) + " }"
    return _text(value) if isinstance(value, str) else str(value).lower()


def _api(api: Api) -> str:
    response = _text(api.response_name) if api.response_name else "nil"
    highest = max(api.valid_versions.highest, 0)
    return (
        f"{{ name = {_text(api.name)}, request = {_text(api.request_name)}, response = {response}, highest = {highest},"
        f" request_headers = {_rows(api.request_headers)}, response_headers = {_rows(api.response_headers)} }}"
    )


def _rows(headers: tuple[tuple[int, int], ...]) -> str:
    return "{ " + ", ".join(f"{{ {first}, {header} }}" for first, header in headers) + " }"


def _plan(message: type[Message]) -> str:
    return f"  {message.NAME} = [[{message._plan}]],"


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
