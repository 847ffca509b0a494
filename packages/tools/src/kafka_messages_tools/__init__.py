"""Command line, capture reader and Wireshark dissector for any generated package (default: ``kafka_messages``).

* ``kafka_messages_tools.capture`` decodes captured traffic: packets, connections, requests with their responses.
* ``kafka_messages_tools.wireshark`` generates a dissector for Wireshark.
* ``kafka_messages_tools.command`` is the command ``kafka-messages``.
"""
