"""A correct client that sends requests before it has read responses, and divides its work in other ways than ``second.py``.

It is no idempotent producer: it writes two records in a batch, and divides them for the next leader. It sends a Metadata
request with each Produce. The last commit of a member has no topics, and its heartbeats go on until it looks for another
coordinator. It aborts a transaction after a retriable error, and writes it again as a new producer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from kafka_messages import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    HeartbeatRequest,
    InitProducerIdRequest,
    MetadataRequest,
    OffsetCommitRequest,
    ProduceRequest,
)
from kafka_messages.protocol import ErrorCode
from second import NAME, Client, FailedError, code_of

VALUES: list[tuple[bytes | None, bytes | None]] = [(b"k0", b"v0"), (b"k1", b"v1"), (b"k2", None), (b"k3", b"")]


class Third(Client):
    async def produce(self) -> None:
        """Write two batches at a time, on one connection."""
        await self.metadata()
        await self.ask("leader", self.leaders[0], MetadataRequest(topics=[]))
        await self.write_all([VALUES[:2], VALUES[2:]])
        await self.write_all([[(b"k4", b"v4")]])

    async def write_all(self, batches: list[list[tuple[bytes | None, bytes | None]]]) -> None:
        await asyncio.sleep(0.05)
        for _ in range(20):
            leader = self.leaders[0]
            waiting = [self.ask("leader", leader, self.request(each)) for each in batches]
            *responses, _ = await asyncio.gather(*waiting, self.ask("leader", leader, MetadataRequest(topics=[])))
            codes = [each.responses[0].partition_responses[0].error_code for each in responses]
            batches = [each for each, code in zip(batches, codes, strict=True) if code != ErrorCode.NONE]
            if not batches:
                return
            batches = [[record] for each in batches for record in each]
            await self.metadata()
        raise FailedError("not written")

    def request(self, values: Sequence[Any]) -> ProduceRequest:
        part = ProduceRequest.PartitionProduceData(index=0, records=self.batch(0, values, 0, None))
        topic = ProduceRequest.TopicProduceData(name=NAME, topic_id=self.topic_id, partition_data=[part])
        return ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[topic])

    async def do_transactions(self) -> None:
        await self.metadata()
        done = 0
        for _ in range(6):
            made = await self.at_coordinator(
                1, InitProducerIdRequest(transactional_id=NAME, transaction_timeout_ms=10_000)
            )
            self.producer, self.sequences = (made.producer_id, made.producer_epoch), {0: 0, 1: 0}
            while done < 2 and await self.transaction():
                done += 1
            if done == 2:
                return
        raise FailedError("aborted six times")

    async def transaction(self) -> bool:
        """Write a transaction; return False if it was aborted."""
        id, epoch = self.producer
        kind = AddPartitionsToTxnRequest
        added = []
        for partition in (0, 1):  # the second one is sent before the first response is read
            topics = [kind.AddPartitionsToTxnTopic(name=NAME, partitions=[partition])]
            one = kind.AddPartitionsToTxnTransaction(
                transactional_id=NAME, producer_id=id, producer_epoch=epoch, topics=topics
            )
            added.append(self.at_coordinator(1, kind(transactions=[one])))
        for each in await asyncio.gather(*added):
            code = each.results_by_transaction[0].topic_results[0].results_by_partition[0].partition_error_code
            if code:
                raise FailedError(ErrorCode(code).name)
        is_committed = True
        for _ in range(3):
            is_committed = is_committed and await self.is_written()
        request = EndTxnRequest(transactional_id=NAME, producer_id=id, producer_epoch=epoch, committed=is_committed)
        if (ended := await self.at_coordinator(1, request, 4)).error_code:
            raise FailedError(ErrorCode(ended.error_code).name)
        return is_committed

    async def is_written(self) -> bool:
        """Write two records to each partition; return False after a retriable error."""
        parts = [
            ProduceRequest.PartitionProduceData(index=each, records=self.batch(each, [(None, b"v")] * 2, 0, NAME))
            for each in (0, 1)
        ]
        topic = ProduceRequest.TopicProduceData(name=NAME, topic_id=self.topic_id, partition_data=parts)
        request = ProduceRequest(transactional_id=NAME, acks=-1, timeout_ms=5000, topic_data=[topic])
        response = await self.ask("leader", self.leaders[0], request, 11)
        codes = {each.error_code for each in response.responses[0].partition_responses}
        if codes - {ErrorCode.NONE, ErrorCode.NOT_ENOUGH_REPLICAS}:
            raise FailedError(str(codes))
        self.sequences = {each: number + 2 for each, number in self.sequences.items()}
        return codes == {ErrorCode.NONE}

    async def commit(self, member: tuple[str, int], offset: int) -> bool:
        """Commit, with a heartbeat beside it; commit nothing after the last record."""
        id, generation = member
        beat = HeartbeatRequest(group_id=NAME, generation_id=generation, member_id=id, group_instance_id=NAME)
        address = self.coordinator
        assert address is not None
        first, _ = await asyncio.gather(self.one_commit(member, offset), self.ask("coordinator", address, beat))
        if code_of(first) == ErrorCode.NOT_COORDINATOR:
            for _ in range(2):  # during the backoff
                await self.ask("coordinator", address, beat)
            return await super().commit(member, offset)
        if first and code_of(first) == ErrorCode.NONE:
            empty = OffsetCommitRequest(
                group_id=NAME, generation_id_or_member_epoch=generation, member_id=id, group_instance_id=NAME
            )
            await self.ask("coordinator", address, empty)
        return code_of(first) == ErrorCode.NONE

    async def one_commit(self, member: tuple[str, int], offset: int) -> Any:
        assert self.coordinator is not None
        kind = OffsetCommitRequest
        part = kind.OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        request = kind(
            group_id=NAME,
            generation_id_or_member_epoch=member[1],
            member_id=member[0],
            group_instance_id=NAME,
            topics=[kind.OffsetCommitRequestTopic(name=NAME, topic_id=self.topic_id, partitions=[part])],
        )
        return await self.ask("coordinator", self.coordinator, request)

    async def beat(self, member: tuple[str, int]) -> None:
        """Do nothing: ``commit`` sends heartbeats."""
