import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.QuotaConfig;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.streams.StreamsConfig;

/**
 * Prints Kafka's settings, from the ConfigDefs of Kafka's classes.
 *
 * <p>Modes: {@code table} prints one JSON object for each name and type, sorted: {@code name}, {@code type} and
 * {@code of}, the components that have the setting. {@code hidden} reads names from standard input, one per line, and
 * prints for each setting whether a broker redacts its value in the broker's log.
 */
public final class Settings {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    public static void main(String[] arguments) throws IOException {
        FileOutputStream standard = new FileOutputStream(FileDescriptor.out);
        try (PrintStream out = new PrintStream(standard, false, StandardCharsets.UTF_8)) {
            switch (arguments.length == 1 ? arguments[0] : "") {
                case "table" -> table(out);
                case "hidden" -> hidden(out);
                default -> throw new IllegalArgumentException("one argument is needed: table or hidden");
            }
        }
    }

    private static void table(PrintStream out) throws IOException {
        Map<String, Map<String, Set<String>>> found = new TreeMap<>();
        add(found, "broker", AbstractKafkaConfig.CONFIG_DEF);
        add(found, "broker", QuotaConfig.brokerQuotaConfigs());
        add(found, "topic", LogConfig.configDefCopy());
        add(found, "group", GroupConfig.CONFIG_DEF);
        add(found, "client metrics", ClientMetricsConfigs.configDef());
        add(found, "admin client", AdminClientConfig.configDef());
        add(found, "consumer", ConsumerConfig.configDef());
        add(found, "producer", ProducerConfig.configDef());
        add(found, "streams", StreamsConfig.configDef());
        for (Map.Entry<String, Map<String, Set<String>>> setting : found.entrySet()) {
            for (Map.Entry<String, Set<String>> type : setting.getValue().entrySet()) {
                ObjectNode line = MAPPER.createObjectNode();
                line.put("name", setting.getKey());
                line.put("type", type.getKey());
                ArrayNode of = line.putArray("of");
                type.getValue().forEach(of::add);
                out.print(MAPPER.writeValueAsString(line) + "\n");
            }
        }
    }

    private static void add(Map<String, Map<String, Set<String>>> found, String of, ConfigDef definition) {
        for (ConfigDef.ConfigKey key : definition.configKeys().values()) {
            found.computeIfAbsent(key.name, name -> new TreeMap<>())
                    .computeIfAbsent(String.valueOf(key.type()), type -> new TreeSet<>())
                    .add(of);
        }
    }

    private static void hidden(PrintStream out) throws IOException {
        String value = "swordfish";
        BufferedReader names = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String name = names.readLine(); name != null; name = names.readLine()) {
            String shown = AbstractKafkaConfig.loggableValue(ConfigResource.Type.BROKER, name, value);
            out.print(!value.equals(shown) + "\n");
        }
    }
}
