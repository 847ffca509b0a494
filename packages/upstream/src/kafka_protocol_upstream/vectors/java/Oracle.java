import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/**
 * Answers questions with Kafka's own classes; each question and each answer is a line with a JSON object.
 *
 * <p>Modes: {@code samples} encodes messages (class, converter, version, json); the answer is {@code hex} and {@code json},
 * plus {@code size} if the size that Kafka computes is wrong. With {@code header}, it encodes a whole frame. {@code read}
 * decodes bytes (class, version, hex); the answer is {@code left}, the number of unread bytes. Both answer {@code error} on
 * failure. {@code apis}, {@code batches} and {@code negotiation} print lines without questions.
 */
public final class Oracle {
    static final ObjectMapper MAPPER = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        FileOutputStream standard = new FileOutputStream(FileDescriptor.out);
        BufferedOutputStream buffered = new BufferedOutputStream(standard);
        try (PrintStream out = new PrintStream(buffered, false, StandardCharsets.UTF_8)) {
            switch (arguments.length == 1 ? arguments[0] : "") {
                case "samples", "read" -> answerAll(out);
                case "apis" -> Tables.apis(out);
                case "batches" -> Batches.print(out);
                case "negotiation" -> Negotiation.print(out);
                default -> throw new IllegalArgumentException(
                    "one argument is needed: samples, read, apis, batches or negotiation");
            }
        }
    }

    private static void answerAll(PrintStream out) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            out.print(MAPPER.writeValueAsString(answer(MAPPER.readTree(line))) + "\n");
        }
    }

    private static ObjectNode answer(JsonNode question) {
        ObjectNode answer = MAPPER.createObjectNode();
        try {
            answerInto(answer, question);
        } catch (InvocationTargetException error) {
            answer.removeAll().put("error", String.valueOf(error.getCause()));
        } catch (Exception | LinkageError error) {
            answer.removeAll().put("error", error.toString());
        }
        return answer;
    }

    private static void answerInto(ObjectNode answer, JsonNode question) throws Exception {
        if (question.has("header")) {
            Frames.answer(answer, question);
            return;
        }
        Class<?> type = Class.forName(question.get("class").textValue());
        if (question.has("hex")) {
            ByteBuffer given = ByteBuffer.wrap(HexFormat.of().parseHex(question.get("hex").textValue()));
            create(type).read(new ByteBufferAccessor(given), (short) question.get("version").intValue());
            answer.put("left", given.remaining());
            return;
        }
        JsonForm form = JsonForm.of(type, question.path("converter").textValue());
        short version = (short) question.get("version").intValue();
        Message message = question.has("json") ? form.read(question.get("json"), version) : create(type);

        ObjectSerializationCache cache = new ObjectSerializationCache();
        int size = message.size(cache, version);
        // Kafka 4.0 computes one byte too few for a nullable tagged struct of 127 bytes, so the buffer is larger.
        ByteBuffer buffer = ByteBuffer.allocate(2 * size + 16);
        message.write(new ByteBufferAccessor(buffer), cache, version);
        buffer.flip();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);

        Message again = create(type);
        again.read(new ByteBufferAccessor(buffer), version);
        if (buffer.hasRemaining() || !again.equals(message)) {
            throw new IllegalStateException("reading the bytes back gives another message: " + again);
        }
        answer.put("hex", HexFormat.of().formatHex(bytes));
        answer.set("json", form.write(again, version));
        if (size != bytes.length) {
            answer.put("size", size);
        }
    }

    static Message create(Class<?> type) throws ReflectiveOperationException {
        return (Message) type.getConstructor().newInstance();
    }
}
