from kafka_messages_proposals import IntegerEncodings

# The same number with four bytes, as a zig-zag varint and as a plain one: its definition says so, version by version.
message = IntegerEncodings(leader_id=300)
for version in (0, 2, 3):
    data = message.write(version)
    print(version, len(data), data.hex())
    assert IntegerEncodings.read(data, version) == message
