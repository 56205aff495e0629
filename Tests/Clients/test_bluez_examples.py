"""BlueZ's own examples for dbus-python, as Debian's package bluez-test-scripts has them."""

import asyncio

import pytest
from bleak import BleakClient, BleakScanner
from bleak.exc import BleakGATTProtocolError

from world import *

pytestmark = pytest.mark.usefixtures("world")


@pytest.fixture
def example():
    started = []

    def start(name, *arguments):
        program = Program(SYSTEM_PYTHON, "-u", "-W", "ignore", str(BLUEZ_EXAMPLES / name), *arguments)
        started.append(program)
        return program

    yield start
    for program in started:
        program.close()


def test_list_devices(bluetoothctl, example):
    bluetoothctl().connect(HEART_RATE)
    listing = example("list-devices")
    assert listing.wait() == 0
    lines = [line.strip() for line in listing.text.splitlines()]
    start = lines.index("[ /org/bluez/hci0/dev_C0_00_00_00_00_01 ]")
    assert lines[start + 1:start + 14] == [
        "Adapter = /org/bluez/hci0", f"Address = {HEART_RATE}", "AddressType = random", "Alias = Heart Rate",
        "Blocked = 0", "Bonded = 0", "Connected = 1", "LegacyPairing = 0", "Name = Heart Rate", "Paired = 0",
        "ServicesResolved = 1", "Trusted = 0", "UUIDs = 0x1800 0x1801 0x180a 0x180d 0x180f",
    ]
    assert "[ /org/bluez/hci1 ]" in lines


def test_example_gatt_client(bluetoothctl, example):
    ctl = bluetoothctl()
    ctl.connect(HEART_RATE)
    client = example("example-gatt-client")
    client.expect("Heart Rate Service found: /org/bluez/hci0/dev_C0_00_00_00_00_01/service0008")
    client.expect("Body sensor location value: Chest")
    client.expect("HR Measurement notifications enabled")
    for rate in [72, 73, 74, 72]:
        client.expect(rf"New HR Measurement\n\tHR: {rate}\n\tSensor Contact status: contact detected")


def test_example_gatt_server_and_advertisement(example):
    server, advertisement = example("example-gatt-server"), example("example-advertisement")
    server.expect("GATT application registered")
    advertisement.expect("Advertisement registered")

    async def body():
        device, heard = None, asyncio.Queue()
        async with BleakScanner(lambda device, data: heard.put_nowait((device, data)), bluez={"adapter": "hci1"}):
            while device is None or device.address != HCI0:
                device, advertised = await asyncio.wait_for(heard.get(), 10)
        assert advertised.local_name == "TestAdvertisement"
        assert sorted(advertised.service_uuids) == [uuid("180D"), uuid("180F")]
        assert advertised.manufacturer_data == {0xFFFF: bytes([0, 1, 2, 3])}
        assert advertised.service_data == {uuid("9999"): bytes([0, 1, 2, 3, 4])}
        async with BleakClient(device) as client:
            assert await client.read_gatt_char("2a38") == bytes([1])
            test = "12345678-1234-5678-1234-56789abcdef1"
            await client.write_gatt_char(test, b"hello", response=True)
            assert await client.read_gatt_char(test) == b"hello"
            descriptors = {d.uuid: d.handle for d in client.services.get_characteristic(test).descriptors}
            description = await client.read_gatt_descriptor(descriptors[uuid("2901")])
            assert description == b"This is a characteristic for testing"
            # The example throws an exception here, which is an unlikely error for the other side.
            with pytest.raises(BleakGATTProtocolError) as raised:
                await client.read_gatt_descriptor(descriptors[test[:-1] + "2"])
            assert raised.value.code == 0x0E
            values = asyncio.Queue()
            await client.start_notify("2a37", lambda _, value: values.put_nowait(bytes(value)))
            first = await asyncio.wait_for(values.get(), 5)
            # Flags 0x0E: a rate of 8 bits, and contact; this server sends rates of 90 to 130.
            assert 90 <= first[1] <= 130

    asyncio.run(asyncio.wait_for(body(), 60))
    server.expect("TestCharacteristic Write: ")


def test_simple_agent_answers_a_pairing(bluetoothctl, example):
    ctl = bluetoothctl()
    ctl.find(PASSKEY_LOCK)
    # As its caller, the agent also pairs.
    agent = example("simple-agent", "-c", "KeyboardDisplay", PASSKEY_LOCK)
    agent.expect("Agent registered")
    agent.expect("Enter passkey: ")
    agent.send("123456")
    agent.expect("Device paired")
    # bluetoothctl may read its input before the signal.
    until(lambda: ("Paired", "yes") in ctl.info(PASSKEY_LOCK))


def test_test_adapter(example):
    for command, expected in [("address", HCI0), ("name", "default"), ("powered", "1"), ("discovering", "0")]:
        adapter = example("test-adapter", "--device", "hci0", command)
        assert adapter.wait() == 0
        assert adapter.text.strip() == expected
