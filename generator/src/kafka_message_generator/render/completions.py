"""Completion scripts for bash, zsh and fish, printed from the tables of the command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_message_generator.runtime.command._options import Command, Option
from kafka_message_generator.runtime.command._table import VERBS

SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True)
class Verb:
    """A subcommand as a script needs it."""

    name: str
    about: str
    command: Command

    @property
    def options(self) -> tuple[Option, ...]:
        return (*self.command.options, *self.command.common)

    @property
    def takes_headers(self) -> bool:
        """Whether headers may say what the bytes are, so that the first word may be a file."""
        first = self.command.arguments[:1]
        return any(each.is_optional for each in first) and any(each.name == "frame" for each in self.command.options)


def scripts(program: str, parts: Iterable[str], messages: Sequence[str], errors: Sequence[str]) -> dict[str, str]:
    """The script of each shell for a program whose package has these parts, messages and error codes."""
    there = frozenset(parts)
    verbs = [Verb(each.name, each.about, each.load()) for each in VERBS if there.issuperset(each.parts)]
    names = " ".join(messages), " ".join(errors)
    return {
        "bash": _bash(program, verbs, *names),
        "zsh": f"autoload -U +X bashcompinit && bashcompinit\n{_bash(program, verbs, *names)}",
        "fish": _fish(program, verbs, *names),
    }


def _bash(program: str, verbs: Sequence[Verb], messages: str, errors: str) -> str:
    function = "_" + re.sub(r"\W", "_", program)
    valued = "|".join(f"'{verb.name} --{option.name}'" for verb in verbs for option in verb.options if option.metavar)
    lines = [
        f"# Completion of {program}; written by the Kafka message generator.",
        f"{function}() {{",
        "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}",
        f"  local messages='{messages}'",
        f"  local errors='{errors}'",
        "  local words='' place=0 has_header='' at",
        "  for ((at = 2; at < COMP_CWORD; at++)); do",
        '    case "$verb ${COMP_WORDS[at]}" in',
        f"      {valued}) at=$((at + 1)) ;;",
        "      *' --frame'|*' --header') has_header=1 ;;",
        "      *' -'*) ;;",
        "      *) place=$((place + 1)) ;;",
        "    esac",
        "  done",
        "  if ((COMP_CWORD == 1)); then",
        f"    words='{' '.join(verb.name for verb in verbs)} --help --version'",
        '  elif [[ "$current" == -* ]]; then',
        '    case "$verb" in',
    ]
    for verb in verbs:
        lines.append(f"      {verb.name}) words='{' '.join(f'--{option.name}' for option in verb.options)}' ;;")
    lines += ["    esac", "  else", '    case "$verb $before $place$has_header" in']
    for verb in verbs:
        lines += [f"      {case}" for case in _cases(verb)]
    lines += [
        "    esac",
        "  fi",
        '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
        "}",
        f"complete -o filenames -F {function} {program}",
    ]
    return "\n".join(lines) + "\n"


_FILES = 'COMPREPLY=($(compgen -f -- "$current")); return'
_BASH = {
    "message": 'words="$messages"',
    "error": 'words="$errors"',
    "shell": f"words='{' '.join(SHELLS)}'",
    "file": _FILES,
}


def _cases(verb: Verb) -> Iterator[str]:
    """What may follow the words before: values of options first, then arguments by their places."""
    for option in verb.options:
        if option.metavar:
            words = f"words='{' '.join(option.choices)}'" if option.choices else _BASH.get(option.completes, ":")
            yield f"'{verb.name} --{option.name} '*) {words} ;;"
    if verb.takes_headers:
        yield f"""'{verb.name} '*' 01') COMPREPLY=($(compgen -W "$messages" -f -- "$current")); return ;;"""
    for place, argument in enumerate(verb.command.arguments):
        places = "" if argument.is_repeated else f"' {place}'*"
        if argument.completes:
            yield f"'{verb.name} '*{places}) {_BASH[argument.completes]} ;;"


def _fish(program: str, verbs: Sequence[Verb], messages: str, errors: str) -> str:
    names = " ".join(verb.name for verb in verbs)
    lines = [f"# Completion of {program}; written by the Kafka message generator.", f"complete -c {program} -f"]
    none = f"'not __fish_seen_subcommand_from {names}'"
    for verb in verbs:
        lines.append(f"complete -c {program} -n {none} -a {verb.name} -d '{verb.about}'")
        seen = f"'__fish_seen_subcommand_from {verb.name}'"
        for option in verb.options:
            values = {"error": errors}.get(option.completes, " ".join(option.choices))
            choices = f" -x -a '{values}'" if values else " -r -F" if option.completes == "file" else ""
            choices = choices or (" -x" if option.metavar else "")
            about = option.about.replace("'", "\\'")
            lines.append(f"complete -c {program} -n {seen} -l {option.name}{choices} -d '{about}'")
        kinds = {argument.completes for argument in verb.command.arguments}
        for kind, words in (("message", messages), ("error", errors), ("shell", " ".join(SHELLS))):
            if kind in kinds:
                lines.append(f"complete -c {program} -n {seen} -a '{words}'")
        if "file" in kinds:
            lines.append(f"complete -c {program} -n {seen} -F")
    return "\n".join(lines) + "\n"
