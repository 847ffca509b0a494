import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.network.Send;
import org.apache.kafka.common.network.TransferableChannel;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.SendBuilder;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.ResponseHeader;

/** Whole frames as Kafka sends them: length, header and body. */
final class Frames {
    private Frames() {}

    /** Answers with {@code api}, {@code header_version}, {@code hex}, and {@code header} and {@code json} as read back. */
    static void answer(ObjectNode answer, JsonNode question) throws Exception {
        short version = (short) question.get("version").intValue();
        Class<?> type = Class.forName(question.get("class").textValue());
        JsonForm form = JsonForm.of(type, question.path("converter").textValue());
        ApiMessage body = (ApiMessage) form.read(question.get("json"), version);
        ApiKeys api = ApiKeys.forId(body.apiKey());
        boolean isRequest = type.getSimpleName().endsWith("RequestData");
        short headerVersion = isRequest ? api.requestHeaderVersion(version) : api.responseHeaderVersion(version);
        JsonForm headerForm = headerForm(isRequest);
        ObjectNode given = (ObjectNode) question.get("header");
        given.put("requestApiKey", api.id).put("requestApiVersion", version);
        if (isRequest && headerVersion == 0) {
            given.remove("clientId");  // of ControlledShutdown 0
        }
        Message header = headerForm.read(given, headerVersion);
        byte[] frame = bytes(header instanceof RequestHeaderData data
            ? SendBuilder.buildRequestSend(new RequestHeader(data, headerVersion), body)
            : SendBuilder.buildResponseSend(
                new ResponseHeader((ResponseHeaderData) header, headerVersion), body, version));

        ByteBuffer buffer = afterLength(frame);
        Message headerAgain = read(header.getClass(), buffer, headerVersion);
        Message again = read(type, buffer, version);
        if (buffer.hasRemaining() || !again.equals(body) || !headerAgain.equals(header)) {
            throw new IllegalStateException("reading the bytes back gives another frame: " + headerAgain + " " + again);
        }
        answer.put("api", api.id).put("header_version", headerVersion).put("hex", HexFormat.of().formatHex(frame));
        answer.set("header", headerForm.write(headerAgain, headerVersion));
        answer.set("json", form.write(again, version));
    }

    static JsonForm headerForm(boolean isRequest) throws ReflectiveOperationException {
        Class<?> type = isRequest ? RequestHeaderData.class : ResponseHeaderData.class;
        return JsonForm.of(type, type.getName() + "JsonConverter");
    }

    static Message read(Class<?> type, ByteBuffer buffer, short version) throws ReflectiveOperationException {
        Message message = Oracle.create(type);
        message.read(new ByteBufferAccessor(buffer), version);
        return message;
    }

    /** Returns a buffer at the header. Throws an exception unless the length is right. */
    static ByteBuffer afterLength(byte[] frame) {
        ByteBuffer buffer = ByteBuffer.wrap(frame);
        int length = buffer.getInt();
        if (length != buffer.remaining()) {
            throw new IllegalStateException("length " + length + " before " + buffer.remaining() + " bytes");
        }
        return buffer;
    }

    /** Returns what a connection gets. */
    static byte[] bytes(Send send) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Class<?>[] types = {TransferableChannel.class};
        send.writeTo((TransferableChannel) Proxy.newProxyInstance(Frames.class.getClassLoader(), types, (self, method, given) -> {
            if (method.getName().equals("hasPendingWrites")) {
                return false;
            }
            for (ByteBuffer source : (ByteBuffer[]) given[0]) {
                out.write(source.array(), source.arrayOffset() + source.position(), source.remaining());
                source.position(source.limit());
            }
            return (long) out.size();
        }));
        if (!send.completed()) {
            throw new IllegalStateException("Kafka wrote only " + out.size() + " of " + send.size() + " bytes");
        }
        return out.toByteArray();
    }
}
