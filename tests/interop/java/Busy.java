import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.FeatureUpdate.UpgradeType;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Traffic that makes brokers write to their internal topics: {@code Busy BOOTSTRAP PHASE}. The phases are {@code begin},
 * {@code work} (runs several times, at the cluster's transaction version), {@code upgrade} (to transaction version 2),
 * {@code steady} (producers that continue while the broker is down), and {@code end}.
 */
public final class Busy {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long PATIENCE_MS = 90_000;
    private static final int PARTITIONS = 2;
    private static final int APPLICATIONS = 3;
    private static final int TRANSACTIONS = 12;

    private final String bootstrap;
    private final Admin admin;

    private Busy(String bootstrap) {
        this.bootstrap = bootstrap;
        this.admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
    }

    public static void main(String[] arguments) throws Exception {
        Busy busy = new Busy(arguments[0]);
        switch (arguments[1]) {
            case "begin" -> busy.begin();
            case "work" -> busy.work();
            case "upgrade" -> busy.upgrade();
            case "steady" -> busy.steady();
            case "end" -> busy.end();
            default -> throw new IllegalArgumentException(arguments[1]);
        }
        busy.admin.close();
    }

    private void begin() throws Exception {
        admin.createTopics(List.of(
            topic("input", Map.of()),
            topic("output", Map.of("segment.ms", "2000")),
            topic("stamped", Map.of("message.timestamp.after.max.ms", "86400000")),
            topic("states", Map.of("cleanup.policy", "compact", "segment.ms", "500",
                "min.cleanable.dirty.ratio", "0.001")),
            topic("drained", Map.of("segment.ms", "500")),
            topic("table", Map.of("cleanup.policy", "compact", "segment.ms", "500",
                "min.cleanable.dirty.ratio", "0.001")))).all().get();
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
            for (int i = 0; i < 400; i++) {
                producer.send(new ProducerRecord<>("input", i % PARTITIONS, bytes("key " + i), bytes("input " + i)));
            }
            for (int i = 0; i < 10; i++) {
                producer.send(new ProducerRecord<>("drained", 0, null, bytes("drop " + i)));
            }
        }
    }

    private static NewTopic topic(String name, Map<String, String> configs) {
        return new NewTopic(name, Optional.of(PARTITIONS), Optional.empty()).configs(configs);
    }

    private void upgrade() throws Exception {
        admin.updateFeatures(Map.of("transaction.version", new FeatureUpdate((short) 2, UpgradeType.UPGRADE)),
            new UpdateFeaturesOptions()).all().get();
    }

    // ---- work

    private void work() throws Exception {
        for (int application = 0; application < APPLICATIONS; application++) {
            exactlyOnce("application-" + application, application);
        }
        fenced();
        tooSlow();
        table();
        share();
    }

    /** Runs transactions with several offset commits, for one group and for two; aborts every third transaction. */
    private void exactlyOnce(String id, int number) throws Exception {
        ConsumerGroupMetadata memberless = memberless("assigned-" + number);
        try (KafkaProducer<byte[], byte[]> producer = transactional(id, Map.of());
                KafkaConsumer<byte[], byte[]> consumer = consumer(id)) {
            consumer.subscribe(List.of("input"));
            long deadline = System.currentTimeMillis() + PATIENCE_MS;
            while (consumer.assignment().size() < PARTITIONS) {
                consumer.poll(POLL);
                within(deadline, id + " has its partitions");
            }
            long done = committed(id);
            for (int i = 0; i < TRANSACTIONS; i++) {
                producer.beginTransaction();
                for (int step = 0; step < 3; step++) {
                    for (int record = 0; record < 2; record++) {
                        producer.send(new ProducerRecord<>("output", record, bytes(id), bytes(id + " " + i)));
                    }
                    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                    for (int partition = 0; partition < PARTITIONS; partition++) {
                        offsets.put(new TopicPartition("input", partition), new OffsetAndMetadata(done + i * 3L + step));
                    }
                    producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
                    producer.sendOffsetsToTransaction(offsets, memberless);
                }
                if (i % 3 == 2) {
                    producer.flush();
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
            }
        }
    }

    private long committed(String group) throws Exception {
        OffsetAndMetadata found = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get()
            .get(new TopicPartition("input", 0));
        return found == null ? 0 : found.offset();
    }

    /** Begins a transaction with a producer, and fences the producer with a second one of the same transactional id. */
    private void fenced() throws Exception {
        KafkaProducer<byte[], byte[]> first = transactional("fenced", Map.of());
        first.beginTransaction();
        first.send(new ProducerRecord<>("output", 0, bytes("fenced"), bytes("first"))).get();
        first.sendOffsetsToTransaction(Map.of(new TopicPartition("input", 0), new OffsetAndMetadata(7)),
            memberless("fenced"));
        first.flush();
        try (KafkaProducer<byte[], byte[]> second = transactional("fenced", Map.of())) {
            second.beginTransaction();
            second.send(new ProducerRecord<>("output", 0, bytes("fenced"), bytes("second")));
            try {
                first.send(new ProducerRecord<>("output", 0, bytes("fenced"), bytes("too late"))).get();
                throw new IllegalStateException("the first producer is not fenced");
            } catch (ProducerFencedException | ExecutionException expected) {
                second.commitTransaction();
            }
        }
        first.close(Duration.ZERO);
    }

    private void tooSlow() throws Exception {
        KafkaProducer<byte[], byte[]> slow = transactional("too-slow", Map.of("transaction.timeout.ms", 1000));
        slow.beginTransaction();
        slow.send(new ProducerRecord<>("output", 1, bytes("slow"), bytes("slow"))).get();
        slow.flush();
        until("the coordinator has aborted too-slow", () -> admin.describeTransactions(List.of("too-slow"))
            .description("too-slow").get().state().toString().equals("CompleteAbort"));
        slow.close(Duration.ZERO);
    }

    /** Writes batches of one record, so that the cleaner removes whole batches; to table also tombstones and transactions. */
    private void table() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of("linger.ms", 0));
                KafkaProducer<byte[], byte[]> transactional = transactional("table", Map.of())) {
            for (int round = 0; round < 4; round++) {
                transactional.beginTransaction();
                for (int key = 0; key < 6; key++) {
                    byte[] value = key == round ? null : bytes("round " + round);
                    producer.send(new ProducerRecord<>("states", key % PARTITIONS, bytes("key " + key),
                        bytes("round " + round))).get();
                    producer.send(new ProducerRecord<>("table", key % PARTITIONS, bytes("key " + key), value)).get();
                    transactional.send(
                        new ProducerRecord<>("table", key % PARTITIONS, bytes("exact " + key), value)).get();
                }
                if (round == 1) {
                    transactional.abortTransaction();
                } else {
                    transactional.commitTransaction();
                }
                Thread.sleep(600);
            }
        }
    }

    private void share() throws Exception {
        alter(new ConfigResource(ConfigResource.Type.GROUP, "workers"), "share.auto.offset.reset", "earliest");
        Map<String, Object> configs = Map.of("bootstrap.servers", bootstrap, "group.id", "workers");
        try (KafkaShareConsumer<byte[], byte[]> consumer =
                new KafkaShareConsumer<>(configs, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of("output"));
            int count = 0;
            long deadline = System.currentTimeMillis() + PATIENCE_MS;
            while (count < 20) {
                count += consumer.poll(POLL).count();
                consumer.commitSync();
                within(deadline, "workers take 20 records");
            }
        }
    }

    // ---- while the broker is down

    /** Runs idempotent producers and a transactional one until the time is over. */
    private void steady() throws Exception {
        long end = System.currentTimeMillis() + 25_000;
        List<KafkaProducer<byte[], byte[]>> plain = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            plain.add(producer(Map.of("linger.ms", 5)));
        }
        ConsumerGroupMetadata group = memberless("steady");
        try (KafkaProducer<byte[], byte[]> exact = transactional("steady", Map.of())) {
            for (int i = 0; System.currentTimeMillis() < end; i++) {
                for (KafkaProducer<byte[], byte[]> each : plain) {
                    for (int record = 0; record < 5; record++) {
                        each.send(new ProducerRecord<>("input", record % PARTITIONS, null, bytes("steady " + i)));
                    }
                }
                exact.beginTransaction();
                exact.send(new ProducerRecord<>("output", i % PARTITIONS, null, bytes("steady " + i)));
                exact.sendOffsetsToTransaction(Map.of(new TopicPartition("input", 0), new OffsetAndMetadata(150 + i)),
                    group);
                exact.commitTransaction();
                Thread.sleep(50);
            }
        }
        plain.forEach(KafkaProducer::close);
    }

    // ---- end

    /** Lets records be deleted or expire, switches a topic to log append time, and lets transactional ids expire. */
    private void end() throws Exception {
        ConfigResource stamped = new ConfigResource(ConfigResource.Type.TOPIC, "stamped");
        long ahead = System.currentTimeMillis() + 600_000;
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
            producer.send(new ProducerRecord<>("stamped", 0, ahead, bytes("k"), bytes("ahead of its time"))).get();
            alter(stamped, "message.timestamp.type", "LogAppendTime");
            until("stamped has the times of the broker",
                () -> producer.send(new ProducerRecord<>("stamped", 0, ahead, bytes("k"), bytes("now"))).get()
                    .timestamp() < ahead);
        }
        TopicPartition input = new TopicPartition("input", 0);
        TopicPartition drained = new TopicPartition("drained", 0);
        commit("left-behind", Map.of(input, new OffsetAndMetadata(100), drained, new OffsetAndMetadata(4)));
        admin.deleteRecords(Map.of(
            input, RecordsToDelete.beforeOffset(120),
            new TopicPartition("output", 1), RecordsToDelete.beforeOffset(30))).all().get();
        alter(new ConfigResource(ConfigResource.Type.TOPIC, "drained"), "retention.ms", "1");
        until("retention has left nothing of drained", () -> admin.listOffsets(Map.of(drained, OffsetSpec.earliest()))
            .partitionResult(drained).get().offset() == 10);
        until("no transactional id of the applications is known", () -> admin.listTransactions().all().get().isEmpty());
    }

    private void commit(String group, Map<TopicPartition, OffsetAndMetadata> offsets) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(group)) {
            consumer.assign(offsets.keySet());
            consumer.commitSync(offsets);
        }
    }

    private void alter(ConfigResource resource, String name, String value) throws Exception {
        AlterConfigOp operation = new AlterConfigOp(new ConfigEntry(name, value), OpType.SET);
        admin.incrementalAlterConfigs(Map.of(resource, List.of(operation))).all().get();
    }

    // ---- clients

    private KafkaProducer<byte[], byte[]> transactional(String id, Map<String, Object> more) {
        Map<String, Object> configs = new HashMap<>(more);
        configs.put("transactional.id", id);
        KafkaProducer<byte[], byte[]> producer = producer(configs);
        producer.initTransactions();
        return producer;
    }

    private KafkaProducer<byte[], byte[]> producer(Map<String, Object> more) {
        Map<String, Object> configs = new HashMap<>(Map.of("bootstrap.servers", bootstrap, "linger.ms", 5));
        configs.putAll(more);
        return new KafkaProducer<>(configs, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private KafkaConsumer<byte[], byte[]> consumer(String group) {
        Map<String, Object> configs = Map.of("bootstrap.servers", bootstrap, "group.id", group,
            "enable.auto.commit", "false", "auto.offset.reset", "earliest", "group.protocol", "consumer");
        return new KafkaConsumer<>(configs, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Returns the metadata of a group without members. */
    private ConsumerGroupMetadata memberless(String group) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(group)) {
            return consumer.groupMetadata();
        }
    }

    private interface Check {
        boolean holds() throws Exception;
    }

    private static void until(String what, Check check) throws Exception {
        long deadline = System.currentTimeMillis() + PATIENCE_MS;
        while (!check.holds()) {
            within(deadline, what);
            Thread.sleep(100);
        }
    }

    private static void within(long deadline, String what) {
        if (System.currentTimeMillis() > deadline) {
            throw new IllegalStateException("timeout: expected that " + what);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
