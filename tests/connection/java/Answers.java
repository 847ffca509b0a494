import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.message.ApiMessageType.ListenerType;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.ApiVersionsResponse;

/**
 * What Kafka's own classes answer, as hexadecimal, one answer a line.
 *
 * <p>{@code errors} answers each request on standard input ("API key, version, hexadecimal, error code") with an error;
 * {@code announce} prints what brokers and controllers announce: listener, unstable, telemetry, bytes at version 4.
 */
public final class Answers {
    public static void main(String[] arguments) throws Exception {
        try (PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8)) {
            switch (arguments[0]) {
                case "errors" -> errors(out);
                case "announce" -> announce(out);
                default -> throw new IllegalArgumentException(arguments[0]);
            }
        }
    }

    private static void errors(PrintStream out) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            short version = Short.parseShort(words[1]);
            ByteBuffer body = ByteBuffer.wrap(HexFormat.of().parseHex(words[2]));
            AbstractRequest request =
                    AbstractRequest.parseRequest(
                                    ApiKeys.forId(Integer.parseInt(words[0])), version, new ByteBufferAccessor(body))
                            .request;
            AbstractResponse response =
                    request.getErrorResponse(0, Errors.forCode(Short.parseShort(words[3])).exception("why"));
            out.print((response == null ? "none" : hex(response.data(), version)) + "\n");
        }
    }

    private static void announce(PrintStream out) {
        for (ListenerType listener : new ListenerType[] {ListenerType.BROKER, ListenerType.CONTROLLER}) {
            for (boolean unstable : new boolean[] {false, true}) {
                for (boolean telemetry : new boolean[] {false, true}) {
                    ApiVersionsResponseData data = new ApiVersionsResponseData();
                    data.setApiKeys(ApiVersionsResponse.brokerApiVersions(listener, unstable, telemetry));
                    String name = listener.name().toLowerCase();
                    out.print(name + " " + unstable + " " + telemetry + " " + hex(data, (short) 4) + "\n");
                }
            }
        }
    }

    private static String hex(ApiMessage message, short version) {
        ByteBuffer bytes = MessageUtil.toByteBufferAccessor(message, version).buffer();
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return HexFormat.of().formatHex(copy);
    }
}
