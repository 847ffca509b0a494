import org.apache.kafka.common.protocol.ApiKeys;

/** The versions that the clients of a release have: a line with key, lowest and highest for each API. */
public final class Ranges {
    public static void main(String[] args) {
        for (ApiKeys api : ApiKeys.values())
            System.out.println(api.id + " " + api.oldestVersion() + " " + api.latestVersion());
    }
}
