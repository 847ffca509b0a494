import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.util.function.IntUnaryOperator;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.types.Schema;

/** Prints Kafka's own table of APIs. */
final class Tables {
    private Tables() {}

    static void apis(PrintStream out) throws JsonProcessingException {
        for (ApiKeys api : ApiKeys.values()) {
            print(out, line(api));
        }
    }

    private static ObjectNode line(ApiKeys api) {
        ApiMessageType type = api.messageType;
        ObjectNode line = Oracle.MAPPER.createObjectNode();
        line.put("name", api.name());
        line.put("title", api.name);
        line.put("id", api.id);
        line.put("hasValidVersion", api.hasValidVersion());
        line.put("oldestVersion", type.lowestSupportedVersion());
        line.put("latestVersion", type.highestSupportedVersion(true));
        line.put("latestStableVersion", type.highestSupportedVersion(false));
        line.put("latestVersionUnstable", type.latestVersionUnstable());
        line.put("oldestDeprecatedVersion", type.lowestDeprecatedVersion());
        line.put("latestDeprecatedVersion", type.highestDeprecatedVersion());
        side(line, "request", type.requestSchemas(), version -> type.requestHeaderVersion((short) version));
        side(line, "response", type.responseSchemas(), version -> type.responseHeaderVersion((short) version));
        ArrayNode listeners = line.putArray("listeners");
        type.listeners().forEach(listener -> listeners.add(listener.name()));
        line.put("clusterAction", api.clusterAction);
        line.put("forwardable", api.forwardable);
        return line;
    }

    /** Adds the versions with a schema of a request or response, and the header version of each. */
    private static void side(ObjectNode line, String name, Schema[] schemas, IntUnaryOperator headerVersion) {
        ObjectNode headers = Oracle.MAPPER.createObjectNode();
        int oldest = -1;
        int latest = -1;
        for (int version = 0; schemas != null && version < schemas.length; version++) {
            if (schemas[version] != null) {
                oldest = oldest < 0 ? version : oldest;
                latest = version;
                headers.put(String.valueOf(version), headerVersion.applyAsInt(version));
            }
        }
        line.put(name + "OldestVersion", oldest);
        line.put(name + "LatestVersion", latest);
        line.set(name + "HeaderVersions", headers);
    }

    private static void print(PrintStream out, ObjectNode line) throws JsonProcessingException {
        out.print(Oracle.MAPPER.writeValueAsString(line) + "\n");
    }
}
