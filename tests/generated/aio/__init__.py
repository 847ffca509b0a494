"""Tests of ``kafka_messages.aio`` over sockets on loopback."""
