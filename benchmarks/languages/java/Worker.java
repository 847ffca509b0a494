import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.kafka.common.message.ApiVersionsRequestData;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/** Kafka's own message classes as a worker of other_languages.py: one JSON request per line on stdin, one answer on stdout. */
public final class Worker {
    private static final Map<String, Supplier<Message>> MESSAGES = Map.of(
        "ApiVersionsRequest", ApiVersionsRequestData::new,
        "FetchResponse", FetchResponseData::new,
        "JoinGroupResponse", JoinGroupResponseData::new,
        "MetadataResponse", MetadataResponseData::new,
        "OffsetCommitRequest", OffsetCommitRequestData::new,
        "ProduceRequest", ProduceRequestData::new);

    /** Requests are flat, and their strings need no escapes. */
    private static final Pattern MEMBER = Pattern.compile("\"(\\w+)\": (?:\"([^\"]*)\"|([-0-9]+))");

    /** The latest result; the JIT compiler could remove the computation of unused results. */
    private static volatile Object made;

    private final Supplier<Message> create;
    private final short version;
    private final byte[] data;
    private final Message message;
    private final ByteBuffer buffer;

    private Worker(Supplier<Message> create, short version, byte[] data) {
        this.create = create;
        this.version = version;
        this.data = data;
        this.message = decode();
        this.buffer = ByteBuffer.allocate(data.length);
        if (!Arrays.equals(bytes(encode()), bytes(encodeIntoBuffer())))
            throw new IllegalStateException("other bytes in a buffer that is reused");
    }

    private Message decode() {
        Message decoded = create.get();
        decoded.read(new ByteBufferAccessor(ByteBuffer.wrap(data)), version);
        return decoded;
    }

    private ByteBuffer encode() {
        return MessageUtil.toByteBufferAccessor(message, version).buffer();
    }

    private ByteBuffer encodeIntoBuffer() {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        message.size(cache, version);
        message.write(new ByteBufferAccessor(buffer.clear()), cache, version);
        return buffer.flip();
    }

    private void run(String operation, long loops) {
        switch (operation) {
            case "decode" -> {
                for (long loop = 0; loop < loops; loop++) made = decode();
            }
            case "encode" -> {
                for (long loop = 0; loop < loops; loop++) made = encode();
            }
            case "encode+reuse" -> {
                for (long loop = 0; loop < loops; loop++) made = encodeIntoBuffer();
            }
            default -> throw new IllegalArgumentException("unknown operation " + operation);
        }
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    private static String version() throws IOException {
        Properties properties = new Properties();
        try (InputStream file = Message.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            properties.load(file);
        }
        return properties.getProperty("version");
    }

    private static String answer(Map<String, String> request, Map<String, Worker> loaded) throws IOException {
        String key = request.get("workload");
        switch (request.get("do")) {
            case "hello":
                return "{\"version\": \"kafka-clients " + version() + "\"}";
            case "load":
                byte[] data = Base64.getDecoder().decode(request.get("data"));
                short version = Short.parseShort(request.get("version"));
                Worker worker = new Worker(MESSAGES.get(request.get("message")), version, data);
                loaded.put(key, worker);
                String again = Base64.getEncoder().encodeToString(bytes(worker.encode()));
                return "{\"again\": \"" + again + "\", \"operations\": [\"decode\", \"encode\", \"encode+reuse\"]}";
            case "time":
                loaded.get(key).run(request.get("operation"), Long.parseLong(request.get("loops")));
                return "{}";
            default:
                throw new IllegalArgumentException("unknown request " + request.get("do"));
        }
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\s", " ") + '"';
    }

    public static void main(String[] arguments) throws IOException {
        Map<String, Worker> loaded = new HashMap<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Map<String, String> request = new HashMap<>();
            Matcher member = MEMBER.matcher(line);
            while (member.find()) request.put(member.group(1), member.group(2) != null ? member.group(2) : member.group(3));
            String answer;
            try {
                answer = answer(request, loaded);
            } catch (RuntimeException error) {
                answer = "{\"error\": " + quoted(error.toString()) + "}";
            }
            System.out.println(answer);
        }
    }
}
