# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""A client of the MySQL protocol for tests, which also does what no client should."""
from __future__ import annotations

import hashlib
import socket
import struct

CAPABILITIES = 0x0008_A205  # long password and flag, protocol 4.1, transactions, secure, plugins
CONNECT_WITH_DB = 0x8
MULTI_STATEMENTS = 0x10000
DEPRECATE_EOF = 0x100_0000
CHUNK = 0xFFFFFF


class Refused(Exception):
    """An error packet: number, SQLSTATE (or "") and text."""

    def __init__(self, packet: bytes):
        self.number = struct.unpack_from("<H", packet, 1)[0]
        rest = packet[3:]
        self.state = rest[1:6].decode() if rest[:1] == b"#" else ""
        self.text = (rest[6:] if self.state else rest).decode(errors="replace")
        super().__init__(f"{self.number} ({self.state}): {self.text}")


class Closed(Exception):
    pass


def lenenc(data: bytes, at: int) -> tuple[int | None, int]:
    first = data[at]
    if first < 0xFB:
        return first, at + 1
    if first == 0xFB:
        return None, at + 1
    n = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(data[at + 1:at + 1 + n], "little"), at + 1 + n


def scrambled_native(password: bytes, scramble: bytes) -> bytes:
    once = hashlib.sha1(password).digest()
    mask = hashlib.sha1(scramble + hashlib.sha1(once).digest()).digest()
    return bytes(a ^ b for a, b in zip(once, mask))


def scrambled_sha2(password: bytes, scramble: bytes) -> bytes:
    once = hashlib.sha256(password).digest()
    mask = hashlib.sha256(hashlib.sha256(once).digest() + scramble).digest()
    return bytes(a ^ b for a, b in zip(once, mask))


class Client:
    """Connected and greeted; log in with login(). address: a path, or (host, port)."""

    def __init__(self, address: str | tuple[str, int], timeout: float = 20):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(address)
        self.sequence = 0
        self.any_number = False  # of the packets that come
        self.greeting = self.read()
        if self.greeting[0] == 0xFF:
            raise Refused(self.greeting)
        end = self.greeting.index(b"\0", 1)
        self.version = self.greeting[1:end].decode()
        self.id = struct.unpack_from("<I", self.greeting, end + 1)[0]
        self.charset = self.greeting[end + 16]
        self.capabilities = struct.unpack_from("<H", self.greeting, end + 14)[0] | \
            struct.unpack_from("<H", self.greeting, end + 19)[0] << 16
        self.scramble = self.greeting[end + 5:end + 13] + self.greeting[end + 32:end + 44]
        self.plugin = self.greeting[end + 45:-1].decode()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    # packets

    def raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def write(self, payload: bytes, sequence: int | None = None) -> None:
        number = self.sequence if sequence is None else sequence
        while True:
            part, payload = payload[:CHUNK], payload[CHUNK:]
            self.raw(len(part).to_bytes(3, "little") + bytes([number & 255]) + part)
            number += 1
            if len(part) < CHUNK:
                break
        self.sequence = number

    def _exactly(self, n: int) -> bytes:
        got = b""
        while len(got) < n:
            try:
                part = self.socket.recv(n - len(got))
            except ConnectionResetError as e:
                raise Closed from e
            if not part:
                raise Closed
            got += part
        return got

    def read(self) -> bytes:
        payload = b""
        while True:
            header = self._exactly(4)
            assert self.any_number or header[3] == self.sequence & 255, "a wrong sequence number"
            self.sequence += 1
            n = int.from_bytes(header[:3], "little")
            payload += self._exactly(n)
            if n < CHUNK:
                return payload

    def closed(self) -> bool:
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def expect_ok(self) -> bytes:
        packet = self.read()
        if packet[0] == 0xFF:
            raise Refused(packet)
        assert packet[0] in (0, 0xFE), packet
        return packet

    # login

    def login(self, user: str, password: str, database: str = "", more: int = 0,
              plugin: str = "mysql_native_password", proof: bytes | None = None) -> bytes:
        """The packet that ends the login, or asks for more."""
        if proof is None:
            make = scrambled_native if "native" in plugin else scrambled_sha2
            proof = make(password.encode(), self.scramble) if password else b""
        flags = CAPABILITIES | more | (CONNECT_WITH_DB if database else 0)
        packet = struct.pack("<IIB23x", flags, 1 << 30, 45) + user.encode() + b"\0" + \
            bytes([len(proof)]) + proof
        if database:
            packet += database.encode() + b"\0"
        self.deprecate_eof = bool(more & DEPRECATE_EOF)
        self.write(packet + plugin.encode() + b"\0")
        packet = self.read()
        if packet == b"\x01\x03":
            packet = self.read()
        if packet[0] == 0xFF:
            raise Refused(packet)
        return packet

    # commands

    def command(self, number: int, payload: bytes = b"") -> bytes:
        self.sequence = 0
        self.write(bytes([number]) + payload)
        packet = self.read()
        if packet[:1] == b"\xff":
            raise Refused(packet)
        return packet

    def send(self, number: int, payload: bytes = b"") -> None:
        """A command that has no answer, or one that is read later."""
        self.sequence = 0
        self.write(bytes([number]) + payload)

    def rows(self, first: bytes) -> list[list[bytes | None]]:
        """The rows of a text result that begins with that packet; [] when it is an OK."""
        if first[0] == 0xFF:
            raise Refused(first)
        if first[0] == 0:
            return []
        columns, _ = lenenc(first, 0)
        for _ in range((columns or 0) + (not self.deprecate_eof)):
            self.read()
        found = []
        while True:
            packet = self.read()
            if packet[0] == 0xFF:
                raise Refused(packet)
            if packet[0] == 0xFE and len(packet) < 9:
                return found
            row, at = [], 0
            for _ in range(columns or 0):
                n, at = lenenc(packet, at)
                row.append(None if n is None else packet[at:at + n])
                at += n or 0
            found.append(row)

    def query(self, text: str | bytes) -> list[list[bytes | None]]:
        return self.rows(self.command(3, text.encode() if isinstance(text, str) else text))
