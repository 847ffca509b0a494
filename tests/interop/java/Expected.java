import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.SharePartitionOffsetInfo;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Prints what Kafka's own clients read from a cluster, as JSON: {@code Expected admin BOOTSTRAP} the results of the admin
 * client, {@code Expected records BOOTSTRAP} the records that a consumer reads, one per line.
 */
public final class Expected {
    private static final ObjectMapper MAPPER = new ObjectMapper()
        .configure(SerializationFeature.INDENT_OUTPUT, true).configure(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, true);
    private static final ObjectMapper LINES = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();
    private static final long PATIENCE_MS = 90_000;

    private final Admin admin;
    private final String bootstrap;
    private final Map<String, TopicDescription> topics;
    private final List<TopicPartition> partitions;

    private Expected(Admin admin, String bootstrap) throws Exception {
        this.admin = admin;
        this.bootstrap = bootstrap;
        Collection<String> names = admin.listTopics(new ListTopicsOptions().listInternal(true)).names().get();
        this.topics = new TreeMap<>(admin.describeTopics(names).allTopicNames().get());
        this.partitions = topics.values().stream().flatMap(topic -> topic.partitions().stream()
            .map(partition -> new TopicPartition(topic.name(), partition.partition()))).toList();
    }

    public static void main(String[] arguments) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", arguments[1]))) {
            Expected expected = new Expected(admin, arguments[1]);
            switch (arguments[0]) {
                case "admin" -> System.out.println(MAPPER.writeValueAsString(expected.all()));
                case "records" -> expected.records();
                default -> throw new IllegalArgumentException("admin or records");
            }
        }
    }

    private Map<String, Object> all() throws Exception {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("cluster", admin.describeCluster().clusterId().get());
        all.put("features", features());
        all.put("topics", topics());
        all.put("configs", configs());
        all.put("groups", groups());
        all.put("transactions", transactions());
        all.put("producers", producers());
        all.put("share_groups", shareGroups());
        all.put("acls", admin.describeAcls(AclBindingFilter.ANY).values().get().stream().map(acl -> List.of(
            acl.pattern().resourceType().name(), acl.pattern().name(), acl.pattern().patternType().name(),
            acl.entry().principal(), acl.entry().host(), acl.entry().operation().name(),
            acl.entry().permissionType().name())).sorted((a, b) -> a.toString().compareTo(b.toString())).toList());
        all.put("quotas", admin.describeClientQuotas(ClientQuotaFilter.all()).entities().get().entrySet().stream()
            .map(each -> Map.of("entity", each.getKey().entries(), "values", each.getValue())).toList());
        all.put("scram", admin.describeUserScramCredentials().all().get().values().stream().collect(Collectors.toMap(
            user -> user.name(), user -> user.credentialInfos().stream().map(info ->
                Map.of("mechanism", info.mechanism().name(), "iterations", info.iterations())).toList())));
        return all;
    }

    private Map<String, Object> features() throws Exception {
        Map<String, Object> levels = new TreeMap<>();
        admin.describeFeatures().featureMetadata().get().finalizedFeatures()
            .forEach((name, range) -> levels.put(name, range.maxVersionLevel()));
        return levels;
    }

    private Map<String, Object> topics() throws Exception {
        var first = admin.listOffsets(partitions.stream().collect(Collectors.toMap(p -> p, p -> OffsetSpec.earliest())));
        var end = admin.listOffsets(partitions.stream().collect(Collectors.toMap(p -> p, p -> OffsetSpec.latest())));
        Map<String, Object> all = new TreeMap<>();
        for (TopicDescription topic : topics.values()) {
            List<Object> offsets = new ArrayList<>();
            for (int i = 0; i < topic.partitions().size(); i++) {
                TopicPartition partition = new TopicPartition(topic.name(), i);
                offsets.add(Map.of("partition", i, "first", first.partitionResult(partition).get().offset(),
                    "end", end.partitionResult(partition).get().offset()));
            }
            all.put(topic.name(), Map.of("id", topic.topicId().toString(), "partitions", offsets));
        }
        return all;
    }

    /** Returns the settings of topics, groups, brokers and client metrics, without defaults. */
    private Map<String, Object> configs() throws Exception {
        List<ConfigResource> resources = new ArrayList<>();
        topics.keySet().forEach(name -> resources.add(new ConfigResource(ConfigResource.Type.TOPIC, name)));
        resources.addAll(admin.listConfigResources().all().get().stream()
            .filter(each -> each.type() != ConfigResource.Type.TOPIC && each.type() != ConfigResource.Type.BROKER_LOGGER)
            .toList());
        Map<String, Object> all = new TreeMap<>();
        admin.describeConfigs(resources).all().get().forEach((resource, config) -> {
            Map<String, String> chosen = new TreeMap<>();
            config.entries().stream().filter(entry -> entry.source().name().matches(
                    resource.type() == ConfigResource.Type.TOPIC ? "DYNAMIC_TOPIC_CONFIG" : "DYNAMIC_.*"))
                .forEach(entry -> chosen.put(entry.name(), entry.value()));
            if (!chosen.isEmpty()) {
                all.put(resource.type() + " " + resource.name(), chosen);
            }
        });
        return all;
    }

    private Map<String, Object> groups() throws Exception {
        Map<String, Object> all = new TreeMap<>();
        for (GroupListing group : admin.listGroups().all().get()) {
            if (group.type().orElseThrow() == GroupType.SHARE) {
                continue;
            }
            Map<String, Object> offsets = new TreeMap<>();
            Map<TopicPartition, OffsetAndMetadata> committed = admin.listConsumerGroupOffsets(
                Map.of(group.groupId(), new ListConsumerGroupOffsetsSpec())).all().get().get(group.groupId());
            committed.forEach((partition, offset) -> offsets.put(partition.toString(), offset(offset)));
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("type", group.type().get().toString());
            fields.put("protocol_type", group.protocol());
            fields.put("state", group.groupState().orElseThrow().toString());
            fields.put("members", admin.describeConsumerGroups(List.of(group.groupId())).all().get()
                .get(group.groupId()).members().size());
            fields.put("offsets", offsets);
            all.put(group.groupId(), fields);
        }
        return all;
    }

    private static Map<String, Object> offset(OffsetAndMetadata offset) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("offset", offset.offset());
        fields.put("leader_epoch", offset.leaderEpoch().orElse(-1));
        fields.put("metadata", offset.metadata());
        return fields;
    }

    private Map<String, Object> shareGroups() throws Exception {
        Map<String, Object> all = new TreeMap<>();
        for (GroupListing group : admin.listGroups().all().get()) {
            if (group.type().orElseThrow() != GroupType.SHARE) {
                continue;
            }
            Map<TopicPartition, SharePartitionOffsetInfo> offsets = admin.listShareGroupOffsets(
                Map.of(group.groupId(), new ListShareGroupOffsetsSpec())).all().get().get(group.groupId());
            Map<String, Object> starts = new TreeMap<>();
            offsets.forEach((partition, info) -> starts.put(partition.toString(), info.startOffset()));
            all.put(group.groupId(), Map.of("state", group.groupState().orElseThrow().toString(), "start_offsets", starts));
        }
        return all;
    }

    private Map<String, Object> transactions() throws Exception {
        List<String> ids = admin.listTransactions().all().get().stream().map(TransactionListing::transactionalId).toList();
        Map<String, Object> all = new TreeMap<>();
        for (Map.Entry<String, TransactionDescription> each : admin.describeTransactions(ids).all().get().entrySet()) {
            TransactionDescription transaction = each.getValue();
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("state", transaction.state().toString());
            fields.put("producer_id", transaction.producerId());
            fields.put("producer_epoch", transaction.producerEpoch());
            fields.put("timeout_ms", transaction.transactionTimeoutMs());
            fields.put("start_ms", transaction.transactionStartTimeMs().isPresent()
                ? transaction.transactionStartTimeMs().getAsLong() : null);
            fields.put("partitions", transaction.topicPartitions().stream().map(TopicPartition::toString).sorted().toList());
            all.put(each.getKey(), fields);
        }
        return all;
    }

    /** Returns the producers of each partition, as its leader reports them. */
    private Map<String, Object> producers() throws Exception {
        Map<String, Object> all = new TreeMap<>();
        admin.describeProducers(partitions).all().get().forEach((partition, state) -> {
            List<Object> producers = new ArrayList<>();
            for (ProducerState each : state.activeProducers()) {
                Map<String, Object> fields = new LinkedHashMap<>();
                fields.put("producer_id", each.producerId());
                fields.put("producer_epoch", each.producerEpoch());
                fields.put("last_sequence", each.lastSequence());
                fields.put("last_timestamp", each.lastTimestamp());
                fields.put("coordinator_epoch", each.coordinatorEpoch().isPresent() ? each.coordinatorEpoch().getAsInt() : null);
                fields.put("transaction_start_offset", each.currentTransactionStartOffset().isPresent()
                    ? each.currentTransactionStartOffset().getAsLong() : null);
                producers.add(fields);
            }
            if (!producers.isEmpty()) {
                all.put(partition.toString(), producers);
            }
        });
        return all;
    }

    // ---- records

    private void records() {
        Map<String, Object> configs = Map.of("bootstrap.servers", bootstrap, "exclude.internal.topics", "false",
            "auto.offset.reset", "earliest", "enable.auto.commit", "false");
        try (var consumer = new KafkaConsumer<>(configs, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            for (TopicPartition partition : partitions) {
                consumer.assign(List.of(partition));
                consumer.seekToBeginning(List.of(partition));
                long end = consumer.endOffsets(List.of(partition)).get(partition);
                long deadline = System.currentTimeMillis() + PATIENCE_MS;
                while (consumer.position(partition) < end) {
                    consumer.poll(Duration.ofMillis(200)).forEach(Expected::print);
                    if (System.currentTimeMillis() > deadline) {
                        throw new IllegalStateException(partition + " was not read in time up to " + end);
                    }
                }
            }
        }
    }

    private static void print(ConsumerRecord<byte[], byte[]> record) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("topic", record.topic());
        row.put("partition", record.partition());
        row.put("offset", record.offset());
        row.put("timestamp", record.timestamp());
        row.put("timestampType", record.timestampType().id);
        row.put("key", hex(record.key()));
        row.put("value", hex(record.value()));
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            List<String> pair = new ArrayList<>();
            pair.add(header.key());
            pair.add(hex(header.value()));
            headers.add(pair);
        }
        row.put("headers", headers);
        try {
            System.out.println(LINES.writeValueAsString(row));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? null : HEX.formatHex(bytes);
    }
}
