import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/** Prints Kafka's error codes, one JSON object per line. Uses only classes that old releases have, too. */
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

    /** Returns whether clients refresh metadata after an error. Old releases have only the second of the two classes. */
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
