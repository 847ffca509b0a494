"""Administrative requests, at the highest version that broker and package support."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from typing import TypeVar
from uuid import UUID

from kafka_messages import (
    AlterUserScramCredentialsRequest,
    DeleteRecordsRequest,
    FindCoordinatorRequest,
    IncrementalAlterConfigsRequest,
    InitProducerIdRequest,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    ProduceRequest,
    Request,
    Response,
)
from kafka_messages.aio import connect
from kafka_messages.connection import errors
from kafka_messages.messages.alter_user_scram_credentials_request import ScramCredentialUpsertion
from kafka_messages.messages.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kafka_records import Record, write_batch

from .kafka import InteropError

SECONDS = 60
TIMEOUT_MS = 10_000
BROKER = 4
"""Resource type of brokers in requests that alter configurations."""
MECHANISMS, ITERATIONS = {"sha256": 1, "sha512": 2}, 4096

R = TypeVar("R", bound=Response)


def ask(port: int, request: Request[R], *, refused: bool = False, seconds: float = SECONDS) -> R:
    """Return the broker's response. Raises TimeoutError, and unless ``refused``, InteropError for error codes."""

    async def asked() -> R:
        async with await connect("localhost", port) as broker:
            return await broker.request(request)

    answer = asyncio.run(asyncio.wait_for(asked(), seconds))
    reported = ", ".join(f"{each.path} is {each.code.name} ({each.message})" for each in errors(answer))
    if reported and not refused:
        raise InteropError(f"error in the response to {request.NAME}: {reported}")
    return answer


def metadata(port: int) -> MetadataResponse:
    """Return the metadata of all topics."""
    return ask(port, MetadataRequest(topics=None))


def topic_id(port: int, topic: str) -> UUID:
    return next(each.topic_id for each in metadata(port).topics if each.name == topic)


def leaders(port: int, topic: str) -> dict[int, int]:
    """Return the leader of each partition."""
    (found,) = (each for each in metadata(port).topics if each.name == topic)
    return {each.partition_index: each.leader_id for each in found.partitions}


def coordinator(port: int, key: str, key_type: int) -> int:
    """Return the id of the coordinator of a group (type 0) or transactional id (type 1)."""
    (found,) = ask(port, FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])).coordinators
    return found.node_id


def credential(user: str, password: str, salt: bytes, algorithm: str = "sha256") -> ScramCredentialUpsertion:
    """Return a request entry that sets the SCRAM credential of a user."""
    salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, ITERATIONS)
    return ScramCredentialUpsertion(
        name=user, mechanism=MECHANISMS[algorithm], iterations=ITERATIONS, salt=salt, salted_password=salted
    )


def add_users(port: int, *credentials: ScramCredentialUpsertion) -> None:
    ask(port, AlterUserScramCredentialsRequest(upsertions=list(credentials)))


def configure(port: int, broker: int, settings: Mapping[str, str]) -> None:
    """Set dynamic settings of a broker."""
    configs = [AlterableConfig(name=name, value=value) for name, value in settings.items()]
    resource = AlterConfigsResource(resource_type=BROKER, resource_name=str(broker), configs=configs)
    ask(port, IncrementalAlterConfigsRequest(resources=[resource]))


def begin(port: int, transactional_id: str, *, seconds: float = SECONDS) -> None:
    """Initialize a producer id for a transactional id, at its coordinator."""
    ask(port, InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=60_000), seconds=seconds)


def delete_records(port: int, topic: str, partition: int, before: int) -> None:
    """Delete records of a partition up to an offset, at its leader."""
    part = DeleteRecordsRequest.DeleteRecordsPartition(partition_index=partition, offset=before)
    named = DeleteRecordsRequest.DeleteRecordsTopic(name=topic, partitions=[part])
    ask(port, DeleteRecordsRequest(topics=[named], timeout_ms=TIMEOUT_MS))


def commit(port: int, group: str, topic: str, partition: int, offset: int, *, refused: bool = False) -> None:
    """Commit an offset of a group without members, at its coordinator."""
    part = OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
    named = OffsetCommitRequest.OffsetCommitRequestTopic(name=topic, topic_id=topic_id(port, topic), partitions=[part])
    ask(port, OffsetCommitRequest(group_id=group, topics=[named]), refused=refused)


def produce(port: int, topic: str, partition: int, *values: bytes, acks: int = -1) -> int:
    """Write records to a partition, at its leader; return the offset of the first record."""
    records = write_batch([Record(value=value) for value in values])
    part = ProduceRequest.PartitionProduceData(index=partition, records=records)
    data = ProduceRequest.TopicProduceData(name=topic, topic_id=topic_id(port, topic), partition_data=[part])
    (answer,) = ask(port, ProduceRequest(acks=acks, timeout_ms=TIMEOUT_MS, topic_data=[data])).responses
    return answer.partition_responses[0].base_offset
