"""Frames of samples: length, header and body for requests and responses, otherwise the body alone."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec.model import REQUEST, RESPONSE
from kafka_protocol_pages.package import Explanation, Package
from kafka_protocol_pages.samples import Sample

CORRELATION_ID, CLIENT_ID = 7, "a-client"
"""Header values of frames that are built for a sample."""


@dataclass(frozen=True)
class FramedSample:
    """The bytes of a sample; ``frame`` is empty for a body without a header."""

    name: str
    version: int
    is_request: bool
    body: bytes
    frame: bytes
    origin: str
    is_opened: bool

    def explained(self, package: Package) -> Explanation:
        """Explain each byte of the frame or body. Raises PagesError if the package cannot decode it."""
        if not self.frame:
            return package.explain(self.body, self.name, self.version, records=self.is_opened)
        if self.is_request:
            return package.explain_request(self.frame, records=self.is_opened)
        return package.explain_response(self.frame, self.name, self.version, records=self.is_opened)


def framed(package: Package, plan: MessagePlan, version: int, sample: Sample) -> FramedSample:
    """Add the captured frame of a sample, or for requests and responses a made-up one if the package has ``protocol``."""
    frame = sample.frame
    if not frame and plan.kind in (REQUEST, RESPONSE) and package.has("protocol"):
        frame = _frame(package, plan, version, sample.data)
    return FramedSample(plan.name, version, plan.kind == REQUEST, sample.data, frame, sample.origin, sample.is_opened)


def _frame(package: Package, plan: MessagePlan, version: int, body: bytes) -> bytes:
    protocol = package.module("protocol")
    api = protocol.api(package.message(plan.name))
    if plan.kind == REQUEST:
        header_version = api.request_header_version(version)
        values = {"request_api_key": api.key, "request_api_version": version, "client_id": CLIENT_ID}
    else:
        header_version, values = api.response_header_version(version), {}
    header = package.message("RequestHeader" if plan.kind == REQUEST else "ResponseHeader")
    frame: bytes = protocol.frame(header(correlation_id=CORRELATION_ID, **values).write(header_version) + body)
    return frame
