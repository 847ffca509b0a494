"""The task ``vectors``: writes the files of kafka-protocol-vectors, and ``errors.json``, with Kafka's classes."""

from __future__ import annotations

import argparse
from pathlib import Path

from kafka_protocol_upstream.kafka.artifacts import resolve
from kafka_protocol_upstream.vectors.damaged import write_damaged
from kafka_protocol_upstream.vectors.java_oracle import oracle
from kafka_protocol_upstream.vectors.older import write_older
from kafka_protocol_upstream.vectors.wire import write_frames, write_table
from kafka_protocol_upstream.vectors.write import (
    jars_in,
    pinned_release,
    read_cases,
    write_apis,
    write_errors,
    write_vectors,
)

ABOUT = "write test vectors, error codes and damaged bytes, with Kafka's own classes (requires Maven and a JDK)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    default = "default: %(default)s"
    target = Path("packages/vectors/src/kafka_protocol_vectors")
    parser.add_argument("--specs", type=Path, default=Path("specs/kafka"), metavar="FOLDER", help=default)
    parser.add_argument("--history", type=Path, default=Path("specs/history"), metavar="FOLDER", help=default)
    parser.add_argument("--target", type=Path, default=target, metavar="FOLDER", help=default)
    parser.add_argument("--jars", type=Path, metavar="FOLDER", help="existing jars of the pinned release")
    parser.add_argument("--work", type=Path, default=Path(".work/vectors"), help=f"folder for downloads ({default})")
    what = f"folder for the jars of older releases, such as that of import-history ({default})"
    parser.add_argument("--older", type=Path, default=Path(".work/history"), metavar="FOLDER", help=what)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    specs, target = arguments.specs, arguments.target
    release = pinned_release(specs)
    jars = jars_in(arguments.jars, release) if arguments.jars else resolve(release, arguments.work)
    vectors = write_vectors(specs, jars, target)
    errors, apis = write_errors(jars, specs / "errors.json"), write_apis(jars, target)
    print(f"Kafka {release}: {vectors} vectors, {errors} error codes, {apis} APIs")
    with oracle(jars) as java:
        frames = write_frames(java, jars, read_cases(specs), target)
        batches, negotiation = (write_table(java, name, jars, target) for name in ("batches", "negotiation"))
    print(f"Kafka {release}: {frames} frames, {batches} sets of record batches, {negotiation} version negotiations")
    for older, (count, frames) in write_older(specs, arguments.history, jars, arguments.older, target).items():
        print(f"Kafka {older}: {count} vectors, {frames} frames")
    print(f"{write_damaged(specs, jars, target)} damaged messages")
    return 0
