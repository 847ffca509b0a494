import org.apache.kafka.common.protocol.ApiKeys;

/** Prints the versions that a release's clients support: key, lowest and highest version of an API per line. */
public final class Ranges {
    public static void main(String[] args) {
        for (ApiKeys api : ApiKeys.values())
            System.out.println(api.id + " " + api.oldestVersion() + " " + api.latestVersion());
    }
}
