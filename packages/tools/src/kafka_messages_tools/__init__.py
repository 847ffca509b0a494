"""Command line, capture reader and Wireshark dissector for any generated package.

* ``kafka_messages_tools.capture``: requests and responses in captured traffic.
* ``kafka_messages_tools.wireshark``: a dissector for Wireshark.
* ``kafka_messages_tools.command``: the command ``kafka-messages``.
"""
