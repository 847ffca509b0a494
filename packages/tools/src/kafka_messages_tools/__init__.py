"""The command ``kafka-messages``, capture files and a Wireshark dissector, for any generated package.

* ``kafka_messages_tools.capture`` reads captured traffic: packets, connections, requests with their responses.
* ``kafka_messages_tools.wireshark`` prints a dissector for Wireshark.
* ``kafka_messages_tools.command`` is the command.

They work on ``kafka_messages`` unless another package is named.
"""
