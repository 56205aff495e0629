#!/usr/bin/env python3
"""bleak_gateway.py PORT [QUEUE]: publishes the values of fifty devices with bleak and paho-mqtt, for Scripts/compare.

It subscribes, decodes and publishes with QoS 1 as mqtt-gateway does. With a file QUEUE it also stores each value until
the broker has acknowledged it, with the settings of mqtt-gateway's queue: one transaction writes a value, and removes
the acknowledged ones.
"""
import asyncio
import collections
import json
import secrets
import sqlite3
import sys
import zlib
from datetime import datetime, timezone

import paho.mqtt.client as mqtt
from bleak import BleakClient, BleakScanner

DEVICES = 50
CHARACTERISTIC = "0000fff1-0000-1000-8000-00805f9b34fb"
# The time after which acknowledged values are removed if no value follows.
REMOVAL_DELAY = 0.2


class Publisher:
    """A publisher without a queue on disk."""

    def __init__(self, client: mqtt.Client) -> None:
        self.client = client
        self.name = secrets.token_hex(4)
        self.last = 0

    def put(self, topic: str, value: int) -> None:
        self.last += 1
        self.publish(topic, self.body(value))

    def body(self, value: int) -> str:
        time = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        return json.dumps({"id": f"{self.name}-{self.last}", "time": time, "value": value})

    def publish(self, topic: str, body: str) -> int:
        return self.client.publish(topic, body, qos=1, retain=True).mid


class Queue(Publisher):
    """A publisher whose values are in an SQLite file until the broker has acknowledged them."""

    def __init__(self, client: mqtt.Client, path: str) -> None:
        super().__init__(client)
        self.database = sqlite3.connect(path, isolation_level=None)
        self.database.execute("PRAGMA locking_mode = EXCLUSIVE")
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.execute("PRAGMA synchronous = NORMAL")
        self.database.execute(
            "CREATE TABLE IF NOT EXISTS message (row INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, "
            "payload BLOB NOT NULL, retained INTEGER NOT NULL, checksum INTEGER)")
        self.database.execute("CREATE TABLE IF NOT EXISTS queue (name TEXT NOT NULL)")
        if (name := self.database.execute("SELECT name FROM queue").fetchone()) is None:
            self.database.execute("INSERT INTO queue VALUES (?)", (self.name,))
        else:
            self.name = name[0]
        self.last = self.database.execute("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence").fetchone()[0]
        # paho's thread appends packet identifiers, perhaps before `rows` has them.
        self.acknowledged = collections.deque()
        self.rows = {}
        self.removal = None
        client.on_publish = lambda _client, _data, packet, _reason, _properties: self.acknowledged.append(packet)
        for row, topic, body in self.database.execute("SELECT row, topic, payload FROM message ORDER BY row"):
            self.rows[self.publish(topic, body)] = row

    def put(self, topic: str, value: int) -> None:
        self.last += 1
        body = self.body(value)
        self.database.execute("BEGIN IMMEDIATE")
        self.remove()
        checksum = zlib.crc32(f"{self.last} {topic} {body}".encode())
        self.database.execute("INSERT INTO message VALUES (?, ?, ?, 1, ?)", (self.last, topic, body, checksum))
        self.database.execute("COMMIT")
        self.rows[self.publish(topic, body)] = self.last
        if self.removal is not None:
            self.removal.cancel()
        self.removal = asyncio.get_running_loop().call_later(REMOVAL_DELAY, self.remove_alone)

    def remove(self) -> None:
        while self.acknowledged:
            row = self.rows.pop(self.acknowledged.popleft())
            self.database.execute("DELETE FROM message WHERE row = ?", (row,))

    def remove_alone(self) -> None:
        self.database.execute("BEGIN IMMEDIATE")
        self.remove()
        self.database.execute("COMMIT")
        self.removal = None
        if self.rows:
            self.removal = asyncio.get_running_loop().call_later(REMOVAL_DELAY, self.remove_alone)


async def follow(device, publisher: Publisher, number: int) -> None:
    topic = f"bluetooth/compare/sensor-{number}/value"
    connection = BleakClient(device, timeout=60)
    await connection.connect()
    await connection.start_notify(
        CHARACTERISTIC, lambda _, data: publisher.put(topic, int.from_bytes(data[:2], "big")))
    await asyncio.Event().wait()


async def main() -> None:
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", int(sys.argv[1]))
    publisher = Queue(client, sys.argv[2]) if len(sys.argv) > 2 else Publisher(client)
    client.loop_start()
    addresses = {f"C0:DE:5E:00:00:{number:02X}": number for number in range(DEVICES)}
    found = {}
    async with BleakScanner() as scanner:
        async for device, _ in scanner.advertisement_data():
            if device.address in addresses:
                found[device.address] = device
            if len(found) == DEVICES:
                break
    await asyncio.gather(*(follow(device, publisher, addresses[address]) for address, device in found.items()))


asyncio.run(main())
