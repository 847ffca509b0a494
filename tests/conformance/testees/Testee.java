import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.record.internal.BaseRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.internals.AppInfoParser;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;

/** Testee of the codec mode: Kafka's own message classes, with its JSON converters. */
public final class Testee {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final List<String> PACKAGES = List.of(
        "common.message", "common.metadata", "coordinator.group.generated", "coordinator.share.generated",
        "coordinator.transaction.generated", "raft.generated", "server.log.remote.metadata.storage.generated");

    private static final class UnsupportedException extends Exception {
        private static final long serialVersionUID = 1;

        UnsupportedException(String message) {
            super(message);
        }
    }

    /** A struct of the input: a message, or the header in front of it. */
    private record Part(Class<? extends Message> type, short version) {
        Message create() throws ReflectiveOperationException {
            return type.getConstructor().newInstance();
        }

        Class<?> converter() throws ClassNotFoundException {
            return Class.forName(type.getName() + "JsonConverter");
        }
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode request = MAPPER.readTree(line);
            ObjectNode answer = MAPPER.createObjectNode();
            answer.set("id", request.get("id"));
            try {
                answer(request, answer);
            } catch (UnsupportedException error) {
                answer.put("unsupported", error.getMessage());
            } catch (InvocationTargetException error) {
                answer.put("refused", error.getCause().toString());
            } catch (Exception error) {
                answer.put("refused", error.toString());
            }
            out.println(MAPPER.writeValueAsString(answer));
        }
    }

    private static void answer(JsonNode request, ObjectNode answer) throws Exception {
        String operation = request.get("op").textValue();
        if (operation.equals("describe")) {
            answer.put("name", "Kafka's Java classes " + AppInfoParser.getVersion());
            answer.withArray("operations").add("rewrite").add("decode").add("encode");
            return;
        }
        String kind = request.get("kind").textValue();
        ByteBuffer input = ByteBuffer.wrap(HexFormat.of().parseHex(request.path("data").asText()));
        if (kind.equals("records")) {
            if (operation.equals("encode")) {
                throw new UnsupportedException("batches have headers that records do not have");
            }
            ArrayNode records = MAPPER.createArrayNode();
            byte[] data = rewritten(input, records);
            if (operation.equals("decode")) {
                answer.putObject("json").set("records", records);
            } else {
                answer.put("data", HexFormat.of().formatHex(data));
            }
            return;
        }
        boolean isFrame = !kind.equals("message");
        Map<String, Part> parts = parts(kind, request.get("name").textValue(), request.get("version").shortValue());
        Map<String, Message> messages = new LinkedHashMap<>();
        if (isFrame && !operation.equals("encode")) {
            int size = input.getInt();
            if (size < 0 || size > input.remaining()) {
                throw new IllegalArgumentException("a frame of " + size + " bytes with " + input.remaining());
            }
            input.limit(input.position() + size);
        }
        for (Map.Entry<String, Part> entry : parts.entrySet()) {
            Part part = entry.getValue();
            if (operation.equals("encode")) {
                JsonNode json = isFrame ? request.get("json").get(entry.getKey()) : request.get("json");
                Object read = part.converter().getMethod("read", JsonNode.class, short.class)
                    .invoke(null, json, part.version());
                messages.put(entry.getKey(), (Message) read);
            } else {
                Message message = part.create();
                message.read(new ByteBufferAccessor(input), part.version());
                messages.put(entry.getKey(), message);
            }
        }
        if (operation.equals("decode")) {
            ObjectNode json = MAPPER.createObjectNode();
            for (Map.Entry<String, Part> entry : parts.entrySet()) {
                json.set(entry.getKey(), json(entry.getValue(), messages.get(entry.getKey())));
            }
            answer.set("json", isFrame ? json : json.get("message"));
        } else {
            answer.put("data", HexFormat.of().formatHex(written(parts, messages, isFrame)));
        }
    }

    /** Returns the structs of an input: "message", after the "header" in a frame. */
    private static Map<String, Part> parts(String kind, String name, short version) throws Exception {
        Class<? extends Message> type = type(name);
        Message message = new Part(type, version).create();
        if (version < message.lowestSupportedVersion() || version > message.highestSupportedVersion()) {
            throw new UnsupportedException(name + " has no version " + version);
        }
        Map<String, Part> parts = new LinkedHashMap<>();
        for (ApiMessageType api : ApiMessageType.values()) {
            if (kind.equals("request") && name.equals(api.name + "Request")) {
                parts.put("header", new Part(RequestHeaderData.class, api.requestHeaderVersion(version)));
            } else if (kind.equals("response") && name.equals(api.name + "Response")) {
                parts.put("header", new Part(ResponseHeaderData.class, api.responseHeaderVersion(version)));
            }
        }
        parts.put("message", new Part(type, version));
        return parts;
    }

    private static Class<? extends Message> type(String name) throws UnsupportedException {
        String simple = name + (name.matches(".*(Request|Response|Header)") ? "Data" : "");
        for (String each : PACKAGES) {
            try {
                return Class.forName("org.apache.kafka." + each + "." + simple).asSubclass(Message.class);
            } catch (ClassNotFoundException error) {
                continue; // the next package may have it
            }
        }
        throw new UnsupportedException("there is no class " + simple);
    }

    private static byte[] written(Map<String, Part> parts, Map<String, Message> messages, boolean isFrame) {
        ByteBufferOutputStream out = new ByteBufferOutputStream(1024);
        ByteBuffer length = ByteBuffer.allocate(isFrame ? Integer.BYTES : 0);
        out.write(length);
        parts.forEach((key, part) ->
            out.write(MessageUtil.toByteBufferAccessor(messages.get(key), part.version()).buffer()));
        byte[] data = MessageUtil.byteBufferToArray(out.buffer().flip());
        if (isFrame) {
            ByteBuffer.wrap(data).putInt(data.length - Integer.BYTES);
        }
        return data;
    }

    private static JsonNode json(Part part, Message message) throws ReflectiveOperationException {
        Object json = part.converter().getMethod("write", part.type(), short.class)
            .invoke(null, message, part.version());
        putRecords(message, (ObjectNode) json);
        return (JsonNode) json;
    }

    /** Puts in the bytes of records, for which the converter writes an empty string. */
    private static void putRecords(Message message, ObjectNode json) throws ReflectiveOperationException {
        for (Field field : message.getClass().getDeclaredFields()) {
            JsonNode member = json.get(field.getName());
            if (member == null || member.isNull()) {
                continue;
            }
            field.setAccessible(true);
            Object value = field.get(message);
            if (field.getType() == BaseRecords.class) {
                json.put(field.getName(), MessageUtil.byteBufferToArray(((MemoryRecords) value).buffer()));
            } else if (value instanceof Message struct) {
                putRecords(struct, (ObjectNode) member);
            } else if (value instanceof Collection<?> elements) {
                Iterator<JsonNode> nodes = member.elements();
                for (Object element : elements) {
                    JsonNode node = nodes.next();
                    if (element instanceof Message struct) {
                        putRecords(struct, (ObjectNode) node);
                    }
                }
            }
        }
    }

    /** Reads the records of all batches, and writes the batches as a broker does: unchanged. */
    private static byte[] rewritten(ByteBuffer input, ArrayNode records) throws IOException {
        ByteBufferOutputStream out = new ByteBufferOutputStream(1024);
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(input).batches()) {
            batch.ensureValid();
            for (Record record : batch) {
                record.ensureValid();
                if (!batch.isControlBatch()) {
                    putFields(record, records.addObject());
                }
            }
            batch.writeTo(out);
        }
        return MessageUtil.byteBufferToArray(out.buffer().flip());
    }

    private static void putFields(Record record, ObjectNode json) {
        json.put("offset", record.offset()).put("timestamp", record.timestamp());
        json.put("key", hex(record.key())).put("value", hex(record.value()));
        ArrayNode headers = json.putArray("headers");
        for (Header header : record.headers()) {
            String value = header.value() == null ? null : HexFormat.of().formatHex(header.value());
            headers.addArray().add(header.key()).add(value);
        }
    }

    private static String hex(ByteBuffer content) {
        return content == null ? null : HexFormat.of().formatHex(MessageUtil.byteBufferToArray(content));
    }
}
