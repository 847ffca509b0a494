import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.protocol.types.Schema;

/** Converts messages to and from the JSON of Kafka's converters. */
interface JsonForm {
    Message read(JsonNode json, short version) throws ReflectiveOperationException, IOException;

    JsonNode write(Message message, short version) throws ReflectiveOperationException;

    /** Returns Kafka's converter, or a replacement for classes without one (Kafka Streams). */
    static JsonForm of(Class<?> type, String converter) throws ReflectiveOperationException {
        return converter == null ? new ReflectedForm(type) : new ConverterForm(type, Class.forName(converter));
    }

    /** Returns the fields that a message class declares, without constants. */
    static List<Field> fields(Class<?> type) {
        List<Field> found = new ArrayList<>();
        for (Field field : type.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                field.setAccessible(true);
                found.add(field);
            }
        }
        return found;
    }
}

/** Kafka's converter, but with the bytes of records, for which the converter writes an empty string, and unknown tags. */
final class ConverterForm implements JsonForm {
    private static final String UNKNOWN_TAGS = "_unknownTaggedFields";
    private final Method read;
    private final Method write;

    ConverterForm(Class<?> type, Class<?> converter) throws ReflectiveOperationException {
        read = converter.getMethod("read", JsonNode.class, short.class);
        write = converter.getMethod("write", type, short.class);
    }

    @Override
    public Message read(JsonNode json, short version) throws ReflectiveOperationException, IOException {
        Message message = (Message) read.invoke(null, json, version);
        visit(message, (ObjectNode) json, (struct, node) -> {
            for (JsonNode field : node.path(UNKNOWN_TAGS)) {
                byte[] data = Base64.getDecoder().decode(field.get("data").textValue());
                struct.unknownTaggedFields().add(new RawTaggedField(field.get("tag").intValue(), data));
            }
        });
        return message;
    }

    @Override
    public JsonNode write(Message message, short version) throws ReflectiveOperationException {
        ObjectNode json = (ObjectNode) write.invoke(null, message, version);
        visit(message, json, ConverterForm::complete);
        return json;
    }

    private static void complete(Message struct, ObjectNode json) throws ReflectiveOperationException {
        for (Field field : JsonForm.fields(struct.getClass())) {
            Object value = field.get(struct);
            // By class name, because the package of the records classes differs between releases.
            boolean isRecords = field.getType().getSimpleName().equals("BaseRecords");
            if (isRecords && value != null && json.has(field.getName())) {
                json.put(field.getName(), bytes((ByteBuffer) value.getClass().getMethod("buffer").invoke(value)));
            }
        }
        for (RawTaggedField field : struct.unknownTaggedFields()) {
            json.withArray(UNKNOWN_TAGS).addObject().put("tag", field.tag()).put("data", field.data());
        }
    }

    private interface Visitor {
        void visit(Message struct, ObjectNode json) throws ReflectiveOperationException;
    }

    /** Visits a message and its structs, each with its JSON object. */
    private static void visit(Message message, ObjectNode json, Visitor visitor) throws ReflectiveOperationException {
        for (Field field : JsonForm.fields(message.getClass())) {
            Object value = field.get(message);
            JsonNode member = json.get(field.getName());
            if (value instanceof Message struct && member instanceof ObjectNode node) {
                visit(struct, node, visitor);
            } else if (value instanceof Collection<?> elements && member != null) {
                Iterator<JsonNode> nodes = member.elements();
                for (Object element : elements) {
                    JsonNode node = nodes.next();
                    if (element instanceof Message struct) {
                        visit(struct, (ObjectNode) node, visitor);
                    }
                }
            }
        }
        visitor.visit(message, json);
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }
}

/** The same JSON without a converter; the fields of a version are those of the schema in the message class. */
final class ReflectedForm implements JsonForm {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private final Class<?> type;

    ReflectedForm(Class<?> type) {
        this.type = type;
    }

    @Override
    public Message read(JsonNode json, short version) throws ReflectiveOperationException, IOException {
        return struct(type, json, version);
    }

    @Override
    public JsonNode write(Message message, short version) throws ReflectiveOperationException {
        ObjectNode json = NODES.objectNode();
        for (Field field : fields(message.getClass(), version)) {
            json.set(field.getName(), node(field.get(message), version));
        }
        return json;
    }

    private static List<Field> fields(Class<?> type, short version) throws ReflectiveOperationException {
        Schema schema = ((Schema[]) type.getField("SCHEMAS").get(null))[version];
        List<Field> found = JsonForm.fields(type);
        found.removeIf(field -> schema.get(snake(field.getName())) == null);
        // Fail for a tagged section or an unexpected field name, instead of omitting it silently.
        if (found.size() != schema.numFields()) {
            throw new IllegalStateException(type + " has no converter and fields that only a converter can write");
        }
        return found;
    }

    private static String snake(String name) {
        return name.replaceAll("([^A-Z])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
    }

    private static Message struct(Class<?> type, JsonNode json, short version)
            throws ReflectiveOperationException, IOException {
        Message message = Oracle.create(type);
        for (Field field : fields(type, version)) {
            if (!json.has(field.getName())) {
                throw new IllegalArgumentException(type.getSimpleName() + ": no value for field " + field.getName());
            }
            field.set(message, value(field.getGenericType(), json.get(field.getName()), version));
        }
        return message;
    }

    private static Object value(Type type, JsonNode json, short version)
            throws ReflectiveOperationException, IOException {
        if (json.isNull()) {
            return null;
        } else if (type == byte.class || type == Byte.class) {
            return Byte.valueOf(json.asText());
        } else if (type == short.class || type == Short.class) {
            return Short.valueOf(json.asText());
        } else if (type == int.class || type == Integer.class) {
            return Integer.valueOf(json.asText());
        } else if (type == long.class || type == Long.class) {
            return Long.valueOf(json.asText());
        } else if (type == String.class) {
            return json.textValue();
        } else if (type == Uuid.class) {
            return Uuid.fromString(json.textValue());
        } else if (type == byte[].class) {
            return json.binaryValue();
        } else if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
            List<Object> elements = new ArrayList<>();
            for (JsonNode element : json) {
                elements.add(value(list.getActualTypeArguments()[0], element, version));
            }
            return elements;
        } else if (type instanceof Class<?> known && Message.class.isAssignableFrom(known)) {
            return struct(known, json, version);
        }
        throw new IllegalArgumentException("no JSON form known for " + type);
    }

    private JsonNode node(Object value, short version) throws ReflectiveOperationException {
        if (value instanceof Message struct) {
            return write(struct, version);
        } else if (value instanceof List<?> elements) {
            ArrayNode array = NODES.arrayNode();
            for (Object element : elements) {
                array.add(node(element, version));
            }
            return array;
        } else if (value instanceof Uuid uuid) {
            return NODES.textNode(uuid.toString());
        }
        return Oracle.MAPPER.valueToTree(value);
    }
}
