"""Tokens of a SASL login: PLAIN (RFC 4616) and SCRAM (RFC 5802, RFC 7677), without channel binding."""

from __future__ import annotations

from .._base.message import class_of
from .._core.display import display
from ..errors import KafkaMessageError
from ..protocol import ErrorCode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from .._base.message import Request

_ALGORITHMS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
# More iterations would block the event loop. Kafka creates credentials with 4,096 to 16,384.
_MIN_ITERATIONS, _MAX_ITERATIONS = 4096, 100_000
_ATTRIBUTES = ("r=", "nonce"), ("s=", "salt"), ("i=", "iteration count")


class AuthenticationError(KafkaMessageError):
    """The broker refused the login, or did not prove that it knows the password."""


def sasl_requests(mechanism: str, username: str, password: str) -> Generator[Request[Any], Any, None]:
    """Yield the requests of a login, and receive each response with ``send``; the generator ends after a success.

    ``mechanism`` is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512. PLAIN sends the password: use TLS. As in Kafka, user name
    and password are used as UTF-8, without SASLprep. The broker needs SaslAuthenticate (Kafka 1.0).

    Raises AuthenticationError, and ValueError for another mechanism, and for NUL in the credentials of PLAIN.
    """
    return _requests(mechanism, sasl_tokens(mechanism, username, password))


def _requests(mechanism: str, tokens: Generator[bytes, bytes, None]) -> Generator[Request[Any], Any, None]:
    handshake: Any = class_of("SaslHandshakeRequest")
    authenticate: Any = class_of("SaslAuthenticateRequest")
    response = yield handshake(mechanism=mechanism)
    reason = f"the broker has {', '.join(response.mechanisms)}"
    token = next(tokens)
    while not response.error_code:
        response = yield authenticate(auth_bytes=token)
        reason = response.error_message
        if not response.error_code:
            try:
                token = tokens.send(response.auth_bytes)
            except StopIteration:
                return
    raise AuthenticationError(f"{mechanism}: {ErrorCode(response.error_code).name}: {reason}")


def sasl_tokens(
    mechanism: str, username: str, password: str, *, nonce: str | None = None
) -> Generator[bytes, bytes, None]:
    if mechanism == "PLAIN":
        if "\0" in username + password:
            raise ValueError("user name and password of PLAIN must not contain NUL")
        return _plain(username, password)
    if mechanism not in _ALGORITHMS:
        raise ValueError(f"mechanism must be PLAIN, {' or '.join(_ALGORITHMS)}, not {display(mechanism)}")
    return _scram(_ALGORITHMS[mechanism], username, password, nonce)


def _plain(username: str, password: str) -> Generator[bytes, bytes, None]:
    yield f"\0{username}\0{password}".encode()


def _scram(algorithm: str, username: str, password: str, nonce: str | None) -> Generator[bytes, bytes, None]:
    import hashlib
    import hmac
    import secrets
    from base64 import b64encode

    nonce = nonce or secrets.token_urlsafe(24)
    bare = f"n={username.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
    server_first = (yield f"n,,{bare}".encode()).decode(errors="replace")
    server_nonce, salt, iterations = _challenge(server_first, nonce)
    salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, iterations)
    without_proof = f"c=biws,r={server_nonce}"  # biws is the base64 form of n,,
    signed = f"{bare},{server_first},{without_proof}".encode()
    client_key = hmac.digest(salted, b"Client Key", algorithm)
    signature = hmac.digest(hashlib.new(algorithm, client_key).digest(), signed, algorithm)
    proof = bytes(key ^ byte for key, byte in zip(client_key, signature, strict=True))
    server_final = yield f"{without_proof},p={b64encode(proof).decode()}".encode()
    _check_refusal(server_final.decode(errors="replace"))
    server_key = hmac.digest(salted, b"Server Key", algorithm)
    expected = b"v=" + b64encode(hmac.digest(server_key, signed, algorithm))
    if not server_final.startswith(b"v="):
        raise AuthenticationError("SCRAM: the broker's last message has no signature (v=)")
    if not hmac.compare_digest(server_final.partition(b",")[0], expected):
        raise AuthenticationError("SCRAM: the broker's signature is wrong: it does not know the password")


def _check_refusal(message: str) -> None:
    if message.startswith("e="):
        shown = message[2:] if message.isprintable() and len(message) <= 62 else display(message[2:])
        raise AuthenticationError(f"SCRAM: the broker refused the login: {shown}")


def _challenge(server_first: str, nonce: str) -> tuple[str, bytes, int]:
    """Return nonce, salt and iterations of the ``server-first-message`` (RFC 5802, section 7)."""
    from base64 import b64decode

    _check_refusal(server_first)
    if server_first.startswith("m="):
        raise AuthenticationError("SCRAM: the broker requires an extension (m=), and none is supported")
    values = []
    for part, (start, name) in zip([*server_first.split(","), "", "", ""], _ATTRIBUTES, strict=False):
        if not part.startswith(start):
            raise AuthenticationError(f"SCRAM: the broker's first message has no {name} ({start}) in its place")
        values.append(part[2:])
    server_nonce, encoded_salt, iterations = values
    if not server_nonce.startswith(nonce) or server_nonce == nonce:
        raise AuthenticationError("SCRAM: the broker's nonce does not extend the client's")
    if not (server_nonce.isascii() and server_nonce.isprintable()) or " " in server_nonce:
        raise AuthenticationError("SCRAM: the broker's nonce has characters that are not printable ASCII")
    try:
        salt = b64decode(encoded_salt, validate=True)
    except ValueError:
        salt = b""
    if not salt:
        raise AuthenticationError("SCRAM: the broker's salt is empty or not base64")
    if not (iterations.isascii() and iterations.isdigit()):
        raise AuthenticationError(f"SCRAM: the broker's iteration count is not a number: {display(iterations)}")
    count = int(iterations) if len(iterations) <= 18 else 10**18
    if not _MIN_ITERATIONS <= count <= _MAX_ITERATIONS:
        shown, limits = count if count < 10**18 else "over 10**18", f"{_MIN_ITERATIONS} to {_MAX_ITERATIONS}"
        raise AuthenticationError(f"SCRAM: the broker requires {shown} iterations; {limits} are acceptable")
    return server_nonce, salt, count
