import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.SnapshotFooterRecord;
import org.apache.kafka.common.message.SnapshotHeaderRecord;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecords.RecordFilter;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.internals.BufferSupplier;

/** Record batches of all formats, and their content as Kafka's classes read it back. */
final class Batches {
    private static final long START = 1_700_000_000_000L;
    private static final long DAY = 86_400_000L;
    private static final long BASE = 100;
    private static final int LEADER_EPOCH = 5;
    private static final HexFormat HEX = HexFormat.of();

    private final PrintStream out;

    private Batches(PrintStream out) {
        this.out = out;
    }

    static void print(PrintStream out) throws IOException {
        Batches batches = new Batches(out);
        for (int magic = 0; magic <= 2; magic++) {
            for (CompressionType codec : CompressionType.values()) {
                if (magic == 2 || codec != CompressionType.ZSTD) {
                    batches.common(magic, codec);
                }
            }
        }
        batches.numbers();
        batches.producers();
        batches.cleaned();
        batches.control();
        batches.sequences();
    }

    // ---- content

    private void common(int magic, CompressionType codec) throws IOException {
        String id = "batch-" + magic + "-" + codec.name + "-";
        print(id + "single", batch(magic, codec, BASE, record(0, "key", "value")));
        print(id + "several", batch(magic, codec, BASE, several()));
        print(id + "nulls", batch(magic, codec, BASE, record(0, null, "no key"), record(1, "tombstone", null),
            record(2, null, null), record(3, "", "empty key"), record(4, "empty value", ""), record(5, "", "")));
        String large = "0123456789".repeat(7_000);
        print(id + "large", batch(magic, codec, BASE, record(0, "key", large), record(1, "a", "b")));
        if (magic > 0) {
            print(id + "no-timestamp", batch(magic, codec, BASE, at(-1)));
            print(id + "log-append-time", appended(batch(magic, codec, BASE, several())));
        }
        if (magic == 2) {
            print(id + "headers", batch(magic, codec, BASE, record(0, "no", "headers"), withHeaders(
                header("a", "1"), header("null", null), header("empty", ""), header("a", "2"), header("", "empty key"),
                header("größe ☃ 😀", "\0\1"), header("a", null))));
        }
    }

    private void numbers() throws IOException {
        Header[] many = IntStream.range(0, 130).mapToObj(i -> header("h" + i % 70, "" + i)).toArray(Header[]::new);
        print("batch-2-none-many-headers", plain(BASE, withHeaders(many)));
        print("batch-2-none-long-headers", plain(BASE, withHeaders(
            header("n".repeat(63), "63"), header("n".repeat(64), "64"), header("n".repeat(200), "v".repeat(200)))));
        SimpleRecord[] times = at(START, START + (1L << 32), START - (1L << 32), 0, -1, START + (1L << 31),
            START - (1L << 31) - 1, 1L << 52);
        print("batch-2-none-timestamp-deltas", plain(BASE, times));
        print("batch-1-none-timestamps", batch(1, CompressionType.NONE, BASE, times));
        print("batch-2-none-largest-timestamp", plain(BASE, at(0, Long.MAX_VALUE, 1)));
        print("batch-2-none-timestamp-overflow", plain(BASE, at(-1, Long.MAX_VALUE)));
        MemoryRecordsBuilder builder = builder(false);
        for (long delta : new long[] {0, 1, 63, 64, 8_191, 8_192, Integer.MAX_VALUE}) {
            builder.appendWithOffset(BASE + delta, record(0, "k", "v"));
        }
        print("batch-2-none-offset-deltas", builder.build());
        for (int magic = 0; magic <= 2; magic++) {
            for (CompressionType codec : new CompressionType[] {CompressionType.NONE, CompressionType.GZIP}) {
                String id = "batch-" + magic + "-" + codec.name;
                print(id + "-largest-offset", batch(magic, codec, Long.MAX_VALUE - 2, several()));
                print(id + "-first-offset", batch(magic, codec, 0, several()));
            }
        }
        print("batch-2-none-sizes", plain(BASE, IntStream.of(1, 55, 56, 57, 58, 63, 64, 65, 8_182, 8_191, 8_192)
            .mapToObj(size -> record(size, "k".repeat(size % 70), "v".repeat(size))).toArray(SimpleRecord[]::new)));
        SimpleRecord[] records = IntStream.range(0, 300).mapToObj(i -> record(i, "k" + i, "v")).toArray(SimpleRecord[]::new);
        print("batch-2-none-many-records", plain(BASE, records));
        print("batch-1-lz4-many-records", batch(1, CompressionType.LZ4, BASE, records));
    }

    private void producers() throws IOException {
        print("batch-2-none-idempotent", produced(BASE, 9000, 3, 17, false));
        print("batch-2-none-first-sequence", produced(BASE, 0, 0, 0, false));
        print("batch-2-none-last-sequence", produced(BASE, 9000, 3, Integer.MAX_VALUE - 2, false));
        print("batch-2-none-sequence-wraps", produced(BASE, 9000, 3, Integer.MAX_VALUE - 1, false));
        print("batch-2-none-largest-producer", produced(BASE, Long.MAX_VALUE, Short.MAX_VALUE, Integer.MAX_VALUE, false));
        print("batch-2-none-transactional", produced(BASE, 9000, 3, 17, true));
    }

    /** Batches as the log cleaner leaves them. */
    private void cleaned() throws IOException {
        MemoryRecords tombstone = plain(BASE, record(0, "a", "1"), record(1, "b", "2"), record(2, "a", null), record(3, "b", "3"));
        MemoryRecords idempotent = produced(BASE, 9000, 3, 17, false);
        print("batch-2-none-compacted", cleaned(idempotent, 101));
        print("batch-2-none-delete-horizon", cleaned(tombstone, 102, 103));
        print("batch-2-none-empty", cleaned(tombstone));
        print("batch-2-none-empty-idempotent", cleaned(idempotent));
        print("batch-2-none-empty-transactional", cleaned(produced(BASE, 9000, 3, 17, true)));
        print("batch-2-none-empty-control", cleaned(end(BASE, ControlRecordType.ABORT, 9000)));
        print("batch-2-none-empty-log-append-time", cleaned(appended(plain(BASE, several()))));
        for (int magic = 0; magic <= 2; magic++) {
            print("batch-" + magic + "-gzip-compacted", cleaned(batch(magic, CompressionType.GZIP, BASE, several()), 100, 102));
        }
    }

    private void control() throws IOException {
        print("control-commit", end(BASE, ControlRecordType.COMMIT, 9000));
        print("control-abort", end(BASE, ControlRecordType.ABORT, Long.MAX_VALUE));
        print("control-commit-delete-horizon", cleaned(end(BASE, ControlRecordType.COMMIT, 9000), BASE));
        ByteBuffer room = ByteBuffer.allocate(512);
        LeaderChangeMessage leader = new LeaderChangeMessage().setLeaderId(1);
        leader.voters().add(new LeaderChangeMessage.Voter().setVoterId(1));
        leader.grantingVoters().add(new LeaderChangeMessage.Voter().setVoterId(2));
        print("control-leader-change", MemoryRecords.withLeaderChangeMessage(BASE, START, LEADER_EPOCH, room, leader));
        print("control-snapshot-header", MemoryRecords.withSnapshotHeaderRecord(0, START, LEADER_EPOCH, room.clear(),
            new SnapshotHeaderRecord().setLastContainedLogTimestamp(START)));
        print("control-snapshot-footer", MemoryRecords.withSnapshotFooterRecord(BASE, START, LEADER_EPOCH, room.clear(),
            new SnapshotFooterRecord()));
        print("control-kraft-version", MemoryRecords.withKRaftVersionRecord(BASE, START, LEADER_EPOCH, room.clear(),
            new KRaftVersionRecord().setKRaftVersion((short) 1)));
        VotersRecord.Voter voter = new VotersRecord.Voter().setVoterId(1).setVoterDirectoryId(new Uuid(5, 6));
        voter.endpoints().add(new VotersRecord.Endpoint().setName("CONTROLLER").setHost("localhost").setPort(9093));
        print("control-kraft-voters", MemoryRecords.withVotersRecord(BASE, START, LEADER_EPOCH, room.clear(),
            new VotersRecord().setVoters(List.of(voter))));
        MemoryRecordsBuilder builder = builder(true);
        builder.appendUncheckedWithOffset(BASE, new SimpleRecord(START, HEX.parseHex("00000063"), bytes("of the future")));
        print("control-unknown-type", builder.build());
    }

    private void sequences() throws IOException {
        print("sequence-aborted-transaction", produced(100, 9000, 3, 0, true), plain(103, record(0, "not", "transactional")),
            produced(104, 9000, 3, 3, true), produced(107, 9001, 3, 0, true),
            end(110, ControlRecordType.ABORT, 9000), end(111, ControlRecordType.COMMIT, 9001));
        print("sequence-codecs", Arrays.stream(CompressionType.values())
            .map(codec -> batch(2, codec, BASE + 3 * codec.id, several())).toArray(MemoryRecords[]::new));
        print("sequence-formats", batch(0, CompressionType.NONE, 100, several()), batch(0, CompressionType.LZ4, 103, several()),
            batch(1, CompressionType.NONE, 106, several()), batch(1, CompressionType.SNAPPY, 109, several()),
            plain(112, several()));
        for (int magic = 0; magic <= 2; magic++) {
            byte[] two = joined(batch(magic, CompressionType.GZIP, 100, several()),
                batch(magic, CompressionType.GZIP, 103, several()));
            print("partial-" + magic + "-records", two, two.length - 1);
        }
        byte[] two = joined(plain(100, several()), plain(103, several()));
        print("partial-2-header", two, two.length / 2 + 40);
        print("partial-2-length", two, two.length / 2 + 12);
        print("partial-2-offset", two, two.length / 2 + 1);
        print("partial-2-alone", two, two.length / 2 - 1);
        print("no-bytes", two, 0);
    }

    private static SimpleRecord[] several() {
        return new SimpleRecord[] {record(0, "a", "first"), record(10, "b", "second"), record(-20, "a", "third")};
    }

    private static SimpleRecord[] at(long... times) {
        return Arrays.stream(times).mapToObj(time -> new SimpleRecord(time, bytes("k"), bytes("v")))
            .toArray(SimpleRecord[]::new);
    }

    private static SimpleRecord record(long later, String key, String value) {
        return new SimpleRecord(START + later, bytes(key), bytes(value));
    }

    private static SimpleRecord withHeaders(Header... headers) {
        return new SimpleRecord(START, bytes("key"), bytes("value"), headers);
    }

    private static Header header(String key, String value) {
        return new RecordHeader(key, bytes(value));
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    // ---- writing

    private static MemoryRecords plain(long offset, SimpleRecord... records) {
        return batch(2, CompressionType.NONE, offset, records);
    }

    private static MemoryRecords batch(int magic, CompressionType codec, long offset, SimpleRecord... records) {
        return MemoryRecords.withRecords((byte) magic, offset, Compression.of(codec).build(),
            magic == 0 ? TimestampType.NO_TIMESTAMP_TYPE : TimestampType.CREATE_TIME, RecordBatch.NO_PRODUCER_ID,
            RecordBatch.NO_PRODUCER_EPOCH, RecordBatch.NO_SEQUENCE, LEADER_EPOCH, false, records);
    }

    private static MemoryRecords produced(long offset, long producer, int epoch, int sequence, boolean isTransactional) {
        return MemoryRecords.withRecords((byte) 2, offset, Compression.of(CompressionType.NONE).build(),
            TimestampType.CREATE_TIME, producer, (short) epoch, sequence, LEADER_EPOCH, isTransactional, several());
    }

    private static MemoryRecordsBuilder builder(boolean isControl) {
        return new MemoryRecordsBuilder(ByteBuffer.allocate(1 << 12), (byte) 2, Compression.of(CompressionType.NONE).build(),
            TimestampType.CREATE_TIME, BASE, RecordBatch.NO_TIMESTAMP, RecordBatch.NO_PRODUCER_ID,
            RecordBatch.NO_PRODUCER_EPOCH, RecordBatch.NO_SEQUENCE, false, isControl, LEADER_EPOCH, 1 << 12);
    }

    private static MemoryRecords end(long offset, ControlRecordType type, long producer) {
        return MemoryRecords.withEndTransactionMarker(
            offset, START, LEADER_EPOCH, producer, (short) 3, new EndTransactionMarker(type, 11));
    }

    /** Sets the append time as a broker does, which changes only the headers of batches. */
    private static MemoryRecords appended(MemoryRecords records) {
        records.batches().forEach(batch -> batch.setMaxTimestamp(TimestampType.LOG_APPEND_TIME, START + DAY));
        return records;
    }

    /** Returns the records at the offsets {@code kept}, as the log cleaner writes them. */
    private static MemoryRecords cleaned(MemoryRecords records, long... kept) {
        RecordFilter filter = new RecordFilter(START + DAY, DAY) {
            @Override
            protected BatchRetentionResult checkBatchRetention(RecordBatch batch) {
                return new BatchRetentionResult(BatchRetention.RETAIN_EMPTY, batch.isControlBatch());
            }

            @Override
            protected boolean shouldRetainRecord(RecordBatch batch, Record record) {
                return Arrays.stream(kept).anyMatch(offset -> offset == record.offset());
            }
        };
        ByteBuffer target = ByteBuffer.allocate(1 << 12);
        records.filterTo(filter, target, BufferSupplier.NO_CACHING, 1 << 12);
        return MemoryRecords.readableRecords(target.flip());
    }

    // ---- reading

    private static byte[] joined(MemoryRecords... parts) {
        ByteBuffer joined = ByteBuffer.allocate(1 << 18);
        for (MemoryRecords part : parts) {
            joined.put(part.buffer().duplicate());
        }
        return Arrays.copyOf(joined.array(), joined.position());
    }

    private void print(String id, MemoryRecords... parts) throws IOException {
        byte[] bytes = joined(parts);
        print(id, bytes, bytes.length);
    }

    private void print(String id, byte[] bytes, int length) throws IOException {
        ObjectNode line = Oracle.MAPPER.createObjectNode().put("id", id).put("hex", HEX.formatHex(bytes, 0, length));
        ArrayNode found = line.putArray("batches");
        int position = 0;
        for (RecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes, 0, length).slice()).batches()) {
            batch.ensureValid();
            header(found.addObject(), batch, position);
            position += batch.sizeInBytes();
        }
        line.put("incomplete", length - position);
        out.print(Oracle.MAPPER.writeValueAsString(line) + "\n");
    }

    private static void header(ObjectNode line, RecordBatch batch, int position) {
        line.put("position", position).put("size", batch.sizeInBytes()).put("magic", batch.magic());
        line.put("base_offset", batch.baseOffset()).put("last_offset", batch.lastOffset());
        line.put("leader_epoch", batch.partitionLeaderEpoch()).put("crc", batch.checksum());
        line.put("compression", batch.compressionType().name).put("timestamp_type", batch.timestampType().name);
        line.put("base_timestamp", batch instanceof DefaultRecordBatch latest ? latest.baseTimestamp() : null);
        line.put("max_timestamp", batch.maxTimestamp()).put("producer_id", batch.producerId());
        line.put("producer_epoch", batch.producerEpoch()).put("base_sequence", batch.baseSequence());
        line.put("last_sequence", batch.lastSequence()).put("is_transactional", batch.isTransactional());
        line.put("is_control", batch.isControlBatch());
        line.put("delete_horizon", batch.deleteHorizonMs().isPresent() ? batch.deleteHorizonMs().getAsLong() : null);
        line.put("count", batch.countOrNull());
        ArrayNode records = line.putArray("records");
        for (Record record : batch) {
            record.ensureValid();
            ObjectNode row = records.addObject().put("offset", record.offset()).put("timestamp", record.timestamp());
            row.put("key", hex(record.key())).put("value", hex(record.value()));
            ArrayNode headers = row.putArray("headers");
            for (Header header : record.headers()) {
                headers.addArray().add(header.key()).add(header.value() == null ? null : HEX.formatHex(header.value()));
            }
            if (batch.isControlBatch()) {
                ControlRecordType type = ControlRecordType.parse(record.key());
                boolean isEnd = type == ControlRecordType.ABORT || type == ControlRecordType.COMMIT;
                row.put("control_type", type.name());
                row.put("coordinator_epoch", isEnd ? EndTransactionMarker.deserialize(record).coordinatorEpoch() : null);
            }
        }
    }

    private static String hex(ByteBuffer bytes) {
        if (bytes == null) {
            return null;
        }
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return HEX.formatHex(copy);
    }
}
