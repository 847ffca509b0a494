import java.util.HexFormat;
import org.apache.kafka.tools.api.Decoder;

/** Has the dump tool print keys and values as hexadecimal digits, so that none breaks a line. */
public final class Hex implements Decoder<String> {
    @Override
    public String fromBytes(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
