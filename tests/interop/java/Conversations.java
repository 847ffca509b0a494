import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** Short conversations of Kafka's own clients with a broker: Conversations WHAT BOOTSTRAP. */
public final class Conversations {
    private static final int SECONDS = 60;
    private static final String TOPIC = "orders", COPY = "invoices", GROUP = "billing";
    private static final String STRING = "org.apache.kafka.common.serialization.String";

    public static void main(String[] args) throws Exception {
        String bootstrap = args[1];
        switch (args[0]) {
            case "topics" -> topics(bootstrap);
            case "first-contact" -> firstContact(bootstrap);
            case "produce" -> produce(bootstrap);
            case "classic-group" -> classicGroup(bootstrap);
            case "consumer-group" -> consumerGroup(bootstrap);
            case "transaction" -> transaction(bootstrap);
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    /** Creates the topics, and the internal topics of the coordinators. */
    private static void topics(String bootstrap) throws Exception {
        try (Admin admin = Admin.create(properties(bootstrap, "setup"))) {
            admin.createTopics(List.of(new NewTopic(TOPIC, 2, (short) 1), new NewTopic(COPY, 1, (short) 1)))
                .all().get(SECONDS, TimeUnit.SECONDS);
        }
        try (KafkaProducer<String, String> producer = producer(bootstrap, "setup", Map.of("transactional.id", "setup"))) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(TOPIC, 0, "key", "before")).get(SECONDS, TimeUnit.SECONDS);
            producer.sendOffsetsToTransaction(
                Map.of(new TopicPartition(TOPIC, 1), new OffsetAndMetadata(0)), group(bootstrap, "setup"));
            producer.commitTransaction();
        }
    }

    /** Asks for the last offset of each partition. */
    private static void firstContact(String bootstrap) {
        try (KafkaConsumer<String, String> consumer = consumer(bootstrap, "newcomer", Map.of())) {
            consumer.endOffsets(List.of(new TopicPartition(TOPIC, 0), new TopicPartition(TOPIC, 1)));
        }
    }

    private static void produce(String bootstrap) throws Exception {
        try (KafkaProducer<String, String> producer = producer(bootstrap, "shop", Map.of("linger.ms", "100"))) {
            producer.send(new ProducerRecord<>(TOPIC, 0, "anna", "1 tea")).get(SECONDS, TimeUnit.SECONDS);
            producer.send(new ProducerRecord<>(TOPIC, 0, "ben", "2 cups"));
            producer.send(new ProducerRecord<>(TOPIC, 0, "cleo", "1 pot")).get(SECONDS, TimeUnit.SECONDS);
        }
    }

    private static void classicGroup(String bootstrap) {
        Map<String, String> settings = Map.of(
            "group.id", GROUP, "group.protocol", "classic", "heartbeat.interval.ms", "1000", "fetch.max.wait.ms", "2000");
        try (KafkaConsumer<String, String> consumer = consumer(bootstrap, "billing-1", settings)) {
            consumer.subscribe(List.of(TOPIC));
            polling(() -> !consumer.poll(Duration.ofMillis(100)).isEmpty());
            consumer.commitSync();
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1200);
            polling(() -> consumer.poll(Duration.ofMillis(100)).isEmpty() && System.nanoTime() > end);
        }
    }

    /** Has a second member join the group, and both leave. */
    private static void consumerGroup(String bootstrap) {
        Map<String, String> settings =
            Map.of("group.id", GROUP, "group.protocol", "consumer", "fetch.max.wait.ms", "1500");
        try (KafkaConsumer<String, String> first = consumer(bootstrap, "billing-1", settings)) {
            first.subscribe(List.of(TOPIC));
            polling(() -> !first.poll(Duration.ofMillis(50)).isEmpty());
            try (KafkaConsumer<String, String> second = consumer(bootstrap, "billing-2", settings)) {
                second.subscribe(List.of(TOPIC));
                polling(() -> polled(first).size() == 1 & polled(second).size() == 1);
            }
        }
    }

    /** Commits a transaction with an input offset, and aborts another. */
    private static void transaction(String bootstrap) throws Exception {
        Map<String, String> settings = Map.of("transactional.id", "billing-1");
        try (KafkaProducer<String, String> producer = producer(bootstrap, "billing-1", settings)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(COPY, 0, "anna", "4 EUR")).get(SECONDS, TimeUnit.SECONDS);
            producer.sendOffsetsToTransaction(
                Map.of(new TopicPartition(TOPIC, 0), new OffsetAndMetadata(1)), group(bootstrap, GROUP));
            producer.commitTransaction();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(COPY, 0, "ben", "9 EUR")).get(SECONDS, TimeUnit.SECONDS);
            producer.abortTransaction();
        }
    }

    /** Returns the metadata of a group without joining it; sends nothing. */
    private static ConsumerGroupMetadata group(String bootstrap, String group) {
        Map<String, String> settings = Map.of("group.id", group, "group.protocol", "classic");
        try (KafkaConsumer<String, String> consumer = consumer(bootstrap, "unused", settings)) {
            return consumer.groupMetadata();
        }
    }

    private static Set<TopicPartition> polled(KafkaConsumer<String, String> consumer) {
        consumer.poll(Duration.ofMillis(50));
        return consumer.assignment();
    }

    private static void polling(BooleanSupplier isDone) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!isDone.getAsBoolean())
            if (System.nanoTime() > end)
                throw new IllegalStateException("not done after " + SECONDS + " seconds");
    }

    private static KafkaProducer<String, String> producer(String bootstrap, String client, Map<String, String> more) {
        Properties properties = properties(bootstrap, client);
        properties.put("key.serializer", STRING + "Serializer");
        properties.put("value.serializer", STRING + "Serializer");
        properties.putAll(more);
        return new KafkaProducer<>(properties);
    }

    private static KafkaConsumer<String, String> consumer(String bootstrap, String client, Map<String, String> more) {
        Properties properties = properties(bootstrap, client);
        properties.put("key.deserializer", STRING + "Deserializer");
        properties.put("value.deserializer", STRING + "Deserializer");
        properties.put("auto.offset.reset", "earliest");
        properties.put("enable.auto.commit", "false");
        properties.putAll(more);
        return new KafkaConsumer<>(properties);
    }

    private static Properties properties(String bootstrap, String client) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("client.id", client);
        properties.put("enable.metrics.push", "false");
        return properties;
    }
}
