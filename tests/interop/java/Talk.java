import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/** Does the work of talk.py with Kafka's own clients: Talk WHAT BOOTSTRAP TOPICS RECORDS CODEC... */
public final class Talk {
    private static final int SECONDS = 60;
    private static final String STRING = "org.apache.kafka.common.serialization.String";

    public static void main(String[] args) throws Exception {
        String bootstrap = args[1], prefix = args[2];
        Map<String, String> topics = new TreeMap<>();
        for (int i = 4; i < args.length; i++)
            topics.put(prefix + "-" + args[i], args[i]);
        int count = Integer.parseInt(args[3]);
        for (Map.Entry<String, String> topic : topics.entrySet())
            write(bootstrap, topic.getKey(), topic.getValue(), count);
        if (args[0].equals("write"))
            return;
        Map<String, List<String>> records = new TreeMap<>();
        List<String> committed = read(bootstrap, prefix + "-group", topics.keySet(), count, records);
        List<String> shown = new ArrayList<>();
        records.forEach((topic, rows) -> shown.add(quoted(topic) + ": [" + String.join(", ", rows) + "]"));
        List<String> names = new ArrayList<>();
        try (Admin admin = Admin.create(properties(bootstrap))) {
            for (String name : new TreeSet<>(admin.listTopics().names().get(SECONDS, TimeUnit.SECONDS)))
                names.add(quoted(name));
        }
        System.out.println("{\"topics\": [" + String.join(", ", names) + "], \"records\": {" + String.join(", ", shown)
            + "}, \"committed\": {" + String.join(", ", committed) + "}}");
    }

    private static Properties properties(String bootstrap) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        return properties;
    }

    private static void write(String bootstrap, String topic, String codec, int count) throws Exception {
        Properties properties = properties(bootstrap);
        properties.put("key.serializer", STRING + "Serializer");
        properties.put("value.serializer", STRING + "Serializer");
        properties.put("compression.type", codec);
        properties.put("linger.ms", "50");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(properties)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int i = 0; i < count; i++)
                sent.add(producer.send(new ProducerRecord<>(topic, "key-" + i, ("value " + i + " ").repeat(5))));
            for (Future<RecordMetadata> each : sent)
                each.get(SECONDS, TimeUnit.SECONDS);
        }
    }

    private static List<String> read(
            String bootstrap, String group, Set<String> topics, int count, Map<String, List<String>> records) {
        Properties properties = properties(bootstrap);
        properties.put("key.deserializer", STRING + "Deserializer");
        properties.put("value.deserializer", STRING + "Deserializer");
        properties.put("group.id", group);
        properties.put("auto.offset.reset", "earliest");
        properties.put("enable.auto.commit", "false");
        List<String> committed = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties)) {
            consumer.subscribe(topics);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            for (int seen = 0; seen < count * topics.size() && System.nanoTime() < deadline; )
                for (ConsumerRecord<String, String> each : consumer.poll(Duration.ofMillis(500))) {
                    String row = each.offset() + ", " + quoted(each.key()) + ", " + quoted(each.value());
                    records.computeIfAbsent(each.topic(), name -> new ArrayList<>()).add("[" + row + "]");
                    seen++;
                }
            consumer.commitSync();
            Set<TopicPartition> partitions = new HashSet<>();
            topics.forEach(topic -> partitions.add(new TopicPartition(topic, 0)));
            consumer.committed(partitions).forEach(
                (partition, offset) -> committed.add(quoted(partition.topic()) + ": " + offset.offset()));
        }
        return committed;
    }

    /** Returns a text of letters, digits and blanks as a JSON string. */
    private static String quoted(String text) {
        return '"' + text + '"';
    }
}
