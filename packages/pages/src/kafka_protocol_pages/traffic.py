"""Samples from recorded connections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_protocol_pages.package import Package, PagesError
from kafka_protocol_pages.samples import Best, Sample, Samples

REQUESTS, RESPONSES = ".request.bin", ".response.bin"
"""File name suffixes of the two directions of a connection."""
_ORIGIN = {True: "that a client sent to a broker.", False: "that a broker sent to a client."}


def read_traffic(folder: Path, package: Package) -> Samples:
    """Return the best sample of each message version in a folder of recorded connections.

    Empty if the package lacks the component ``protocol`` or ``json``. Raises PagesError if a message cannot be decoded.
    """
    best = Best()
    if not package.has("protocol") or not package.has("json"):
        return {}
    to_json = package.module("json").to_json
    for path in sorted(folder.glob(f"**/*{REQUESTS}")):
        for message, version, is_request, frame in _conversation(path, package.module("protocol")):
            whole = len(frame).to_bytes(4, "big") + frame
            sample = Sample(message.write(version), _ORIGIN[is_request], is_opened=True, frame=whole)
            best.add((message.NAME, version), sample, to_json(message, version))
    return best.samples()


def _conversation(path: Path, protocol: Any) -> Iterator[tuple[Any, int, bool, bytes]]:
    requests: dict[int, Any] = {}
    for number, frame in _frames(path, protocol):
        request = _read(path, number, protocol.decode_request, frame)
        requests[request.header.correlation_id] = request
        yield request.message, request.version, True, frame
    responses = path.with_name(path.name.removesuffix(REQUESTS) + RESPONSES)
    for number, frame in _frames(responses, protocol) if responses.exists() else ():
        request = requests.get(int.from_bytes(frame[:4], "big", signed=True))
        if request is not None:
            response = _read(responses, number, protocol.decode_response, frame, type(request.message), request.version)
            yield response.message, response.version, False, frame


def _frames(path: Path, protocol: Any) -> Iterator[tuple[int, bytes]]:
    return enumerate(_read(path, 0, protocol.split_frames, path.read_bytes()), 1)


def _read(path: Path, number: int, reader: Any, *arguments: Any) -> Any:
    try:
        return reader(*arguments)
    except ValueError as error:
        place = f"{path}: message {number}" if number else str(path)
        raise PagesError(f"{place}: cannot be decoded: {error}") from error
