import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.message.ApiMessageType.ListenerType;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.requests.ApiVersionsResponse;

/** What brokers and controllers announce, one a line: listener, unstable, telemetry, hexadecimal at version 4. */
public final class Announced {
    public static void main(String[] arguments) throws Exception {
        try (PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8)) {
            for (ListenerType listener : new ListenerType[] {ListenerType.BROKER, ListenerType.CONTROLLER}) {
                for (boolean unstable : new boolean[] {false, true}) {
                    for (boolean telemetry : new boolean[] {false, true}) {
                        ApiVersionsResponseData data = new ApiVersionsResponseData();
                        data.setApiKeys(ApiVersionsResponse.brokerApiVersions(listener, unstable, telemetry));
                        String name = listener.name().toLowerCase();
                        String bytes = Refused.hex(data, (short) 4);
                        out.print(name + " " + unstable + " " + telemetry + " " + bytes + "\n");
                    }
                }
            }
        }
    }
}
