"""The server side of SCRAM (RFC 5802), independent of the client in docs/guide/blocking-client.md."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re

_FIRST = re.compile(rb"n,,(?P<bare>n=(?P<name>(?:[^,=]|=2C|=3D)+),r=(?P<nonce>[!-+\--~]+))")
_FINAL = re.compile(rb"(?P<signed>c=(?P<binding>[A-Za-z0-9+/=]+),r=(?P<nonce>[!-+\--~]+)),p=(?P<proof>[A-Za-z0-9+/=]+)")


class ScramError(Exception):
    """A client's message is malformed, or its proof is wrong."""


class ScramServer:
    """The server in one login; it stores a salt and two keys, not the password."""

    def __init__(self, algorithm: str, name: str, password: str, *, salt: bytes = b"", nonce: bytes = b"") -> None:
        self._hash, self._name, self._rounds = algorithm, name.encode(), 4096
        self._salt = salt or os.urandom(16)
        self._own_nonce = nonce or base64.b64encode(os.urandom(18))
        salted = self._salted(password.encode())
        client_key = hmac.new(salted, b"Client Key", algorithm).digest()
        self._stored_key = hashlib.new(algorithm, client_key).digest()
        self._server_key = hmac.new(salted, b"Server Key", algorithm).digest()
        self._auth_message = b""
        self._nonce = b""

    def _salted(self, password: bytes) -> bytes:
        """Return the salted password, Hi() of RFC 5802."""
        block = hmac.new(password, self._salt + b"\0\0\0\1", self._hash).digest()
        total = int.from_bytes(block)
        for _ in range(self._rounds - 1):
            block = hmac.new(password, block, self._hash).digest()
            total ^= int.from_bytes(block)
        return total.to_bytes(len(block))

    def challenge(self, message: bytes) -> bytes:
        """Return the answer to the client's first message."""
        found = _FIRST.fullmatch(message)
        if found is None or found["name"].replace(b"=2C", b",").replace(b"=3D", b"=") != self._name:
            raise ScramError(f"not a first message of {self._name!r}: {message!r}")
        self._nonce = found["nonce"] + self._own_nonce
        answer = b"r=%b,s=%b,i=%d" % (self._nonce, base64.b64encode(self._salt), self._rounds)
        self._auth_message = found["bare"] + b"," + answer
        return answer

    def finish(self, message: bytes) -> bytes:
        """Return the answer to the client's final message, if its proof is right."""
        found = _FINAL.fullmatch(message)
        if found is None or found["nonce"] != self._nonce or base64.b64decode(found["binding"]) != b"n,,":
            raise ScramError(f"not a final message with the nonce {self._nonce!r}: {message!r}")
        signed = self._auth_message + b"," + found["signed"]
        mask = hmac.new(self._stored_key, signed, self._hash).digest()
        proof = base64.b64decode(found["proof"])
        key = (int.from_bytes(proof) ^ int.from_bytes(mask)).to_bytes(len(mask))
        if hashlib.new(self._hash, key).digest() != self._stored_key:
            raise ScramError("the proof is wrong")
        return b"v=" + base64.b64encode(hmac.new(self._server_key, signed, self._hash).digest())
