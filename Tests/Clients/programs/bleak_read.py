"""bleak_read.py ADDRESS CHARACTERISTIC…: finds a device, waits for a line, connects, and prints values."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner


async def main(address, *characteristics):
    device = await BleakScanner.find_device_by_address(address, bluez={"adapter": "hci0"})
    print("found", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    async with BleakClient(device) as client:
        for characteristic in characteristics:
            print((await client.read_gatt_char(characteristic)).hex(), flush=True)


asyncio.run(main(*sys.argv[1:]))
