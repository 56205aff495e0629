#!/usr/bin/env python3
"""bleak_gateway.py PORT: publishes the values of fifty devices with bleak and paho-mqtt, for Scripts/compare.

It subscribes, decodes and publishes with QoS 1 as mqtt-gateway does, and has no queue on disk.
"""
import asyncio
import json
import sys
from datetime import datetime, timezone

import paho.mqtt.client as mqtt
from bleak import BleakClient, BleakScanner

DEVICES = 50
CHARACTERISTIC = "0000fff1-0000-1000-8000-00805f9b34fb"


async def follow(device, client: mqtt.Client, number: int) -> None:
    topic = f"bluetooth/compare/sensor-{number}/value"

    def received(_, data: bytearray) -> None:
        time = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        message = {"id": f"{number}", "time": time, "value": int.from_bytes(data[:2], "big")}
        client.publish(topic, json.dumps(message), qos=1, retain=True)

    connection = BleakClient(device, timeout=60)
    await connection.connect()
    await connection.start_notify(CHARACTERISTIC, received)
    await asyncio.Event().wait()


async def main() -> None:
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", int(sys.argv[1]))
    client.loop_start()
    addresses = {f"C0:DE:5E:00:00:{number:02X}": number for number in range(DEVICES)}
    found = {}
    async with BleakScanner() as scanner:
        async for device, _ in scanner.advertisement_data():
            if device.address in addresses:
                found[device.address] = device
            if len(found) == DEVICES:
                break
    await asyncio.gather(*(follow(device, client, addresses[address]) for address, device in found.items()))


asyncio.run(main())
