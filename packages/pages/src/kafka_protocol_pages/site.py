"""Lists, renders and writes all pages of a site."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup, escape

from kafka_message_generator.definitions import Definitions
from kafka_message_generator.export import document
from kafka_message_generator.export.command import SCHEMA_FILE
from kafka_message_generator.files import replace_file
from kafka_message_generator.output import is_own_file, link_to
from kafka_message_generator.render.environment import environment
from kafka_messages_tools.conversation import exchange_style
from kafka_protocol_pages import examples, indexes
from kafka_protocol_pages.conversations import Conversation, links_of, read_conversations
from kafka_protocol_pages.lifetimes import Past, past_of
from kafka_protocol_pages.message import MessagePage, page_of, parts_of
from kafka_protocol_pages.package import Package, PagesError
from kafka_protocol_pages.prose import NONE, Prose, view
from kafka_protocol_pages.releases import ReleasePage, releases, version_change
from kafka_protocol_pages.samples import Samples

TEMPLATES = Path(__file__).parent / "templates"
ASSETS = Path(__file__).parent / "assets"
ENVIRONMENT = environment(TEMPLATES, autoescape=True)
"""Environment of the templates, with HTML escaping."""
FILE_LIST = "assets/files.txt"
MOST = 200_000
"""Maximum size of a page in bytes; if a message needs more, each version gets its own page."""
NAVIGATION = (
    ("conversations.html", "Conversations", "recorded conversations of clients and a broker, byte by byte"),
    ("messages.html", "Messages", "all messages with key, versions and purpose"),
    ("apis.html", "APIs", "versions, headers and listeners of each API"),
    ("records.html", "Records", "records of internal topics and of KRaft metadata, by type"),
    ("errors.html", "Errors", "all error codes, and the fields that contain them"),
    ("enumerations.html", "Enumerations", "names of field values"),
    ("entities.html", "Entities", "messages with topic names, group ids, broker ids"),
    ("tags.html", "Tags", "all tagged fields"),
    ("headers.html", "Headers", "header version of each message"),
    ("types.html", "Types", "primitive types, with example bytes"),
    ("releases.html", "Releases", "protocol changes in each Kafka release"),
    ("kips.html", "KIPs", "message versions of each improvement proposal"),
    ("batches.html", "Batches", "formats of record batches, byte by byte"),
    ("paste.html", "Paste", "decode your own bytes in the browser"),
)
"""Path, title and description; missing pages are skipped."""
PROOF = "docs/history.html"
"""The documentation page with example bytes of incompatible changes."""
PASTE = ("protocol.js", "wire.js", "codec.js", "secrets.js", "explain.js", "paste.js")
"""Scripts of the page that decodes pasted bytes; the first one contains the protocol."""
Files = dict[str, str | bytes]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class NavigationLink:
    link: str
    title: str
    about: str


ENTRY_POINTS = (
    NavigationLink("conversations.html", "Conversations", "how a group or a transaction works, byte by byte"),
    NavigationLink("messages.html", "Messages", "fields in every version, with explained sample bytes"),
    NavigationLink("errors.html", "Errors", "meanings of error codes, and the responses with them"),
    NavigationLink("paste.html", "Paste", "decode your own bytes; nothing leaves the page"),
    NavigationLink("docs/guide/first-steps.html", "First steps", "create, write and read messages in Python"),
    NavigationLink(
        "docs/README.html", "Guide", "all documentation: Spark, captures, the command, your own definitions"
    ),
)
"""Links at the top of the start page; missing pages are skipped."""


@dataclass(frozen=True)
class Page:
    path: str
    title: str
    template: str
    data: Mapping[str, object]
    scripts: tuple[str, ...] = field(default=())
    """Additional scripts from ``assets``."""


@dataclass(frozen=True)
class Site:
    definitions: Definitions
    package: Package
    samples: Sequence[tuple[str, Samples]]
    """Each set of samples, after its heading."""
    title: str
    release: str
    prose: Prose = NONE
    conversations: Path | None = None
    """Folder of recorded conversations."""


def files_of(site: Site, progress: Progress = lambda done, count: None) -> Files:
    """Return every file by path; ``progress`` receives the number of finished messages and of all messages."""
    plans = sorted(site.definitions.plans, key=lambda plan: plan.name)
    for plan in plans:
        site.package.check(plan)
    past = past_of(site.definitions)
    messages = [page_of(plan, site.definitions, past.lifetimes) for plan in plans]
    history = releases(past.changes, messages)
    general = pages(site, messages, past, history)
    conversations = _conversations(site, messages)
    if conversations:
        general.append(
            Page("conversations.html", "Conversations", "conversations.html", {"conversations": conversations})
        )
        general += [Page(each.path, each.title, "conversation.html", {"page": each}) for each in conversations]
    navigation = navigation_links(general, site.prose)
    entry_points = [
        each for each in ENTRY_POINTS if each.link in {*(page.path for page in general), *_paths(site.prose)}
    ]
    linked = {each.link for each in entry_points}
    other_links = [each for each in navigation if each.link not in linked]
    index = {"groups": indexes.groups(messages), "links": other_links, "entry_points": entry_points}
    general.append(Page("index.html", site.title, "index.html", index))
    files: Files = {**site.prose.images}
    files |= {f"conversations/{each.file}": each.data for talk in conversations for each in talk.recordings}
    for page in general:
        files[page.path] = render(site, page, navigation)
    for page in release_pages(site, history):
        files[page.path] = render(site, page, navigation)
    for page in prose_pages(site.prose):
        if page.path in files or page.path.startswith(("messages/", "releases/", "assets/", "conversations/")):
            raise PagesError(f"{page.path}: path reserved for generated pages; rename or move the Markdown file")
        files[page.path] = render(site, page, navigation)
    for number, message in enumerate(messages, 1):
        for page in message_pages(site, message, navigation):
            files[page.path] = render(site, page, navigation)
        progress(number, len(messages))
    files["assets/search.js"] = indexes.search_index(
        messages,
        site.definitions,
        {page.path: page.title for page in general},
        indexes.places({page.path: page.data for page in general}),
        site.prose,
        [release.name for release in reversed(history)],
    )
    protocol = document.text(document.document(site.definitions))
    files["protocol.json"] = protocol
    files["protocol.schema.json"] = SCHEMA_FILE.read_text(encoding="utf-8")
    # This is a script, because a page opened from a file cannot fetch data.
    files["assets/protocol.js"] = f"globalThis.KAFKA_PROTOCOL = {protocol.rstrip()};\n"
    styles = {"site.css": exchange_style()} if conversations else {}
    for path in sorted(ASSETS.iterdir()):
        files[f"assets/{path.name}"] = path.read_text(encoding="utf-8") + styles.get(path.name, "")
    return files


def navigation_links(pages: Sequence[Page], prose: Prose) -> list[NavigationLink]:
    there = {page.path for page in pages}
    found = [NavigationLink(*each) for each in NAVIGATION if each[0] in there]
    return (
        [*found, NavigationLink(prose.contents, "Guide", "documentation of all packages")] if prose.contents else found
    )


def prose_pages(prose: Prose) -> Iterator[Page]:
    for page in prose.pages:
        yield Page(page.path, page.title, "prose.html", {"view": view(prose, page)})


def _paths(prose: Prose) -> Iterator[str]:
    return (page.path for page in prose.pages)


def _conversations(site: Site, messages: Sequence[MessagePage]) -> list[Conversation]:
    if site.conversations is None:
        return []
    return read_conversations(site.conversations, site.package.name, links_of(messages, "../"))


def release_pages(site: Site, history: Sequence[ReleasePage]) -> Iterator[Page]:
    codes = {code.name for code in site.definitions.error_codes}
    proof = next((path for path in _paths(site.prose) if path == PROOF), None)
    for release in history:
        data = {"page": release, "known_codes": codes, "proof": proof}
        yield Page(release.path, release.title, "release.html", data)


def pages(site: Site, messages: list[MessagePage], past: Past, history: Sequence[ReleasePage]) -> list[Page]:
    definitions = site.definitions
    listed = {"groups": indexes.groups(messages), "has_lifetimes": past.lifetimes.is_known}
    found = [
        Page("messages.html", "All messages", "messages.html", listed),
        Page("entities.html", "Entities", "entities.html", {"entities": indexes.entities(messages)}),
        Page("tags.html", "Tagged fields", "tags.html", {"tags": indexes.tags(messages)}),
        Page("types.html", "Types on the wire", "types.html", {"types": examples.types(site.package)}),
    ]
    if definitions.error_codes:
        errors = indexes.errors(definitions, messages, past.lifetimes)
        found.append(Page("errors.html", "Error codes", "errors.html", errors))
    if names := indexes.enumerations(definitions, messages):
        found.append(Page("enumerations.html", "Enumerations", "enumerations.html", {"enumerations": names}))
    if apis := indexes.apis(definitions):
        found.append(Page("apis.html", "APIs", "apis.html", {"apis": apis}))
    if families := indexes.records(definitions):
        found.append(Page("records.html", "Records of internal topics", "records.html", {"families": families}))
    if headers := indexes.headers(definitions, messages):
        found.append(Page("headers.html", "Headers", "headers.html", headers))
    if history:
        found.append(Page("releases.html", "Releases", "releases.html", {"releases": history[::-1]}))
    if kips := indexes.kips(messages):
        listed = {"kips": kips, "has_lifetimes": past.lifetimes.is_known}
        found.append(Page("kips.html", "KIPs", "kips.html", listed))
    found.append(Page("paste.html", "Paste your bytes", "paste.html", {}, PASTE))
    if batches := examples.batches(site.package):
        found.append(Page("batches.html", "Record batches", "batches.html", batches))
    return found


def message_pages(site: Site, message: MessagePage, navigation: Sequence[NavigationLink]) -> Iterator[Page]:
    """Yield the page of a message; if it is too large, yield an overview and a page for each version."""
    path = f"messages/{message.name}.html"
    parts = list(parts_of(message, site.package, site.samples, is_joined=True))
    links = {version: f"#v{version}" for part in parts for version in part.versions}
    valid = message.plan.valid
    changes = {version: version_change(message, version) for version in valid if version - 1 in valid}
    shared = {"page": message, "changes": changes}
    whole = Page(path, message.name, "message.html", {**shared, "parts": parts, "links": links})
    if len(render(site, whole, navigation).encode()) <= MOST:
        yield whole
        return
    parts = list(parts_of(message, site.package, site.samples, is_joined=False))
    links = {part.versions.lowest: f"{message.name}-v{part.versions.lowest}.html" for part in parts}
    yield Page(path, message.name, "message.html", {**shared, "parts": [], "links": links})
    for part in parts:
        version = part.versions.lowest
        data = {**shared, "part": part, "links": links, "version": version}
        yield Page(f"messages/{links[version]}", f"{message.name} version {version}", "version.html", data)


def render(site: Site, page: Page, navigation: Sequence[NavigationLink]) -> str:
    root = "../" * page.path.count("/")
    template = ENVIRONMENT.get_template(f"{page.template}.jinja")
    return template.render(site=site, current=page, root=root, navigation=navigation, **page.data)


def code(text: str) -> Markup:
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def breakable(name: str) -> Markup:
    return Markup(re.sub(r"([_(])", r"\1<wbr>", str(escape(name))))


def first_sentence(text: str) -> Markup:
    return code(text.partition(". ")[0].rstrip(".") + ".")


ENVIRONMENT.filters["code"] = code
ENVIRONMENT.filters["first_sentence"] = first_sentence
ENVIRONMENT.filters["breakable"] = breakable


def write(folder: Path, files: Mapping[str, str | bytes]) -> list[str]:
    """Write changed files, delete stale ones, and return the paths of both.

    Raises PagesError, before writing, for a folder with files but without an earlier site, if the list of its files
    names others, or if a file would be written through a symbolic link.
    """
    known = folder / FILE_LIST
    if not known.exists() and folder.is_dir() and any(folder.iterdir()):
        raise PagesError(f"{folder}: not a generated site: it has files but no {FILE_LIST}; use an empty folder")
    before = set(known.read_text(encoding="utf-8", errors="surrogateescape").splitlines()) if known.exists() else set()
    if outside := [name for name in sorted(before - files.keys()) if not is_own_file(folder, name)]:
        raise PagesError(
            f"{known}: {outside[0]!r} is not a file of this site; restore the list, or use an empty folder"
        )
    stale = [name for name in sorted(before - {*files, FILE_LIST}) if os.path.lexists(folder / name)]
    listed = {FILE_LIST: "".join(f"{name}\n" for name in sorted(files)), **files}
    found = [(name, encoded(text)) for name, text in listed.items()]
    wanted = {name: data for name, data in found if _is_changed(folder / name, data)}
    if links := [path for path in (link_to(folder, name) for name in wanted) if path is not None]:
        raise PagesError(f"{links[0]}: a symbolic link, through which a file would be written; replace it by a copy")
    for name in stale:
        (folder / name).unlink()
    for name, data in wanted.items():  # the list first: of an interrupted run, all is listed
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        replace_file(folder / name, [data])
    return [*wanted, *stale]


def _is_changed(path: Path, data: bytes) -> bool:
    return not path.is_file() or path.read_bytes() != data


def encoded(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode()
