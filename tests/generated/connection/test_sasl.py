"""Tokens of PLAIN and SCRAM, with the example of RFC 7677 and an independent server."""

from __future__ import annotations

import pytest
from kafka_messages.connection import AuthenticationError
from kafka_messages.connection._sasl import sasl_tokens

from tests.support.scram import ScramServer

SHA_256, SHA_512 = "SCRAM-SHA-256", "SCRAM-SHA-512"
NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def test_scram_sha_256_has_the_tokens_of_rfc_7677() -> None:
    salt = bytes.fromhex("5b6d99689d12358eeca04b141236fa81")
    server = ScramServer("sha256", "user", "pencil", salt=salt, nonce=b"%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
    tokens = sasl_tokens(SHA_256, "user", "pencil", nonce=NONCE)
    assert next(tokens) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert server.challenge(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO") == SERVER_FIRST
    assert (final := tokens.send(SERVER_FIRST)) == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    assert server.finish(final) == SERVER_FINAL
    with pytest.raises(StopIteration):
        tokens.send(SERVER_FINAL)


@pytest.mark.parametrize("mechanism", [SHA_256, SHA_512])
@pytest.mark.parametrize(("username", "password"), [("alice", "secret"), ("a,li=ce", "sécret")])
def test_scram_logs_in_at_an_independent_server(mechanism: str, username: str, password: str) -> None:
    server = ScramServer(mechanism.removeprefix("SCRAM-").replace("-", "").lower(), username, password)
    tokens = sasl_tokens(mechanism, username, password)
    final = tokens.send(server.challenge(next(tokens)))
    with pytest.raises(StopIteration):
        tokens.send(server.finish(final))


def test_scram_nonces_are_random() -> None:
    assert next(sasl_tokens(SHA_256, "user", "pencil")) != next(sasl_tokens(SHA_256, "user", "pencil"))


def test_plain_has_one_token() -> None:
    tokens = sasl_tokens("PLAIN", "alice", "sécret")
    assert next(tokens) == "\0alice\0sécret".encode()
    with pytest.raises(StopIteration):
        tokens.send(b"")


@pytest.mark.parametrize(
    ("server_first", "message"),
    [
        (b"", "SCRAM: the broker's first message has no nonce (r=) in its place"),
        (b"\xff", "SCRAM: the broker's first message has no nonce (r=) in its place"),
        (b"m=new," + SERVER_FIRST, "SCRAM: the broker requires an extension (m=), and none is supported"),
        (b"e=unknown-user", "SCRAM: the broker refused the login: unknown-user"),
        (b"e=\x1b[2J", "SCRAM: the broker refused the login: '\\x1b[2J'"),
        (b"e=" + b"x" * 100, f"SCRAM: the broker refused the login: '{'x' * 56}..."),
        (SERVER_FIRST.replace(b"s=", b"x="), "SCRAM: the broker's first message has no salt (s=) in its place"),
        (
            SERVER_FIRST.replace(b",i=4096", b""),
            "SCRAM: the broker's first message has no iteration count (i=) in its place",
        ),
        (SERVER_FIRST.replace(b"W22", b"W2"), "SCRAM: the broker's salt is empty or not base64"),
        (SERVER_FIRST.replace(b"W22ZaJ0SNY7soEsUEjb6gQ==", b""), "SCRAM: the broker's salt is empty or not base64"),
        (
            SERVER_FIRST.replace(b"%hv", b"\x07hv"),
            "SCRAM: the broker's nonce has characters that are not printable ASCII",
        ),
        (SERVER_FIRST.replace(b"4096", b"-4096"), "SCRAM: the broker's iteration count is not a number: '-4096'"),
        (SERVER_FIRST.replace(b"4096", b""), "SCRAM: the broker's iteration count is not a number: ''"),
        (
            SERVER_FIRST.replace(b"4096", b"1000000000"),
            "SCRAM: the broker requires 1000000000 iterations; 4096 to 100000 are acceptable",
        ),
        (
            SERVER_FIRST.replace(b"4096", b"1" * 5000),
            "SCRAM: the broker requires over 10**18 iterations; 4096 to 100000 are acceptable",
        ),
        (SERVER_FIRST.replace(b"r=r", b"r=R"), "SCRAM: the broker's nonce does not extend the client's"),
        (b"r=" + NONCE.encode() + b",s=W22Z,i=4096", "SCRAM: the broker's nonce does not extend the client's"),
        (
            SERVER_FIRST.replace(b"4096", b"4095"),
            "SCRAM: the broker requires 4095 iterations; 4096 to 100000 are acceptable",
        ),
        (
            SERVER_FIRST.replace(b"4096", b"100001"),
            "SCRAM: the broker requires 100001 iterations; 4096 to 100000 are acceptable",
        ),
    ],
)
def test_invalid_challenge_is_rejected(server_first: bytes, message: str) -> None:
    tokens = sasl_tokens(SHA_256, "user", "pencil", nonce=NONCE)
    next(tokens)
    with pytest.raises(AuthenticationError) as caught:
        tokens.send(server_first)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("server_final", "message"),
    [
        (b"e=invalid-proof", "SCRAM: the broker refused the login: invalid-proof"),
        (b"", "SCRAM: the broker's last message has no signature (v=)"),
        (SERVER_FINAL[:-1], "SCRAM: the broker's signature is wrong: it does not know the password"),
        (
            SERVER_FINAL.replace(b"6rri", b"6rrj"),
            "SCRAM: the broker's signature is wrong: it does not know the password",
        ),
    ],
)
def test_wrong_server_signature_is_rejected(server_final: bytes, message: str) -> None:
    tokens = sasl_tokens(SHA_256, "user", "pencil", nonce=NONCE)
    next(tokens)
    tokens.send(SERVER_FIRST)
    with pytest.raises(AuthenticationError) as caught:
        tokens.send(server_final)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("mechanism", "username", "message"),
    [
        ("GSSAPI", "u", "mechanism must be PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512, not 'GSSAPI'"),
        ("PLAIN", "u\0", "user name and password of PLAIN must not contain NUL"),
    ],
)
def test_invalid_arguments_are_rejected(mechanism: str, username: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        sasl_tokens(mechanism, username, "p")
