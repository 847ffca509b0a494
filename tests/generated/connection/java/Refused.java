import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestAndSize;

/**
 * Answers each request on standard input ("API key, version, hexadecimal, error code") with an error, as Kafka's own
 * classes do it: hexadecimal, one answer a line. It compiles with the classes of every release since 3.2.
 */
public final class Refused {
    private static final Method PARSE =
            Arrays.stream(AbstractRequest.class.getMethods())
                    .filter(each -> each.getName().equals("parseRequest") && each.getParameterCount() == 3)
                    .findFirst()
                    .orElseThrow();

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split(" ");
                ApiKeys key = ApiKeys.forId(Integer.parseInt(words[0]));
                short version = Short.parseShort(words[1]);
                ByteBuffer body = ByteBuffer.wrap(HexFormat.of().parseHex(words[2]));
                // Releases before 4 take a buffer, later ones what reads from it.
                boolean isBuffer = PARSE.getParameterTypes()[2] == ByteBuffer.class;
                Object source = isBuffer ? body : new ByteBufferAccessor(body);
                AbstractRequest request = ((RequestAndSize) PARSE.invoke(null, key, version, source)).request;
                AbstractResponse response =
                        request.getErrorResponse(0, Errors.forCode(Short.parseShort(words[3])).exception("why"));
                out.print((response == null ? "none" : hex(response.data(), version)) + "\n");
            }
        }
    }

    static String hex(ApiMessage message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer bytes = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(bytes), cache, version);
        byte[] copy = new byte[bytes.position()];
        bytes.flip().get(copy);
        return HexFormat.of().formatHex(copy);
    }
}
