"""TCP segments of packets in pcap and pcapng files, whatever the segments carry.

``files`` reads packets. ``segments`` moves ``headers``, a position in a packet, through ``links``, ``ip`` and ``tunnels``.
"""
