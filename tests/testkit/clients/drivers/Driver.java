import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApplicationRecoverableException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.protocol.Errors;

/** Driver of Kafka's own clients; lines.py describes the protocol. */
public final class Driver {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PACKAGE = "org.apache.kafka.";
    private static final Map<String, String> ASSIGNORS = Map.of("range", "RangeAssignor", "roundrobin",
        "RoundRobinAssignor", "sticky", "StickyAssignor", "cooperative-sticky", "CooperativeStickyAssignor");
    private static final Map<String, Handle> HANDLES = new ConcurrentHashMap<>();

    interface Handle {
        Object run(String what, JsonNode command) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        Map<String, ExecutorService> threads = new HashMap<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null; ) {
            JsonNode command = JSON.readTree(line);
            threads.computeIfAbsent(command.get("name").asText(), name -> new ThreadPoolExecutor(
                0, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>())).execute(() -> answer(command));
        }
        Runtime.getRuntime().halt(0); // without waiting for clients that hang
    }

    private static void answer(JsonNode command) {
        ObjectNode answer = JSON.createObjectNode();
        answer.set("id", command.get("id"));
        List<Object> rows = new ArrayList<>();
        try {
            answer.set("ok", JSON.valueToTree(run(command, rows)));
        } catch (UnsupportedOperationException e) {
            answer.put("unsupported", true);
        } catch (Throwable e) {
            if (command.get("do").asText().equals("poll"))
                answer.set("ok", JSON.valueToTree(rows));
            describe(e instanceof ExecutionException ? e.getCause() : e, answer);
        }
        System.out.println(answer);
    }

    private static Object run(JsonNode command, List<Object> rows) throws Exception {
        String what = command.get("do").asText(), name = command.get("name").asText();
        if (what.equals("consumer"))
            HANDLES.put(name, new Consumer(command));
        else if (what.equals("producer"))
            HANDLES.put(name, new Producer(command));
        else if (what.equals("poll"))
            return ((Consumer) HANDLES.get(name)).poll(command, rows);
        else
            return (what.equals("close") ? HANDLES.remove(name) : HANDLES.get(name)).run(what, command);
        return null;
    }

    /** Adds the class of the error, the code of its last cause that has one, and its kind as in KIP-1050. */
    private static void describe(Throwable error, ObjectNode answer) {
        answer.put("error", error.getClass().getSimpleName()).put("text", error.toString());
        answer.put("retriable", error instanceof RetriableException)
            .put("abortable", error instanceof TransactionAbortableException);
        answer.put("fatal", error instanceof ApplicationRecoverableException);
        for (Throwable each = error; each != null; each = each.getCause()) {
            Errors code = Errors.forException(each);
            if (each.getClass() != TimeoutException.class && code != Errors.UNKNOWN_SERVER_ERROR)
                answer.put("code", code.code());
        }
    }

    private static Map<String, Object> settings(JsonNode command) {
        Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", command.get("servers").asText()));
        settings.put("request.timeout.ms", command.get("request_ms").asInt());
        settings.put("metadata.max.age.ms", command.get("metadata_ms").asInt());
        for (String name : List.of("retry.backoff.ms", "retry.backoff.max.ms", "reconnect.backoff.ms",
                "reconnect.backoff.max.ms"))
            settings.put(name, command.get("backoff_ms").asInt());
        return settings;
    }

    /** Adds a setting, unless the command has null for it. */
    private static void put(Map<String, Object> settings, String name, JsonNode value) {
        if (!value.isNull())
            settings.put(name, value.asText());
    }

    private static Duration bound(JsonNode command) {
        return Duration.ofMillis((long) (command.get("seconds").asDouble() * 1000));
    }

    private static TopicPartition partition(JsonNode command) {
        return new TopicPartition(command.get("topic").asText(), command.get("partition").asInt());
    }

    static final class Consumer implements Handle {
        final KafkaConsumer<String, String> client;
        /** Offsets after the records of the last poll. */
        final Map<TopicPartition, OffsetAndMetadata> polled = new ConcurrentHashMap<>();

        Consumer(JsonNode command) {
            Map<String, Object> settings = settings(command);
            settings.put("key.deserializer", PACKAGE + "common.serialization.StringDeserializer");
            settings.put("value.deserializer", PACKAGE + "common.serialization.StringDeserializer");
            settings.put("default.api.timeout.ms", command.get("block_ms").asInt());
            settings.put("enable.auto.commit", false);
            settings.put("max.poll.records", 1);
            put(settings, "group.id", command.get("group"));
            put(settings, "group.instance.id", command.get("instance"));
            put(settings, "group.protocol", command.get("protocol"));
            put(settings, "isolation.level", command.get("isolation"));
            put(settings, "auto.offset.reset", command.get("reset"));
            put(settings, "max.poll.interval.ms", command.get("max_poll_ms"));
            put(settings, "fetch.max.wait.ms", command.get("fetch_ms"));
            if (command.get("protocol").asText().equals("classic")) {
                put(settings, "session.timeout.ms", command.get("session_ms"));
                put(settings, "heartbeat.interval.ms", command.get("heartbeat_ms"));
                String assignor = ASSIGNORS.get(command.get("strategy").asText());
                if (assignor != null)
                    settings.put("partition.assignment.strategy", PACKAGE + "clients.consumer." + assignor);
            }
            client = new KafkaConsumer<>(settings);
            List<String> topics = new ArrayList<>();
            command.get("topics").forEach(topic -> topics.add(topic.asText()));
            if (!topics.isEmpty())
                client.subscribe(topics);
        }

        Object poll(JsonNode command, List<Object> rows) {
            polled.clear();
            long deadline = System.nanoTime() + bound(command).toNanos();
            for (long left; rows.size() < command.get("count").asInt() && (left = deadline - System.nanoTime()) > 0; )
                for (ConsumerRecord<String, String> each : client.poll(Duration.ofNanos(left))) {
                    rows.add(List.of(each.topic(), each.partition(), each.offset(), each.value()));
                    polled.put(new TopicPartition(each.topic(), each.partition()),
                        new OffsetAndMetadata(each.offset() + 1));
                }
            return rows;
        }

        @Override
        public Object run(String what, JsonNode command) throws Exception {
            switch (what) {
                case "assign":
                    Map<TopicPartition, Long> offsets = new HashMap<>();
                    for (JsonNode each : command.get("partitions"))
                        offsets.put(new TopicPartition(each.get(0).asText(), each.get(1).asInt()), each.get(2).asLong());
                    client.assign(offsets.keySet());
                    offsets.forEach((partition, offset) -> client.seek(partition, offset));
                    return null;
                case "commit":
                    client.commitSync(bound(command));
                    return null;
                case "position":
                    return client.position(partition(command), bound(command));
                case "committed":
                    TopicPartition where = partition(command);
                    OffsetAndMetadata found = client.committed(Set.of(where), bound(command)).get(where);
                    return found == null ? null : found.offset();
                case "metadata":
                    return client.partitionsFor(command.get("topic").asText(), bound(command)).size();
                case "close":
                    client.close(CloseOptions.timeout(bound(command)));
                    return null;
                default:
                    throw new UnsupportedOperationException();
            }
        }
    }

    static final class Producer implements Handle {
        final KafkaProducer<String, String> client;

        Producer(JsonNode command) {
            Map<String, Object> settings = settings(command);
            settings.put("key.serializer", PACKAGE + "common.serialization.StringSerializer");
            settings.put("value.serializer", PACKAGE + "common.serialization.StringSerializer");
            settings.put("linger.ms", 0);
            put(settings, "enable.idempotence", command.get("idempotence"));
            put(settings, "acks", command.get("acks"));
            put(settings, "retries", command.get("retries"));
            put(settings, "max.block.ms", command.get("block_ms"));
            put(settings, "delivery.timeout.ms", command.get("delivery_ms"));
            put(settings, "transactional.id", command.get("transactional_id"));
            if (!command.get("transactional_id").isNull())
                put(settings, "transaction.timeout.ms", command.get("transaction_ms"));
            client = new KafkaProducer<>(settings);
        }

        @Override
        public Object run(String what, JsonNode command) throws Exception {
            switch (what) {
                case "send":
                    TopicPartition to = partition(command);
                    String value = command.get("value").asText();
                    return client.send(new ProducerRecord<>(to.topic(), to.partition(), null, value))
                        .get(bound(command).toMillis(), TimeUnit.MILLISECONDS).offset();
                case "init":
                    client.initTransactions();
                    return null;
                case "begin":
                    client.beginTransaction();
                    return null;
                case "send_offsets":
                    Consumer consumer = (Consumer) HANDLES.get(command.get("consumer").asText());
                    client.sendOffsetsToTransaction(consumer.polled, consumer.client.groupMetadata());
                    return null;
                case "end":
                    boolean commits = command.get("commit").asBoolean();
                    if (commits)
                        client.commitTransaction();
                    else
                        client.abortTransaction();
                    return commits;
                case "metadata":
                    return client.partitionsFor(command.get("topic").asText()).size();
                case "close":
                    client.close(bound(command));
                    return null;
                default:
                    throw new UnsupportedOperationException();
            }
        }
    }
}
