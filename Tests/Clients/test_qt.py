"""Qt Bluetooth in both roles: Qt 5 of Debian's PyQt5, Qt 6 of PySide6."""

import asyncio
import subprocess
import sys

import pytest
from bleak import BleakClient, BleakScanner

from world import *

CENTRAL = str(HERE / "programs/qt_central.py")


def read_manufacturer(interpreter):
    return run(interpreter, CENTRAL, HEART_RATE, uuid("180A"), uuid("2A29"))


def test_qt5_reads_a_characteristic(world):
    if subprocess.run([SYSTEM_PYTHON, "-c", "import PyQt5.QtBluetooth"], capture_output=True).returncode != 0:
        pytest.skip("Debian's package python3-pyqt5.qtbluetooth is missing")
    assert "read Acme\n" in read_manufacturer(SYSTEM_PYTHON)


def test_qt6_reads_a_characteristic(world):
    assert "read Acme\n" in read_manufacturer(sys.executable)


def test_qt6_serves_and_bleak_reads_from_the_other_adapter(world):
    server = Program(sys.executable, str(HERE / "programs/qt_peripheral.py"))

    async def body():
        device = await BleakScanner.find_device_by_name("Qt Peripheral", bluez={"adapter": "hci1"})
        assert device.address == HCI0
        async with BleakClient(device) as client:
            assert await client.read_gatt_char("fff1") == b"from Qt"

    try:
        server.expect("^serving$")
        asyncio.run(asyncio.wait_for(body(), 60))
        assert "error" not in server.text
    finally:
        server.close()
