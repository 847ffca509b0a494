import java.util.HexFormat;
import org.apache.kafka.tools.api.Decoder;

/** Makes the dump tool print keys and values in hexadecimal, so that none contains a line break. */
public final class Hex implements Decoder<String> {
    @Override
    public String fromBytes(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
