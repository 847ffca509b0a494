import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/** Kafka's error codes, one JSON object a line. Needs no class that only newer releases have. */
public final class ErrorCodes {
    private ErrorCodes() {}

    public static void main(String[] arguments) {
        for (Errors error : Errors.values()) {
            Exception exception = error.exception();
            System.out.printf(
                    "{\"name\": \"%s\", \"code\": %d, \"retriable\": %b, \"refreshMetadata\": %b}%n",
                    error.name(), error.code(), exception instanceof RetriableException, refreshes(exception));
        }
    }

    /** By name: the first of these classes came later than the second, which is one of its kind since. */
    private static boolean refreshes(Exception exception) {
        for (Class<?> type = exception == null ? null : exception.getClass(); type != null; type = type.getSuperclass()) {
            String name = type.getSimpleName();
            if (name.equals("RefreshRetriableException") || name.equals("InvalidMetadataException")) {
                return true;
            }
        }
        return false;
    }
}
