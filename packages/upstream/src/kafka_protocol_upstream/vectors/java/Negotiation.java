import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.feature.Features;
import org.apache.kafka.common.feature.SupportedVersionRange;
import org.apache.kafka.common.message.ApiMessageType.ListenerType;
import org.apache.kafka.common.message.ApiVersionsRequestData;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.SendBuilder;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.ApiVersionsRequest;
import org.apache.kafka.common.requests.ApiVersionsResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;

/** ApiVersions requests, and the responses of a broker (KIP-511). */
final class Negotiation {
    private static final String CLUSTER = "cluster-of-the-broker";
    private static final int BROKER = 1;

    private Negotiation() {}

    static void print(PrintStream out) throws Exception {
        short latest = ApiKeys.API_VERSIONS.latestVersion();
        for (int version = 0; version <= latest; version++) {
            print(out, "version-" + version, version, software("vectors", "1.0"));
        }
        for (int version = 3; version <= latest; version++) {
            print(out, "version-" + version + "-empty-name", version, software("", "1.0"));
            print(out, "version-" + version + "-invalid-software", version, software("vectors", "-1.0-"));
        }
        for (int version = 5; version <= latest; version++) {
            print(out, "version-" + version + "-same-broker", version, broker(CLUSTER, BROKER));
            print(out, "version-" + version + "-other-cluster", version, broker("other", BROKER));
            print(out, "version-" + version + "-other-broker", version, broker(CLUSTER, BROKER + 1));
            print(out, "version-" + version + "-cluster-alone", version, broker(CLUSTER, -1));
        }
        for (int version : new int[] {latest + 1, 99, Short.MAX_VALUE, -1, Short.MIN_VALUE}) {
            print(out, "unsupported-version-" + version, version, software("vectors", "1.0"));
        }
    }

    private static ApiVersionsRequestData software(String name, String version) {
        return new ApiVersionsRequestData().setClientSoftwareName(name).setClientSoftwareVersion(version);
    }

    private static ApiVersionsRequestData broker(String cluster, int node) {
        return software("vectors", "1.0").setClusterId(cluster).setNodeId(node);
    }

    private static void print(PrintStream out, String id, int version, ApiVersionsRequestData data) throws Exception {
        RequestHeader sent = new RequestHeader(ApiKeys.API_VERSIONS, (short) version, "vectors", 7);
        byte[] asked = Frames.bytes(SendBuilder.buildRequestSend(sent, data));

        ByteBuffer buffer = Frames.afterLength(asked);
        RequestHeader header = RequestHeader.parse(buffer);
        RequestContext context = new RequestContext(header, "", InetAddress.getLoopbackAddress(), KafkaPrincipal.ANONYMOUS,
            ListenerName.forSecurityProtocol(SecurityProtocol.PLAINTEXT), SecurityProtocol.PLAINTEXT,
            ClientInformation.EMPTY, false);
        ApiVersionsRequest request = (ApiVersionsRequest) context.parseRequest(buffer).request;
        ApiVersionsResponse response = response(request);
        byte[] answered = Frames.bytes(context.buildResponseSend(response));

        // The client reads the response, as for the version that it requested.
        AbstractResponse again = AbstractResponse.parseResponse(Frames.afterLength(answered), header);
        short responseVersion = context.apiVersion();
        ObjectNode line = Oracle.MAPPER.createObjectNode().put("id", id).put("version", version);
        line.put("request_header_version", header.headerVersion()).put("response_version", responseVersion);
        line.put("response_header_version", header.toResponseHeader().headerVersion());
        line.put("request", HexFormat.of().formatHex(asked)).put("response", HexFormat.of().formatHex(answered));
        line.set("request_header", Frames.headerForm(true).write(header.data(), header.headerVersion()));
        // A broker does not read the body of an unsupported version.
        boolean isRead = !request.hasUnsupportedRequestVersion();
        line.set("request_body", isRead ? form(request.data()).write(request.data(), request.version()) : null);
        line.set("response_header", Frames.headerForm(false).write(
            header.toResponseHeader().data(), header.toResponseHeader().headerVersion()));
        line.set("response_body", form(again.data()).write(again.data(), responseVersion));
        out.print(Oracle.MAPPER.writeValueAsString(line) + "\n");
    }

    /** Returns the response as the broker's request handler chooses it. */
    private static ApiVersionsResponse response(ApiVersionsRequest request) {
        ApiVersionsRequestData data = request.data();
        if (request.hasUnsupportedRequestVersion()) {
            return request.getErrorResponse(0, Errors.UNSUPPORTED_VERSION.exception());
        } else if (!request.isValid()) {
            return request.getErrorResponse(0, Errors.INVALID_REQUEST.exception());
        } else if (data.clusterId() != null && !(data.clusterId().equals(CLUSTER) && data.nodeId() == BROKER)) {
            return request.getErrorResponse(0, Errors.REBOOTSTRAP_REQUIRED.exception());
        }
        return new ApiVersionsResponse.Builder()
            .setApiVersions(ApiVersionsResponse.filterApis(ListenerType.BROKER, false, true))
            .setSupportedFeatures(Features.supportedFeatures(new TreeMap<>(Map.of(
                "kraft.version", new SupportedVersionRange((short) 0, (short) 1),
                "transaction.version", new SupportedVersionRange((short) 1, (short) 2)))))
            .setFinalizedFeatures(Map.of("transaction.version", (short) 2))
            .setFinalizedFeaturesEpoch(11)
            .setAlterFeatureLevel0(request.version() < 4)
            .build();
    }

    private static JsonForm form(ApiMessage message) throws ReflectiveOperationException {
        return JsonForm.of(message.getClass(), message.getClass().getName() + "JsonConverter");
    }
}
