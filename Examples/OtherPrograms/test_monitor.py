"""A test of a Bluetooth program with bleak, which needs no adapter. It runs as it is, and starts the world itself:

    BLUECTL=.build/debug/bluectl python3 -m pytest Examples/OtherPrograms/test_monitor.py

"bluectl world run -- python3 -m pytest" runs all tests of a project in one world instead; then no fixture is needed.
"""

import asyncio
import os
import subprocess

import pytest
from bleak import BleakClient, BleakScanner

BATTERY_LEVEL = "00002a19-0000-1000-8000-00805f9b34fb"
MEASUREMENT = "00002a37-0000-1000-8000-00805f9b34fb"


@pytest.fixture
def world(monkeypatch):
    """A world of its own for each test; `bluectl` ends with the test, or when pytest no longer reads its output."""
    command = [os.environ.get("BLUECTL", "bluectl"), "world", "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip().partition("=")[2].strip("'")
        assert process.stdout.readline().startswith("# ready")
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
        yield
        process.terminate()


async def monitor():
    return await BleakScanner.find_device_by_name("Heart Rate Monitor", bluez={"adapter": "hci0"})


def test_the_battery_is_read(world):
    async def battery_level():
        async with BleakClient(await monitor()) as client:
            return (await client.read_gatt_char(BATTERY_LEVEL))[0]

    assert asyncio.run(battery_level()) == 87


def test_the_heart_beats(world):
    async def first_measurement():
        values = asyncio.Queue()
        async with BleakClient(await monitor()) as client:
            await client.start_notify(MEASUREMENT, lambda _, value: values.put_nowait(value))
            return await asyncio.wait_for(values.get(), 10)

    assert asyncio.run(first_measurement())[0] == 0x16
