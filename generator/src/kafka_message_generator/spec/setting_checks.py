"""Checks of the strings in ``package.toml``. Each returns an error message, or None if the string is valid."""

from __future__ import annotations

import keyword
import re
import sys

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.specifiers import SpecifierSet
from packaging.version import Version

SETTINGS = "package.toml"
OLDEST_PYTHON = "3.11"  # required by generated code
_IMPORT_NAME = re.compile(r"[a-z][a-z0-9_]*")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_URL = re.compile(r"https?://\S+")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


# Reserved device names of Windows, with any extension.
WINDOWS_DEVICES = frozenset(("aux", "con", "nul", "prn", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))))


def import_name_problem(name: str) -> str | None:
    if not _IMPORT_NAME.fullmatch(name):
        return f"package name {name!r} must be a lower-case letter, then lower-case letters, digits and underscores"
    if keyword.iskeyword(name):
        return f"package name {name!r} is a Python keyword; choose another"
    if name in WINDOWS_DEVICES:
        return f"package name {name!r} is a reserved device name of Windows; choose another"
    if name in sys.stdlib_module_names:
        return f"package name {name!r} is a standard library module; choose another"
    return None


def distribution_problem(name: str) -> str | None:
    if _DISTRIBUTION.fullmatch(name):
        return None
    return f"distribution name {name!r} must be ASCII letters, digits, and dots, dashes or underscores between them"


def version_problem(text: str) -> str | None:
    try:
        is_version = str(Version(text)) and text == text.strip()
    except ValueError:  # thousands of digits raise no InvalidVersion
        is_version = False
    return None if is_version else f"version {text!r} is not a version of a Python package; write for example 1.0.0"


def license_problem(text: str) -> str | None:
    try:
        canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        return f"license {text!r} is not an SPDX expression; write for example Apache-2.0 or LicenseRef-Proprietary"
    return None


def python_problem(text: str) -> str | None:
    try:
        allowed = SpecifierSet(text)
        too_old = next((version for version in _TOO_OLD if allowed.contains(version)), None)
    except ValueError:
        return f"requires-python {text!r} is not a version specifier; write for example >={OLDEST_PYTHON}"
    if too_old is not None:
        return f"requires-python {text!r} allows Python {too_old}, but generated code needs {OLDEST_PYTHON}"
    return None


_TOO_OLD = ("2.7", *(f"3.{minor}{patch}" for minor in range(11) for patch in ("", ".99")))


def label_problem(text: str) -> str | None:
    if line_problem(text) is None and len(text) <= _LONGEST_LABEL:
        return None
    return f"{text!r} is not a link label; write one or two words of at most {_LONGEST_LABEL} characters"


_LONGEST_LABEL = 32  # by the specification of package metadata ("well-known project URLs")


def url_problem(text: str) -> str | None:
    return None if _URL.fullmatch(text) else f"{text!r} is not a link; write for example https://example.org"


def email_problem(text: str) -> str | None:
    return None if _EMAIL.fullmatch(text) else f"{text!r} is not an e-mail address; write for example me@example.org"


def topic_problem(text: str) -> str | None:
    if _TOPIC.fullmatch(text) and text not in (".", ".."):
        return None
    return f"{text!r} is not a topic name; use up to 249 ASCII letters, digits, dots, dashes and underscores"


def classifier_problem(text: str) -> str | None:
    if text.startswith("License ::"):
        return f"classifier {text!r} repeats the key license; remove it"
    if " :: " in text and line_problem(text) is None:
        return None
    return f"{text!r} is not a classifier; write for example Development Status :: 4 - Beta"


def file_problem(text: str) -> str | None:
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text):
        return None
    return f"{text!r} is not the name of a file next to {SETTINGS}; use letters, digits, dots, dashes, underscores"


def license_file_problem(text: str) -> str | None:
    if text.lower() in _OF_THE_GENERATOR:  # some file systems ignore case
        return f"{text!r} is a file that the generator writes or build tools read; choose another name"
    return file_problem(text)


_OF_THE_GENERATOR = ("build", "manifest", "manifest.in", "pyproject.toml", "readme.md", "setup.cfg", "setup.py", "src")


def line_problem(text: str) -> str | None:
    return None if text.strip() and text.isprintable() else f"{text!r} must be one line of text"
