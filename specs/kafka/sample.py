from kafka_messages import OffsetCommitRequest

# What a consumer of the group `billing` sent to a broker, behind the header of the request.
data = bytes.fromhex(
    "0862696c6c696e67000000012d62696c6c696e672d31313233656135642d323930342d343765612d386433632d653538633838393837663662"
    "0002076f72646572730300000000000000000000001e000000000961667465722032390000000001000000000000001e000000000961667465"
    "72203539000000"
)
request = OffsetCommitRequest.read(data, version=9)
for topic in request.topics:
    for partition in topic.partitions:
        print(request.group_id, topic.name, partition.partition_index, partition.committed_offset)
assert request.write(9) == data
