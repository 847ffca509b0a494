"""The public names of a package with their signatures, one per line, read from its source with griffe.

Public are names without a leading underscore in modules without one; a module with ``__all__`` has only those. Names
that another public module defines are listed with their place there, names from private modules with their signatures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import griffe

_IGNORED = {
    *("TYPE_CHECKING", "__all__", "__version__"),
    *("__dir__", "__getattr__", "__match_args__", "__post_init__", "__slots__"),
}
_LONGEST = 100  # characters of a value


def listing(packages: Iterable[str], folders: Iterable[Path]) -> str:
    """Return the listing of packages, whose sources and those of the packages that they use are in ``folders``."""
    loader = griffe.GriffeLoader(search_paths=list(folders), allow_inspection=False)
    loaded = [loader.load(package) for package in packages]
    lines = [line for module in loaded if isinstance(module, griffe.Module) for line in _module(module)]
    return "".join(f"{line}\n" for line in sorted(lines))


def _module(module: griffe.Module) -> Iterator[str]:
    yield module.path
    for name, member in module.members.items():
        path = f"{module.path}.{name}"
        if isinstance(member, griffe.Module):
            if not name.startswith("_"):
                yield from _module(member)
        elif _is_public(member) and name not in _IGNORED:
            yield from _member(path, member)


def _member(path: str, member: griffe.Object | griffe.Alias) -> Iterator[str]:
    while isinstance(member, griffe.Alias):
        target = _target(member)
        if not _is_private(member.target_path) and (target is None or _is_public(target)):
            yield f"{path} = {member.target_path}"
            return
        assert target is not None, f"{path}: cannot resolve {member.target_path}"
        member = target
    if isinstance(member, griffe.Class):
        yield f"{path}: {_decorators(member)}class({', '.join(map(str, member.bases))})"
        for name, each in member.all_members.items():
            is_public = name not in _IGNORED and (not name.startswith("_") or name.endswith("__"))
            if is_public and not (isinstance(each, griffe.Alias) and not _is_private(each.target_path)):
                yield from _member(f"{path}.{name}", each.final_target if isinstance(each, griffe.Alias) else each)
    elif isinstance(member, griffe.Function):
        for each in member.overloads or [member]:
            is_async = "async " if "async" in member.labels else ""
            yield f"{path}: {_decorators(each)}{is_async}{each.signature(name='def')}"
    elif isinstance(member, griffe.Attribute) and not str(member.value).startswith("TypeVar("):
        yield " ".join([f"{path}:", *_attribute(member)])


def _attribute(member: griffe.Attribute) -> Iterator[str]:
    """Yield labels, type and value. The value of an attribute that a method sets is often a parameter."""
    labels = [label for label in ("property", "writable") if label in member.labels]
    yield from labels
    is_set_in_method = member.labels == {"instance-attribute"}
    annotation = member.annotation
    if annotation is None and is_set_in_method and isinstance(member.parent, griffe.Class):
        found = {each.name: each.annotation for each in member.parent.parameters}
        annotation = found.get(str(member.value))
    if annotation is not None:
        yield str(annotation)
    if member.value is not None and not labels and not is_set_in_method:
        yield f"= {member.value}" if len(str(member.value)) < _LONGEST else "= …"


def _decorators(member: griffe.Class | griffe.Function) -> str:
    return "".join(f"@{each.value} " for each in member.decorators if str(each.value) != "overload")


def _target(alias: griffe.Alias) -> griffe.Object | griffe.Alias | None:
    """Return the target of an alias; None if its package or module is not loaded."""
    try:
        return alias.target
    except griffe.AliasResolutionError:
        return None


def _is_public(member: griffe.Object | griffe.Alias) -> bool:
    return member.is_public or (isinstance(member, griffe.Alias) and bool(member.wildcard_imported))


def _is_private(path: str) -> bool:
    return any(part.startswith("_") for part in path.split(".")[:-1])
