import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.CloseableIterator;

/**
 * Reads batches as a consumer does. Each line of the input is a batch in Base64; the output line is a digest of its
 * records, or "refused" and the exception.
 */
public final class Judge {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line; (line = lines.readLine()) != null; ) {
            String verdict;
            try {
                verdict = digest(ByteBuffer.wrap(Base64.getDecoder().decode(line)));
            } catch (Throwable error) {
                Throwable cause = error.getCause() == null ? error : error.getCause();
                verdict = "refused " + cause.getClass().getSimpleName() + ": " + cause.getMessage();
            }
            System.out.println(verdict.replace('\n', ' '));
        }
    }

    private static String digest(ByteBuffer bytes) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(bytes).batches()) {
            batch.ensureValid();
            try (CloseableIterator<Record> records = batch.streamingIterator(BufferSupplier.create())) {
                while (records.hasNext()) {
                    Record record = records.next();
                    record.ensureValid();
                    String row = record.offset() + " " + record.timestamp() + " " + hex(record.key()) + " " + hex(record.value());
                    digest.update((row + "\n").getBytes(StandardCharsets.US_ASCII));
                }
            }
        }
        return HexFormat.of().formatHex(digest.digest(), 0, 8);
    }

    private static String hex(ByteBuffer bytes) {
        if (bytes == null) {
            return "null";
        }
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return HexFormat.of().formatHex(copy);
    }
}
