"""Certificates for servers on loopback, made by the command openssl."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def certificate(folder: Path) -> tuple[Path, Path]:
    """Write a new certificate for localhost and 127.0.0.1 and its key into `folder`; skip the test without openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("no command openssl here to make a certificate with; apt-get install openssl brings it")
    made, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    return made, key
