import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialDeletion;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends many kinds of client traffic: {@code Traffic BOOTSTRAP}. The process then exits as if it had been killed, with
 * an open transaction.
 */
public final class Traffic {
    private static final List<String> COMPRESSIONS = List.of("none", "gzip", "snappy", "lz4", "zstd");
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long PATIENCE_MS = 90_000;
    private static final byte[] NOT_TEXT = {(byte) 0xff, 0, (byte) 0xfe};

    private final String bootstrap;
    private final Admin admin;

    private Traffic(String bootstrap) {
        this.bootstrap = bootstrap;
        this.admin = Admin.create(Map.of("bootstrap.servers", bootstrap, "client.id", "admin"));
    }

    public static void main(String[] arguments) throws Exception {
        Traffic traffic = new Traffic(arguments[0]);
        traffic.topics();
        traffic.compressions();
        traffic.segments();
        traffic.compaction();
        traffic.groups();
        traffic.accounts();
        traffic.transactions();
        traffic.shareGroups();
        traffic.changes();
        System.out.println("done");
        traffic.abandon();
        Runtime.getRuntime().halt(0);
    }

    // ---- data

    private void topics() throws Exception {
        admin.createTopics(List.of(
            topic("orders", 2, Map.of()),
            topic("payments", 2, Map.of()),
            topic("clicks", 2, Map.of("message.timestamp.type", "LogAppendTime", "compression.type", "zstd")),
            topic("readings", 1, Map.of("segment.ms", "200")),
            topic("temporary", 1, Map.of()),
            topic("settings", 1, Map.of("cleanup.policy", "compact", "segment.ms", "200",
                "min.cleanable.dirty.ratio", "0.001")))).all().get();
        admin.createPartitions(Map.of("orders", NewPartitions.increaseTo(3))).all().get();
    }

    private static NewTopic topic(String name, int partitions, Map<String, String> configs) {
        return new NewTopic(name, partitions, (short) 1).configs(configs);
    }

    /** Writes each compression type to each partition, with keys, values and headers that are null, empty or not text. */
    private void compressions() throws Exception {
        for (String compression : COMPRESSIONS) {
            try (KafkaProducer<byte[], byte[]> producer = producer(Map.of("compression.type", compression))) {
                for (int i = 0; i < 18; i++) {
                    byte[] key = i % 4 == 1 ? null : bytes("order-" + i);
                    byte[] value = i == 5 ? null : i == 6 ? new byte[0] : i == 7 ? NOT_TEXT
                        : bytes("an order packed with " + compression + ", item after item after item " + i);
                    ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("orders", i % 3, key, value);
                    headers(record.headers(), i);
                    producer.send(record);
                }
                producer.flush();
            }
        }
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of("enable.idempotence", "false"))) {
            for (int i = 0; i < 8; i++) {
                producer.send(new ProducerRecord<>("clicks", i % 2, bytes("user-" + i % 3), bytes("click " + i)));
            }
            producer.send(new ProducerRecord<>("temporary", bytes("soon deleted")));
        }
    }

    private static void headers(Headers headers, int i) {
        if (i % 3 == 0) {
            headers.add("trace", bytes("t-" + i)).add("trace", NOT_TEXT);
        }
        if (i % 9 == 0) {
            headers.add("none", null).add("", new byte[0]);
        }
    }

    /** Writes several segments of one partition: the first record after some time begins a new segment. */
    private void segments() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of("compression.type", "lz4"))) {
            for (int segment = 0; segment < 3; segment++) {
                for (int i = 0; i < 5; i++) {
                    producer.send(new ProducerRecord<>("readings", bytes("sensor-" + i % 2), bytes(segment + "." + i)));
                }
                producer.flush();
                Thread.sleep(400);
            }
        }
    }

    /** Overwrites and deletes keys until the cleaner has run. */
    private void compaction() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
            for (int round = 0; round < 4; round++) {
                for (int key = 0; key < 5; key++) {
                    byte[] value = key == round ? null : bytes("round " + round);
                    producer.send(new ProducerRecord<>("settings", bytes("setting-" + key), value));
                }
                producer.flush();
                Thread.sleep(400);
            }
        }
        until("the cleaner has compacted settings-0", () -> read("settings", 1).size() < 20);
    }

    // ---- groups

    private void groups() throws Exception {
        consume("billing", "classic", Map.of(), 12, 84);
        consume("audit", "consumer", Map.of("group.instance.id", "audit-1"), 20, 80);
        consume("closed", "classic", Map.of(), 40, 45);
        chatty();
        TopicPartition first = new TopicPartition("orders", 0);
        TopicPartition last = new TopicPartition("orders", 2);
        admin.alterConsumerGroupOffsets("billing", Map.of(first, new OffsetAndMetadata(3, "again from 3"))).all().get();
        admin.deleteConsumerGroupOffsets("billing", Set.of(last)).all().get();
        admin.removeMembersFromConsumerGroup("audit", new RemoveMembersFromConsumerGroupOptions(
            Set.of(new MemberToRemove("audit-1")))).all().get();
        admin.alterConsumerGroupOffsets("audit", Map.of(first, new OffsetAndMetadata(0, Optional.of(0), "")))
            .all().get();
        until("closed has no member", () -> empty("closed"));
        admin.deleteConsumerGroups(List.of("closed")).all().get();
    }

    private boolean empty(String group) throws Exception {
        return admin.describeConsumerGroups(List.of(group)).all().get().get(group).members().isEmpty();
    }

    /** Reads the orders as a group member, and commits after every {@code every} records. */
    private void consume(String group, String protocol, Map<String, String> more, int every, int total) throws Exception {
        Map<String, Object> configs = new HashMap<>(more);
        configs.put("group.protocol", protocol);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(group, configs)) {
            consumer.subscribe(List.of("orders"));
            Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
            int count = 0;
            long deadline = System.currentTimeMillis() + PATIENCE_MS;
            while (count < total) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    next.put(new TopicPartition(record.topic(), record.partition()),
                        new OffsetAndMetadata(record.offset() + 1, record.leaderEpoch(), "after " + count));
                    if (++count % every == 0 || count == total) {
                        consumer.commitSync(next);
                    }
                    if (count == total) {
                        break;
                    }
                }
                within(deadline, group + " reads " + total + " orders");
            }
        }
    }

    /** Commits after each record, with a consumer that is assigned manually and thus is not a member. */
    private void chatty() {
        TopicPartition clicks = new TopicPartition("clicks", 0);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer("chatty", Map.of())) {
            consumer.assign(List.of(clicks));
            for (int i = 1; i <= 40; i++) {
                consumer.commitSync(Map.of(clicks, new OffsetAndMetadata(i / 10)));
            }
        }
    }

    // ---- transactions

    private void transactions() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = transactional("pay-committed", Map.of())) {
            for (int i = 0; i < 3; i++) {
                producer.beginTransaction();
                pay(producer, 4, "committed " + i);
                producer.commitTransaction();
            }
        }
        try (KafkaProducer<byte[], byte[]> producer = transactional("pay-aborted", Map.of("compression.type", "lz4"))) {
            producer.beginTransaction();
            pay(producer, 3, "aborted");
            producer.flush();
            producer.abortTransaction();
            producer.beginTransaction();
            pay(producer, 1, "after the abort");
            producer.commitTransaction();
        }
        transactional("pay-idle", Map.of()).close();
        exactlyOnce();
        KafkaProducer<byte[], byte[]> slow = transactional("pay-too-slow", Map.of("transaction.timeout.ms", 1000));
        slow.beginTransaction();
        pay(slow, 1, "too slow");
        slow.flush();
        until("the coordinator has aborted pay-too-slow", () -> admin.describeTransactions(List.of("pay-too-slow"))
            .description("pay-too-slow").get().state().toString().equals("CompleteAbort"));
        slow.close(Duration.ZERO);
    }

    /** Commits offsets in a transaction, then in one that is aborted. */
    private void exactlyOnce() throws Exception {
        TopicPartition orders = new TopicPartition("orders", 1);
        try (KafkaProducer<byte[], byte[]> producer = transactional("pay-exactly-once", Map.of());
                KafkaConsumer<byte[], byte[]> consumer = consumer("exactly-once", Map.of())) {
            for (int i = 0; i < 2; i++) {
                producer.beginTransaction();
                pay(producer, 1, "once " + i);
                producer.sendOffsetsToTransaction(Map.of(orders, new OffsetAndMetadata(10 + i, "in a transaction")),
                    consumer.groupMetadata());
                if (i == 0) {
                    producer.commitTransaction();
                } else {
                    producer.flush();
                    producer.abortTransaction();
                }
            }
        }
    }

    /** Leaves a member in its group and a transaction open when the process exits. */
    private void abandon() {
        KafkaConsumer<byte[], byte[]> consumer = consumer("shipping", Map.of("session.timeout.ms", 1_200_000));
        consumer.subscribe(List.of("orders"));
        long deadline = System.currentTimeMillis() + PATIENCE_MS;
        while (consumer.poll(POLL).isEmpty()) {
            within(deadline, "shipping reads an order");
        }
        consumer.commitSync();
        KafkaProducer<byte[], byte[]> producer = transactional("pay-ongoing", Map.of("transaction.timeout.ms", 900_000));
        producer.beginTransaction();
        pay(producer, 2, "not finished");
        producer.flush();
    }

    private static void pay(KafkaProducer<byte[], byte[]> producer, int count, String text) {
        for (int i = 0; i < count; i++) {
            producer.send(new ProducerRecord<>("payments", i % 2, bytes("payment"), bytes(text)));
        }
    }

    private KafkaProducer<byte[], byte[]> transactional(String id, Map<String, Object> more) {
        Map<String, Object> configs = new HashMap<>(more);
        configs.put("transactional.id", id);
        configs.put("client.id", id);
        KafkaProducer<byte[], byte[]> producer = producer(configs);
        producer.initTransactions();
        return producer;
    }

    // ---- share groups

    private void shareGroups() throws Exception {
        for (String group : List.of("workers", "retired")) {
            alter(new ConfigResource(ConfigResource.Type.GROUP, group), "share.auto.offset.reset", "earliest");
            work(group, 8);
        }
        until("workers has no member", () -> unmanned("workers"));
        admin.alterShareGroupOffsets("workers", Map.of(new TopicPartition("clicks", 1), 1L)).all().get();
        until("retired has no member", () -> unmanned("retired"));
        admin.deleteShareGroups(List.of("retired")).all().get();
    }

    private boolean unmanned(String group) throws Exception {
        return admin.describeShareGroups(List.of(group)).all().get().get(group).members().isEmpty();
    }

    /** Reads clicks one by one; accepts most, rejects or releases some. */
    private void work(String group, int total) throws Exception {
        Map<String, Object> configs = Map.of("bootstrap.servers", bootstrap, "group.id", group, "client.id", group,
            "share.acknowledgement.mode", "explicit");
        try (KafkaShareConsumer<byte[], byte[]> consumer =
                new KafkaShareConsumer<>(configs, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of("clicks"));
            int count = 0;
            long deadline = System.currentTimeMillis() + PATIENCE_MS;
            while (count < total) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    consumer.acknowledge(record, switch (count++ % 4) {
                        case 1 -> AcknowledgeType.RELEASE;
                        case 2 -> AcknowledgeType.REJECT;
                        default -> AcknowledgeType.ACCEPT;
                    });
                    consumer.commitSync();
                }
                within(deadline, group + " works on " + total + " clicks");
            }
        }
    }

    // ---- metadata

    private void accounts() throws Exception {
        admin.createAcls(List.of(
            acl(ResourceType.TOPIC, "orders", PatternType.LITERAL, "User:ann", AclOperation.READ),
            acl(ResourceType.TOPIC, "pay", PatternType.PREFIXED, "User:bob", AclOperation.WRITE),
            acl(ResourceType.GROUP, "*", PatternType.LITERAL, "User:ann", AclOperation.DESCRIBE))).all().get();
        admin.alterUserScramCredentials(List.of(scram("ann"), scram("bob"))).all().get();
        quota(Map.of("user", "ann", "client-id", "reports"), "consumer_byte_rate", 1048576.0);
        quota(Map.of("user", "bob"), "request_percentage", 12.5);
        alter(new ConfigResource(ConfigResource.Type.TOPIC, "orders"), "retention.ms", "86400000");
        alter(new ConfigResource(ConfigResource.Type.CLIENT_METRICS, "sampled"), "interval.ms", "60000");
        alter(new ConfigResource(ConfigResource.Type.BROKER, ""), "log.cleaner.threads", "1");
    }

    /** Changes and removes some of the earlier metadata, and creates a topic. */
    private void changes() throws Exception {
        alter(new ConfigResource(ConfigResource.Type.TOPIC, "orders"), "retention.ms", "172800000");
        alter(new ConfigResource(ConfigResource.Type.TOPIC, "clicks"), "compression.type", null);
        admin.deleteAcls(List.of(
            acl(ResourceType.TOPIC, "pay", PatternType.PREFIXED, "User:bob", AclOperation.WRITE).toFilter())).all().get();
        admin.alterUserScramCredentials(
            List.of(new UserScramCredentialDeletion("bob", ScramMechanism.SCRAM_SHA_256))).all().get();
        quota(Map.of("user", "bob"), "request_percentage", null);
        admin.deleteTopics(List.of("temporary")).all().get();
        admin.createTopics(List.of(topic("returns", 1, Map.of("max.message.bytes", "65536")))).all().get();
    }

    private static AclBinding acl(ResourceType type, String name, PatternType pattern, String who, AclOperation what) {
        return new AclBinding(new ResourcePattern(type, name, pattern),
            new AccessControlEntry(who, "*", what, AclPermissionType.ALLOW));
    }

    private static UserScramCredentialUpsertion scram(String user) {
        return new UserScramCredentialUpsertion(user, new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), user);
    }

    private void quota(Map<String, String> entity, String name, Double value) throws Exception {
        admin.alterClientQuotas(List.of(new ClientQuotaAlteration(new ClientQuotaEntity(entity),
            List.of(new ClientQuotaAlteration.Op(name, value))))).all().get();
    }

    private void alter(ConfigResource resource, String name, String value) throws Exception {
        AlterConfigOp operation = new AlterConfigOp(new ConfigEntry(name, value), value == null ? OpType.DELETE : OpType.SET);
        admin.incrementalAlterConfigs(Map.of(resource, List.of(operation))).all().get();
    }

    // ---- clients

    private KafkaProducer<byte[], byte[]> producer(Map<String, Object> more) {
        Map<String, Object> configs = new HashMap<>(Map.of("bootstrap.servers", bootstrap, "linger.ms", 50));
        configs.putAll(more);
        return new KafkaProducer<>(configs, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private KafkaConsumer<byte[], byte[]> consumer(String group, Map<String, Object> more) {
        Map<String, Object> configs = new HashMap<>(Map.of("bootstrap.servers", bootstrap, "group.id", group,
            "client.id", group, "enable.auto.commit", "false", "auto.offset.reset", "earliest"));
        configs.putAll(more);
        return new KafkaConsumer<>(configs, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Returns every record of a topic. */
    private Collection<ConsumerRecord<byte[], byte[]>> read(String topic, int partitions) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer("reader", Map.of())) {
            List<TopicPartition> all = IntStream.range(0, partitions).mapToObj(p -> new TopicPartition(topic, p)).toList();
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            long deadline = System.currentTimeMillis() + PATIENCE_MS;
            while (!all.stream().allMatch(p -> consumer.position(p) >= ends.get(p))) {
                consumer.poll(POLL).forEach(records::add);
                within(deadline, "all of " + topic + " is read");
            }
        }
        return records;
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
