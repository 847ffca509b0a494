"""The command ``cost``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kafka_message_generator import definitions
from kafka_message_generator.cost import report
from kafka_message_generator.cost.encodings import histogram
from kafka_message_generator.cost.measure import cost
from kafka_message_generator.cost.samples import CostError, CostSample, read_samples
from kafka_message_generator.definitions import Definitions
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec.model import ENCODED_TYPES
from kafka_message_generator.spec.source import tell
from kafka_message_generator.spec.suggestions import suggestions

VECTORS = Path("packages", "vectors", "src", "kafka_protocol_vectors")  # relative to the top of a clone
ABOUT = "size of messages in bytes, by field and integer encoding"
EXAMPLE = "kafka-message-generator cost --specs definitions --message MetadataResponse --samples captured.jsonl"
EPILOG = f"""Samples are message bodies without header and frame, one per line: a JSON object
with "message", "version" and "hex" (anything else in it is ignored, other
messages are skipped), or bare hex together with --version. Without
--samples the test vectors of the message are used, if the current folder is
the top of a clone of this project; they consist of extreme and random values
and say little about real traffic.

example:
  {EXAMPLE}"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "cost", help=ABOUT, description=ABOUT, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("--specs", type=Path, help="folder of message definitions (*.json), or one definition")
    command.add_argument("--message", help="name of the message, such as MetadataResponse")
    command.add_argument("--version", type=int, help="message version (default: the highest one with samples)")
    command.add_argument("--samples", type=Path, nargs="+", metavar="FILE", help="sample messages, .gz or not")
    command.add_argument("--format", choices=("text", "json"), default="text", help="default: %(default)s")
    bits = sorted(ENCODED_TYPES.values())
    what = "instead: print which values take how many bytes as a varint of this width"
    command.add_argument("--histogram", type=int, choices=bits, help=what)
    command.set_defaults(run=lambda arguments: _run(command, arguments))


def _run(command: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    if arguments.histogram is not None:
        ranges = (histogram(arguments.histogram, signed=True), histogram(arguments.histogram, signed=False))
        show = report.histogram_json if arguments.format == "json" else report.histogram_text
        tell(show(arguments.histogram, *ranges), lines=True)
        return 0
    if arguments.specs is None or arguments.message is None:
        command.error("--specs and --message are required, or --histogram")
    plan = _find(definitions.load(arguments.specs), arguments.message)
    version, samples, source = _samples(plan, arguments.version, arguments.samples)
    result = cost(plan, version, samples)
    tell((report.as_json if arguments.format == "json" else report.text)(result, source), lines=True)
    return 0


def _find(loaded: Definitions, name: str) -> MessagePlan:
    plans = {plan.name: plan for plan in loaded.plans}
    if name in plans:
        return plans[name]
    if any(message.name == name for message in loaded.messages):
        raise CostError(f"message {name} has no versions left")
    near = suggestions(name, plans, 3)
    advice = f"; did you mean {' or '.join(near)}?" if near else f"; the definitions have {len(plans)} messages"
    raise CostError(f"unknown message {name}{advice}")


def _samples(plan: MessagePlan, version: int | None, files: Sequence[Path] | None) -> tuple[int, list[CostSample], str]:
    if version is not None and version not in plan.valid:
        raise CostError(f"{plan.name} has no version {version}, only {plan.valid}")
    if files:
        source = ", ".join(map(str, files))
        samples = read_samples(files, plan.name, plan.valid, version)
    else:
        source = "committed test vectors: extreme and random values, not traffic"
        samples = _committed(plan, version)
    if version is not None:
        return version, samples, source
    found = sorted({sample.version for sample in samples})
    if len(found) > 1:
        source += f"; {len(found)} versions, {found[0]} to {found[-1]}: choose with --version"
    return found[-1], [sample for sample in samples if sample.version == found[-1]], source


def _committed(plan: MessagePlan, version: int | None) -> list[CostSample]:
    try:
        return read_samples(sorted(VECTORS.glob("kafka-*/*.jsonl.gz")), plan.name, plan.valid, version)
    except CostError:
        wanted = plan.name if version is None else f"{plan.name} version {version}"
        what = f"no test vectors of {wanted}"
        raise CostError(f"{what}; use --samples FILE") from None
