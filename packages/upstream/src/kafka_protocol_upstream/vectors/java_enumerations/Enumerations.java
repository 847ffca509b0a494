import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;

/**
 * Prints names and values of enumerations from Kafka's classes.
 *
 * <p>Each line of standard input is a class and a name, separated by a space. The name is a constant of the class; for an
 * enum, it is the method or field with the encoded value of each enum constant. The answer to each line is a JSON object
 * that maps names to values.
 */
public final class Enumerations {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
        FileOutputStream standard = new FileOutputStream(FileDescriptor.out);
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (PrintStream out = new PrintStream(standard, false, StandardCharsets.UTF_8)) {
            for (String line = questions.readLine(); line != null; line = questions.readLine()) {
                String[] words = line.split(" ");
                out.print(MAPPER.writeValueAsString(answer(Class.forName(words[0]), words[1])) + "\n");
            }
        }
    }

    private static ObjectNode answer(Class<?> owner, String name) throws ReflectiveOperationException {
        ObjectNode found = MAPPER.createObjectNode();
        Member member = member(owner, name);
        if (Modifier.isStatic(member.getModifiers())) {
            put(found, name, value(member, null));
            return found;
        }
        for (Object constant : owner.getEnumConstants()) {
            put(found, ((Enum<?>) constant).name(), value(member, constant));
        }
        return found;
    }

    private static Member member(Class<?> owner, String name) throws ReflectiveOperationException {
        for (Method method : owner.getDeclaredMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == 0) {
                return method;
            }
        }
        return owner.getDeclaredField(name);
    }

    private static Object value(Member member, Object constant) throws ReflectiveOperationException {
        ((AccessibleObject) member).setAccessible(true);
        return member instanceof Method method ? method.invoke(constant) : ((Field) member).get(constant);
    }

    private static void put(ObjectNode found, String name, Object value) {
        if (value instanceof Number number) {
            found.put(name, number.longValue());
        } else if (value instanceof Boolean bool) {
            found.put(name, bool ? 1 : 0);
        } else {
            found.put(name, (String) value);
        }
    }
}
