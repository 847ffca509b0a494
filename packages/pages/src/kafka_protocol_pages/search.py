"""The search index, written as a script that defines a constant."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kafka_message_generator.definitions import Definitions
from kafka_protocol_pages.message import MessagePage
from kafka_protocol_pages.prose import Prose


def index(
    messages: Sequence[MessagePage],
    definitions: Definitions,
    pages: Sequence[tuple[str, str]],
    prose: Prose,
    releases: Sequence[str] = (),
) -> str:
    found = {
        "messages": [[page.name, _what(page), " ".join(field.path for field in page.fields)] for page in messages],
        "errors": [[code.code, code.name] for code in definitions.error_codes],
        "enumerations": [
            [one.name, " ".join(member.name for member in one.members)]
            for one in definitions.enumerations
            if one.members
        ],
        "releases": list(releases),
        "pages": [[title, path] for path, title in pages],
        "prose": [[page.title, page.path, [[title, slug] for _, slug, title in page.headings]] for page in prose.pages],
    }
    return f"const SEARCH = {json.dumps(found, separators=(',', ':'), ensure_ascii=True)};\n"


def _what(page: MessagePage) -> str:
    key = "" if page.plan.api_key is None else f", key {page.plan.api_key}"
    return f"{page.kind}{key}, versions {page.plan.valid}"
