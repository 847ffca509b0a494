import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;

/** Reads lines of class, version and hex; decodes the bytes with that class, and prints them re-encoded, or the failure. */
public final class Exchange {
    private static final String PROTOCOL = "org.apache.kafka.common.protocol.";

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", -1);
            System.out.println(exchanged(words[0], Short.parseShort(words[1]), bytes(words[2])));
        }
    }

    private static String exchanged(String name, short version, byte[] data) throws Exception {
        try {
            ByteBuffer buffer = ByteBuffer.wrap(data);
            Object message = Class.forName(name).getDeclaredConstructor().newInstance();
            method(message, "read", 2).invoke(message, accessor(buffer), version);
            if (buffer.hasRemaining()) {
                return "left " + buffer.remaining();
            }
            return "again " + hex(written(message, version)) + " " + message;
        } catch (InvocationTargetException error) {
            return "failed " + error.getCause().getClass().getSimpleName();
        }
    }

    private static byte[] written(Object message, short version) throws Exception {
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        Method write;
        try {
            write = method(message, "write", 3);
        } catch (NoSuchMethodException old) {
            method(message, "write", 2).invoke(message, accessor(buffer), version);
            return used(buffer);
        }
        Object cache = Class.forName(PROTOCOL + "ObjectSerializationCache").getDeclaredConstructor().newInstance();
        Method size = message.getClass().getMethods()[0];
        for (Method each : message.getClass().getMethods()) {
            if (each.getName().matches("addSize|size") && each.getParameterCount() == (each.getName().equals("size") ? 2 : 3)) {
                size = each;
            }
        }
        if (size.getName().equals("size")) {
            size.invoke(message, cache, version);
        } else {
            Object sum = Class.forName(PROTOCOL + "MessageSizeAccumulator").getDeclaredConstructor().newInstance();
            size.invoke(message, sum, cache, version);
        }
        write.invoke(message, accessor(buffer), cache, version);
        return used(buffer);
    }

    private static byte[] used(ByteBuffer buffer) {
        byte[] data = new byte[buffer.position()];
        buffer.flip();
        buffer.get(data);
        return data;
    }

    private static Object accessor(ByteBuffer buffer) throws Exception {
        Constructor<?> constructor = Class.forName(PROTOCOL + "ByteBufferAccessor").getConstructor(ByteBuffer.class);
        return constructor.newInstance(buffer);
    }

    private static Method method(Object message, String name, int parameters) throws NoSuchMethodException {
        for (Method each : message.getClass().getMethods()) {
            if (each.getName().equals(name) && each.getParameterCount() == parameters && !each.isBridge()) {
                return each;
            }
        }
        throw new NoSuchMethodException(name);
    }

    private static byte[] bytes(String hex) {
        byte[] data = new byte[hex.length() / 2];
        for (int index = 0; index < data.length; index++) {
            data[index] = (byte) Integer.parseInt(hex.substring(2 * index, 2 * index + 2), 16);
        }
        return data;
    }

    private static String hex(byte[] data) {
        StringBuilder text = new StringBuilder();
        for (byte each : data) {
            text.append(String.format("%02x", each));
        }
        return text.toString();
    }
}
