"""bluectl with its BlueZ backend: this project's own client, in processes of its own."""

import asyncio

import pytest
from bleak import BleakClient, BleakScanner

from world import *

pytestmark = pytest.mark.usefixtures("world")


@pytest.fixture
def bluectl(monkeypatch):
    """Runs a command to its end, or with `wait=False` returns the running program."""
    for name in ["COREBLUETOOTH_BACKEND", "COREBLUETOOTH_ADAPTER", "COREBLUETOOTH_WORLD"]:
        monkeypatch.delenv(name, raising=False)
    started = []

    def start(*arguments, wait=True, status=0):
        command = (BLUECTL, "--backend", "bluez", *arguments)
        if wait:
            return run(*command, status=status)
        started.append(Program(*command))
        return started[-1]

    yield start
    for program in started:
        program.close()


def test_adapters(bluectl):
    assert [line.split("\t") for line in bluectl("adapters").splitlines()] == [
        ["hci0", HCI0, "on", "central, peripheral", "default"],
        ["hci1", HCI1, "on", "central, peripheral", "second"],
    ]


def test_scan(bluectl):
    lines = [line.split("\t") for line in bluectl("scan", "--duration", "2").splitlines()]
    assert {line[1]: line[3:] for line in lines} == {
        HEART_RATE: ["Heart Rate", "Heart Rate 180D", "tx 4 dBm"],
        ATTRIBUTES: ["Attributes", "FFF0"],
        PASSKEY_LOCK: ["Passkey Lock", "FFA0"],
        COMPARISON_LOCK: ["Comparison Lock", "FFA0"],
        PLAIN_LOCK: ["Plain Lock", "FFA0"],
        BEACON: [
            "Beacon", "-",
            "data of Environmental Sensing 181A 0A0B, company 0x05F1 The Linux Foundation data 010203"],
    }


def test_explore(bluectl):
    lines = bluectl("explore", "Heart Rate").splitlines()
    assert lines[0].startswith(f"Heart Rate  {HEART_RATE}  ") and lines[0].endswith("  MTU 185")
    assert lines[1:] == [
        "├─ Heart Rate 180D",
        "│  ├─ Heart Rate Measurement 2A37 @0x000A  notify",
        "│  │  └─ Client Characteristic Configuration 2902 @0x000B = 0000 (off)",
        "│  ├─ Body Sensor Location 2A38 @0x000D  read = 01 (chest)",
        "│  └─ Heart Rate Control Point 2A39 @0x000F  write",
        "├─ Device Information 180A",
        "│  └─ Manufacturer Name String 2A29 @0x0012  read = 41636D65 (\"Acme\")",
        "└─ Battery 180F",
        "   └─ Battery Level 2A19 @0x0015  read, notify = 57 (87 %)",
        "      └─ Client Characteristic Configuration 2902 @0x0016 = 0100 (notifications)",
    ]


def test_values(bluectl):
    assert bluectl("read", "Attributes", "FFF1") == "FFF1: 010203\n"
    bluectl("write", "Attributes", "FFF1", "0405")
    assert bluectl("read", "Attributes", "FFF1") == "FFF1: 0405\n"
    lines = bluectl("subscribe", "Heart Rate", "2A37", "--count", "3").splitlines()
    assert [re.search(r"06(48|49|4A)", line)[0] for line in lines] == ["0648", "0649", "064A"]
    assert bluectl("read", "Attributes", "FFF2", status=1) == (
        "bluectl: ATT error 0x02: Reading is not permitted. (org.bluez.Error.NotPermitted: Read not permitted)\n")


def test_pair_and_unpair(bluectl, bluetoothctl):
    pairing = bluectl("pair", "Passkey Lock", wait=False)
    pairing.expect("(?i)passkey")
    pairing.send("123456")
    assert pairing.wait() == 0
    assert bluectl("read", "Passkey Lock", "FFA1").startswith("FFA1: 6F70656E")
    ctl = bluetoothctl()
    assert ("Bonded", "yes") in ctl.info(PASSKEY_LOCK)
    bluectl("unpair", "Passkey Lock")
    ctl.expect(rf"\[DEL\] Device {PASSKEY_LOCK}")


def test_what_bluectl_serves_bleak_uses(bluectl):
    server = bluectl("--adapter", "hci1", "serve", str(HERE / "worlds/served.json"), wait=False)

    async def body():
        device = await BleakScanner.find_device_by_name("Served", bluez={"adapter": "hci0"})
        assert device.address == HCI1
        async with BleakClient(device) as client:
            assert await client.read_gatt_char("ffc1") == bytes([1, 2])
            await client.write_gatt_char("ffc1", bytes([3]), response=True)
            assert await client.read_gatt_char("ffc1") == bytes([3])
            values = asyncio.Queue()
            await client.start_notify("ffc2", lambda _, value: values.put_nowait(bytes(value)))
            received = [await asyncio.wait_for(values.get(), 5) for _ in range(4)]
            assert received in ([b"\1", b"\2"] * 2, [b"\2", b"\1"] * 2)

    server.expect("(?i)serv")
    asyncio.run(asyncio.wait_for(body(), 60))
    server.expect("(?i)write.*03")


def test_two_programs_of_two_languages_on_one_air(bluectl):
    monitor = bluectl("--adapter", "hci1", "monitor", wait=False)
    monitor.expect(HEART_RATE)

    async def body():
        device = await BleakScanner.find_device_by_address(HEART_RATE, bluez={"adapter": "hci0"})
        async with BleakClient(device) as client:
            assert await client.read_gatt_char("2a38") == bytes([1])

    asyncio.run(asyncio.wait_for(body(), 60))
