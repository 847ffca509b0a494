import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.tools.DumpLogSegments;

/** Runs Kafka's dump tool on several files in one process: {@code Dump FILE... -- OPTION...}. */
public final class Dump {
    public static void main(String[] arguments) throws Exception {
        int end = Arrays.asList(arguments).indexOf("--");
        for (String file : Arrays.copyOf(arguments, end)) {
            List<String> options = new ArrayList<>(List.of("--files", file));
            options.addAll(Arrays.asList(arguments).subList(end + 1, arguments.length));
            try {
                DumpLogSegments.main(options.toArray(String[]::new));
            } catch (NoSuchMethodError error) {
                // The newest published tool is older than the release. It prints the whole file, but fails to close it.
                if (!error.getMessage().contains("FileRecords.closeHandlers")) {
                    throw error;
                }
            }
        }
    }
}
