import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Writes records of each kind to an older broker, and prints those that its own consumer reads: Older BOOTSTRAP FORMAT...
 * FORMAT is a value of message.format.version, which brokers of 2.8 still support.
 */
public final class Older {
    private static final int SECONDS = 60, RECORDS = 8;
    private static final String BYTES = "org.apache.kafka.common.serialization.ByteArray";

    public static void main(String[] args) throws Exception {
        String bootstrap = args[0];
        List<String> topics = new ArrayList<>(List.of("codecs", "payments", "settings"));
        try (Admin admin = Admin.create(properties(bootstrap))) {
            List<NewTopic> wanted = new ArrayList<>(List.of(
                new NewTopic("codecs", 1, (short) 1),
                new NewTopic("payments", 2, (short) 1),
                new NewTopic("settings", 1, (short) 1).configs(Map.of("cleanup.policy", "compact"))));
            for (int i = 1; i < args.length; i++) {
                topics.add("format-" + args[i]);
                wanted.add(new NewTopic("format-" + args[i], 1, (short) 1)
                    .configs(Map.of("message.format.version", args[i])));
            }
            admin.createTopics(wanted).all().get(SECONDS, TimeUnit.SECONDS);
            for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd"))
                write(bootstrap, "codecs", codec);
            for (String topic : topics.subList(3, topics.size()))
                for (String codec : List.of("none", "gzip", "snappy", "lz4"))
                    write(bootstrap, topic, codec);
            for (int i = 0; i < 3; i++)
                write(bootstrap, "settings", "none");
            transactions(bootstrap);
            String records = consumed(bootstrap, topics);
            Map<TopicPartition, OffsetAndMetadata> offsets = new TreeMap<>((a, b) -> (a + "").compareTo(b + ""));
            List<String> committed = new ArrayList<>();
            for (String group : List.of("readers", "exactly-once")) {
                offsets.clear();
                offsets.putAll(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()
                    .get(SECONDS, TimeUnit.SECONDS));
                offsets.forEach((partition, offset) -> committed.add(String.format(
                    "[\"%s\", \"%s\", %d, %d]", group, partition.topic(), partition.partition(), offset.offset())));
            }
            System.out.println(
                "{\"records\": [" + records + "],\n\"committed\": [" + String.join(",\n", committed) + "]}");
        }
    }

    private static Properties properties(String bootstrap) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        return properties;
    }

    private static KafkaProducer<byte[], byte[]> producer(String bootstrap, String... settings) {
        Properties properties = properties(bootstrap);
        properties.put("key.serializer", BYTES + "Serializer");
        properties.put("value.serializer", BYTES + "Serializer");
        properties.put("linger.ms", "200");
        for (int i = 0; i < settings.length; i += 2)
            properties.put(settings[i], settings[i + 1]);
        return new KafkaProducer<>(properties);
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, int partition, int number) {
        byte[] key = ("key-" + number % 3).getBytes(StandardCharsets.UTF_8);
        byte[] value = number == 7 ? null : ("value " + number + " ").repeat(4).getBytes(StandardCharsets.UTF_8);
        return new ProducerRecord<>(topic, partition, key, value);
    }

    private static void write(String bootstrap, String topic, String codec) {
        try (KafkaProducer<byte[], byte[]> producer =
                producer(bootstrap, "compression.type", codec, "enable.idempotence", "false")) {
            for (int i = 0; i < RECORDS; i++)
                producer.send(record(topic, 0, i));
        }
    }

    /** Runs a transaction that commits with offsets of a group, one that aborts, and one that never ends. */
    private static void transactions(String bootstrap) {
        for (String what : List.of("commits", "aborts", "stays-open")) {
            KafkaProducer<byte[], byte[]> producer = producer(bootstrap, "transactional.id", what);
            producer.initTransactions();
            producer.beginTransaction();
            for (int i = 0; i < 4; i++)
                producer.send(record("payments", i % 2, i));
            producer.flush();
            if (what.equals("commits")) {
                producer.sendOffsetsToTransaction(
                    Map.of(new TopicPartition("codecs", 0), new OffsetAndMetadata(5)),
                    memberless(bootstrap, "exactly-once"));
                producer.commitTransaction();
            } else if (what.equals("aborts")) {
                producer.abortTransaction();
            } else {
                continue; // closing it would abort; the process ends soon
            }
            producer.close();
        }
    }

    /** Returns the metadata of a group without members. */
    private static ConsumerGroupMetadata memberless(String bootstrap, String group) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap, group)) {
            return consumer.groupMetadata();
        }
    }

    private static KafkaConsumer<byte[], byte[]> consumer(String bootstrap, String group) {
        Properties properties = properties(bootstrap);
        properties.put("key.deserializer", BYTES + "Deserializer");
        properties.put("value.deserializer", BYTES + "Deserializer");
        properties.put("group.id", group);
        properties.put("auto.offset.reset", "earliest");
        properties.put("enable.auto.commit", "false");
        return new KafkaConsumer<>(properties);
    }

    /** Reads uncommitted records as [topic, partition, offset, timestamp, key, value], and commits their offsets. */
    private static String consumed(String bootstrap, List<String> topics) {
        List<String> found = new ArrayList<>();
        int wanted = 5 * RECORDS + 3 * 4 + 3 * RECORDS + (topics.size() - 3) * 4 * RECORDS;
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap, "readers")) {
            consumer.subscribe(topics);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (found.size() < wanted && System.nanoTime() < deadline) {
                for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofMillis(500)))
                    found.add(String.format("[\"%s\", %d, %d, %d, %s, %s]", each.topic(), each.partition(),
                        each.offset(), each.timestamp(), quoted(each.key()), quoted(each.value())));
                consumer.commitSync();
            }
            consumer.commitSync();
        }
        if (found.size() != wanted)
            throw new IllegalStateException(found.size() + " records came, not " + wanted);
        return String.join(",\n", found);
    }

    private static String quoted(byte[] data) {
        return data == null ? "null" : '"' + new String(data, StandardCharsets.UTF_8) + '"';
    }
}
