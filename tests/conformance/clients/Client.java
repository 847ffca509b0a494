import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** Command of Kafka's own clients: Client TASK ADDRESS. */
public final class Client {
    private static final String NAME = "conformance", PACKAGE = "org.apache.kafka.common.serialization.ByteArray";

    public static void main(String[] args) {
        try {
            switch (args[0]) {
                case "produce" -> produce(args[1]);
                case "consume" -> consume(args[1]);
                case "group" -> group(args[1]);
                case "transaction" -> transaction(args[1]);
                default -> System.exit(77);
            }
        } catch (Exception e) {
            System.out.println(e.getCause() == null ? e : e + ": " + e.getCause());
            Runtime.getRuntime().halt(1); // without waiting for threads of clients
        }
    }

    private static KafkaProducer<byte[], byte[]> producer(String address, Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.putAll(Map.of("bootstrap.servers", address, "key.serializer", PACKAGE + "Serializer",
            "value.serializer", PACKAGE + "Serializer", "linger.ms", 0, "max.block.ms", 20000));
        return new KafkaProducer<>(settings);
    }

    private static void produce(String address) throws Exception {
        String[] values = {"v0", "v1", null, "", "v4"};
        try (KafkaProducer<byte[], byte[]> producer = producer(address, Map.of())) {
            for (int i = 0; i < values.length; i++) {
                byte[] value = values[i] == null ? null : values[i].getBytes();
                producer.send(new ProducerRecord<>(NAME, 0, ("k" + i).getBytes(), value)).get(20, TimeUnit.SECONDS);
            }
        }
    }

    private static KafkaConsumer<byte[], byte[]> consumer(String address, Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.putAll(Map.of("bootstrap.servers", address, "key.deserializer", PACKAGE + "Deserializer",
            "value.deserializer", PACKAGE + "Deserializer", "auto.offset.reset", "earliest",
            "enable.auto.commit", false));
        return new KafkaConsumer<>(settings);
    }

    private static void read(KafkaConsumer<byte[], byte[]> consumer) {
        for (int seen = 0; seen < 3; )
            seen += consumer.poll(Duration.ofMillis(500)).count();
    }

    private static void consume(String address) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(address, Map.of())) {
            consumer.assign(List.of(new TopicPartition(NAME, 0)));
            read(consumer);
        }
    }

    private static void group(String address) {
        Map<String, Object> settings = Map.of("group.id", NAME, "session.timeout.ms", 6000,
            "heartbeat.interval.ms", 500);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(address, settings)) {
            consumer.subscribe(List.of(NAME));
            for (int attempt = 1; ; attempt++) {
                read(consumer);
                try {
                    consumer.commitSync();
                    return;
                } catch (CommitFailedException e) {
                    if (attempt == 5)
                        throw e;
                }
            }
        }
    }

    private static void transaction(String address) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(address, Map.of("transactional.id", NAME))) {
            producer.initTransactions();
            for (int number = 0; number < 2; number++) {
                producer.beginTransaction();
                for (int round = 0; round < 3; round++) {
                    List<Future<?>> sent = new ArrayList<>();
                    for (int place : new int[] {0, 0, 1, 1})
                        sent.add(producer.send(new ProducerRecord<>(NAME, place, null, "v".getBytes())));
                    for (Future<?> each : sent)
                        each.get(20, TimeUnit.SECONDS);
                }
                producer.commitTransaction();
            }
        }
    }
}
