import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
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
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;

/**
 * Log segments by Kafka's own classes. {@code write FOLDER SEED SCALE} writes segments. {@code read FILE...} validates
 * each batch and record, and prints each record as a JSON object on a line of its own.
 */
public final class Segments {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();
    private static final long START = 1_700_000_000_000L;
    private static final long NONE = RecordBatch.NO_PRODUCER_ID;

    private final Random random;
    private final ByteBufferOutputStream out = new ByteBufferOutputStream(1 << 20);
    private final int scale;
    private long offset;

    private Segments(long seed, int scale) {
        random = new Random(seed);
        this.scale = scale;
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "write" -> write(Path.of(arguments[1]), Long.parseLong(arguments[2]), Integer.parseInt(arguments[3]));
            case "read" -> {
                try (PrintStream lines = new PrintStream(System.out, false, StandardCharsets.UTF_8)) {
                    for (int i = 1; i < arguments.length; i++) {
                        read(Path.of(arguments[i]), lines);
                    }
                }
            }
            default -> throw new IllegalArgumentException("write or read");
        }
    }

    // ---- reading

    private static void read(Path file, PrintStream lines) throws Exception {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
        long position = 0;
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(bytes).batches()) {
            batch.ensureValid();
            for (Record record : batch) {
                record.ensureValid();
                lines.print(MAPPER.writeValueAsString(row(position, batch, record)) + "\n");
            }
            position += batch.sizeInBytes();
        }
        if (position != bytes.limit()) {
            throw new IllegalStateException(file + ": " + (bytes.limit() - position) + " bytes are left");
        }
    }

    private static ObjectNode row(long position, RecordBatch batch, Record record) {
        ObjectNode row = MAPPER.createObjectNode();
        boolean legacy = batch.magic() < RecordBatch.MAGIC_VALUE_V2;
        row.put("key", hex(record.key())).put("value", hex(record.value())).put("offset", record.offset());
        row.put("timestamp", record.timestamp()).put("timestampType", batch.timestampType().id);
        ArrayNode headers = row.putArray("headers");
        for (Header header : record.headers()) {
            headers.addArray().add(header.key()).add(header.value() == null ? null : HEX.formatHex(header.value()));
        }
        row.put("position", position).put("base_offset", batch.baseOffset());
        row.put("leader_epoch", batch.partitionLeaderEpoch()).put("producer_id", batch.producerId());
        row.put("producer_epoch", batch.producerEpoch()).put("base_sequence", batch.baseSequence());
        row.put("is_transactional", batch.isTransactional()).put("is_control", batch.isControlBatch());
        String control = batch.isControlBatch() ? ControlRecordType.parse(record.key()).name() : null;
        row.put("control_type", control);
        row.put("delete_horizon", batch.deleteHorizonMs().isPresent() ? batch.deleteHorizonMs().getAsLong() : null);
        row.put("compression", batch.compressionType().name).put("magic", (int) batch.magic());
        return row;
    }

    private static String hex(ByteBuffer bytes) {
        if (bytes == null) {
            return null;
        }
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return HEX.formatHex(copy);
    }

    // ---- writing

    private static void write(Path folder, long seed, int scale) throws Exception {
        Segments data = new Segments(seed, scale);
        data.today();
        data.save(folder.resolve("orders-0/00000000000000000000.log"));
        Segments old = new Segments(seed + 1, scale);
        old.legacy();
        old.save(folder.resolve("legacy-3/00000000000000000000.log"));
        Segments quorum = new Segments(seed + 2, scale);
        quorum.quorum();
        quorum.save(folder.resolve("__cluster_metadata-0/00000000000000000000.log"));
        Segments snapshot = new Segments(seed + 3, scale);
        snapshot.snapshot();
        snapshot.save(folder.resolve("__cluster_metadata-0/00000000000000000042-0000000003.checkpoint"));
    }

    private void save(Path file) throws Exception {
        Files.createDirectories(file.getParent());
        ByteBuffer bytes = out.buffer().duplicate();
        bytes.flip();
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        Files.write(file, copy);
    }

    private void append(MemoryRecords records) {
        out.write(records.buffer().duplicate());
    }

    /** Format 2, as current brokers write it. */
    private void today() {
        for (CompressionType type : CompressionType.values()) {
            for (int count : new int[] {1, 3, 30 * scale}) {
                batch(RecordBatch.MAGIC_VALUE_V2, type, TimestampType.CREATE_TIME, count, NONE, -1, false, true);
            }
            batch(RecordBatch.MAGIC_VALUE_V2, type, TimestampType.LOG_APPEND_TIME, 5, NONE, -1, false, true);
            batch(RecordBatch.MAGIC_VALUE_V2, type, TimestampType.CREATE_TIME, 4, 9000, 17, false, true);
        }
        for (ControlRecordType end : new ControlRecordType[] {ControlRecordType.COMMIT, ControlRecordType.ABORT}) {
            batch(RecordBatch.MAGIC_VALUE_V2, CompressionType.NONE, TimestampType.CREATE_TIME, 3, 9001, 0, true, true);
            batch(RecordBatch.MAGIC_VALUE_V2, CompressionType.LZ4, TimestampType.CREATE_TIME, 3, 9001, 3, true, true);
            append(MemoryRecords.withEndTransactionMarker(
                offset++, START, 7, 9001, (short) 2, new EndTransactionMarker(end, 11)));
        }
        compacted();
        horizon();
        ByteBuffer empty = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        DefaultRecordBatch.writeEmptyHeader(empty, RecordBatch.MAGIC_VALUE_V2, 9002, (short) 1, 40, offset, offset + 4, 7,
            TimestampType.CREATE_TIME, START, false, false);
        empty.flip();
        out.write(empty);
        offset += 5;
        batch(RecordBatch.MAGIC_VALUE_V2, CompressionType.ZSTD, TimestampType.CREATE_TIME, 2, NONE, -1, false, true);
    }

    /** Offsets with gaps, large offsets, and timestamps out of order. */
    private void compacted() {
        long base = offset;
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(ByteBuffer.allocate(1 << 16), RecordBatch.MAGIC_VALUE_V2,
            Compression.of(CompressionType.SNAPPY).build(), TimestampType.CREATE_TIME, base, RecordBatch.NO_TIMESTAMP,
            NONE, (short) -1, -1, false, false, 7, 1 << 16);
        for (int gap : new int[] {0, 1, 100, 5_000, 2_000_000, 1_000_000_000}) {
            long time = START - 86_400_000L * (gap % 977);
            builder.appendWithOffset(base + gap, new SimpleRecord(time, bytes(4), bytes(9), headers()));
        }
        append(builder.build());
        offset = base + 1_000_000_001L;
    }

    /** A batch with a delete horizon, as the log cleaner leaves it. */
    private void horizon() {
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(new ByteBufferOutputStream(1 << 16),
            RecordBatch.MAGIC_VALUE_V2, Compression.of(CompressionType.GZIP).build(), TimestampType.CREATE_TIME, offset,
            RecordBatch.NO_TIMESTAMP, NONE, (short) -1, -1, false, false, 7, 1 << 16, START + 86_400_000L);
        for (int i = 0; i < 3; i++) {
            builder.appendWithOffset(offset++, new SimpleRecord(START + i, bytes(5), (byte[]) null, headers()));
        }
        append(builder.build());
    }

    /** Formats 0 and 1, as Kafka up to 0.10 wrote them, and a batch of format 2 after them. */
    private void legacy() {
        CompressionType[] types = {CompressionType.NONE, CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.LZ4};
        for (byte magic : new byte[] {RecordBatch.MAGIC_VALUE_V0, RecordBatch.MAGIC_VALUE_V1}) {
            for (CompressionType type : types) {
                TimestampType time = magic == 0 ? TimestampType.NO_TIMESTAMP_TYPE : TimestampType.CREATE_TIME;
                batch(magic, type, time, 1, NONE, -1, false, false);
                batch(magic, type, time, 8 * scale, NONE, -1, false, false);
                if (magic == RecordBatch.MAGIC_VALUE_V1) {
                    batch(magic, type, TimestampType.LOG_APPEND_TIME, 4, NONE, -1, false, false);
                }
            }
        }
        batch(RecordBatch.MAGIC_VALUE_V2, CompressionType.LZ4, TimestampType.CREATE_TIME, 5, NONE, -1, false, true);
    }

    /** KRaft control records, then a batch of data records. */
    private void quorum() {
        LeaderChangeMessage leader = new LeaderChangeMessage().setLeaderId(1);
        leader.voters().add(new LeaderChangeMessage.Voter().setVoterId(1));
        append(MemoryRecords.withLeaderChangeMessage(offset++, START, 1, ByteBuffer.allocate(256), leader));
        KRaftVersionRecord version = new KRaftVersionRecord().setKRaftVersion((short) 1);
        append(MemoryRecords.withKRaftVersionRecord(offset++, START, 1, ByteBuffer.allocate(256), version));
        append(MemoryRecords.withVotersRecord(offset++, START, 1, ByteBuffer.allocate(256), voters()));
        batch(RecordBatch.MAGIC_VALUE_V2, CompressionType.NONE, TimestampType.CREATE_TIME, 6, NONE, -1, false, false);
    }

    /** A snapshot of KRaft (KIP-630). */
    private void snapshot() {
        SnapshotHeaderRecord header = new SnapshotHeaderRecord().setLastContainedLogTimestamp(START);
        append(MemoryRecords.withSnapshotHeaderRecord(offset++, START, 3, ByteBuffer.allocate(256), header));
        batch(RecordBatch.MAGIC_VALUE_V2, CompressionType.NONE, TimestampType.CREATE_TIME, 20 * scale, NONE, -1, false, false);
        append(MemoryRecords.withSnapshotFooterRecord(offset++, START, 3, ByteBuffer.allocate(256),
            new SnapshotFooterRecord()));
    }

    private static VotersRecord voters() {
        VotersRecord.Voter voter = new VotersRecord.Voter().setVoterId(1).setVoterDirectoryId(new Uuid(5, 6))
            .setKRaftVersionFeature(new VotersRecord.KRaftVersionFeature().setMinSupportedVersion((short) 0)
                .setMaxSupportedVersion((short) 1));
        return new VotersRecord().setVoters(new ArrayList<>(List.of(voter)));
    }

    private void batch(byte magic, CompressionType type, TimestampType time, int count, long producer, int sequence,
            boolean transactional, boolean withHeaders) {
        short epoch = (short) (producer == NONE ? -1 : 2);
        int leader = magic < 2 ? -1 : 7;
        long appended = time == TimestampType.LOG_APPEND_TIME ? START + 5_000 : RecordBatch.NO_TIMESTAMP;
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(new ByteBufferOutputStream(1 << 20), magic,
            Compression.of(type).build(), time, offset, appended, producer, epoch, sequence, transactional, false, leader,
            1 << 20, RecordBatch.NO_TIMESTAMP);
        for (int i = 0; i < count; i++) {
            long at = magic == 0 ? RecordBatch.NO_TIMESTAMP : START + random.nextInt(1000) - 200;
            Header[] headers = withHeaders ? headers() : new Header[0];
            builder.appendWithOffset(offset++, new SimpleRecord(at, maybe(12), maybe(90), headers));
        }
        append(builder.build());
    }

    private Header[] headers() {
        Header[] headers = new Header[Math.max(0, random.nextInt(6) - 2)];
        for (int i = 0; i < headers.length; i++) {
            headers[i] = new RecordHeader(i == 2 ? "größe" : "key-" + random.nextInt(20), maybe(10));
        }
        return headers;
    }

    private byte[] maybe(int most) {
        return random.nextInt(5) == 0 ? null : bytes(random.nextInt(most + 1));
    }

    /** Bytes with repetitions, so that they can be compressed. */
    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) ('a' + random.nextInt(4));
        }
        return bytes;
    }
}
