"""bleak: centrals in Python."""

import asyncio
import sys

import pytest
from bleak import BleakClient, BleakScanner
from bleak.exc import BleakDBusError, BleakDeviceNotFoundError, BleakGATTProtocolError

from world import *

pytestmark = pytest.mark.usefixtures("world")


async def find(address, adapter="hci0"):
    # Without a name, bleak takes any adapter.
    device = await BleakScanner.find_device_by_address(address, timeout=10, bluez={"adapter": adapter})
    assert device is not None, f"{address} was not heard"
    return device


def run_async(body):
    return asyncio.run(asyncio.wait_for(body(), 60))


def test_scan():
    async def body():
        heard = {}
        complete = asyncio.Event()

        def detected(device, advertisement):
            heard[device.address] = (device, advertisement)
            if len(heard) == 6:
                complete.set()

        async with BleakScanner(detected):
            await asyncio.wait_for(complete.wait(), 10)
        assert sorted(heard) == [HEART_RATE, ATTRIBUTES, PASSKEY_LOCK, COMPARISON_LOCK, PLAIN_LOCK, BEACON]
        device, advertisement = heard[HEART_RATE]
        assert device.name == advertisement.local_name == "Heart Rate"
        assert advertisement.service_uuids == [uuid("180D")]
        assert advertisement.tx_power == 4
        assert -65 < advertisement.rssi < -35
        _, beacon = heard[BEACON]
        assert beacon.manufacturer_data == {0x05F1: bytes([1, 2, 3])}
        assert beacon.service_data == {uuid("181A"): bytes([10, 11])}

    run_async(body)


def test_scan_for_services_hears_nothing_else():
    async def body():
        devices = await BleakScanner.discover(timeout=1, service_uuids=[uuid("180D")])
        assert [device.address for device in devices] == [HEART_RATE]

    run_async(body)


def test_scan_on_the_second_adapter():
    async def body():
        device = await find(HEART_RATE, "hci1")
        assert device.details["path"] == "/org/bluez/hci1/dev_C0_00_00_00_00_01"

    run_async(body)


def test_connect_resolves_all_services():
    async def body():
        async with BleakClient(await find(ATTRIBUTES)) as client:
            assert client.is_connected
            assert client.name == "Attributes"
            tree = [
                (f"{c.handle:04x}", c.uuid[4:8], c.properties, sorted((f"{d.handle:04x}", d.uuid[4:8]) for d in c.descriptors))
                for service in client.services
                for c in sorted(service.characteristics, key=lambda c: c.handle)
            ]
            assert tree == [
                ("0009", "fff1", ["read", "write-without-response", "write"],
                 [("000b", "2901"), ("000c", "2904"), ("000d", "ffd1")]),
                ("000e", "fff2", ["read", "write"], []),
                ("0010", "fff3", ["read", "write"], []),
                ("0012", "fff4", ["read"], []),
                ("0014", "fff5", ["write-without-response", "notify"], [("0016", "2902")]),
                ("0017", "fff6", ["indicate"], [("0019", "2902")]),
            ]
            assert [service.uuid for service in client.services] == [uuid("FFF0")]
        assert not client.is_connected

    run_async(body)


def test_mtu():
    async def body():
        async with BleakClient(await find(ATTRIBUTES)) as client:
            await client._backend._acquire_mtu()
            assert client.mtu_size == 100
            characteristic = client.services.get_characteristic("fff1")
            assert characteristic.max_write_without_response_size == 97

    run_async(body)


def test_values_are_read_and_written():
    async def body():
        async with BleakClient(await find(ATTRIBUTES)) as client:
            assert await client.read_gatt_char("fff1") == bytes([1, 2, 3])
            await client.write_gatt_char("fff1", bytes([4, 5]), response=True)
            assert await client.read_gatt_char("fff1") == bytes([4, 5])
            await client.write_gatt_char("fff1", bytes([6]), response=False)
            assert await client.read_gatt_char("fff1") == bytes([6])

    run_async(body)


def test_descriptors():
    async def body():
        async with BleakClient(await find(ATTRIBUTES)) as client:
            assert await client.read_gatt_descriptor(0x0B) == b"Color"
            assert await client.read_gatt_descriptor(0x0C) == bytes([4, 0, 0, 0, 0, 1, 0, 0])
            await client.write_gatt_descriptor(0x0D, bytes([9]))
            assert await client.read_gatt_descriptor(0x0D) == bytes([9])

    run_async(body)


async def start_notify(client, characteristic, handler, **options):
    """Subscribes; bluetoothd refuses a socket until it has noticed that the one before was closed."""
    async with asyncio.timeout(5):
        while True:
            try:
                return await client.start_notify(characteristic, handler, **options)
            except BleakDBusError as error:
                if error.dbus_error_details != "Notify acquired":
                    raise
                await asyncio.sleep(0.05)


async def notifications(client, characteristic, count, **options):
    values = asyncio.Queue()
    await start_notify(client, characteristic, lambda _, value: values.put_nowait(bytes(value)), **options)
    received = [await asyncio.wait_for(values.get(), 5) for _ in range(count)]
    await client.stop_notify(characteristic)
    return received


@pytest.mark.parametrize("uses_start_notify", [True, False], ids=["StartNotify", "AcquireNotify"])
def test_notify(uses_start_notify):
    async def body():
        async with BleakClient(await find(HEART_RATE)) as client:
            options = {"bluez": {"use_start_notify": uses_start_notify}}
            values = await notifications(client, "2a37", 4, **options)
            assert values == [bytes([6, rate]) for rate in [72, 73, 74, 72]]
            # Once more on the same link.
            assert len(await notifications(client, "2a37", 2, **options)) == 2

    run_async(body)


def test_indications():
    async def body():
        async with BleakClient(await find(ATTRIBUTES)) as client:
            assert await notifications(client, "fff6", 2) == [b"\xa1", b"\xa1"]

    run_async(body)


def test_each_command_is_echoed_in_order():
    async def body():
        async with BleakClient(await find(ATTRIBUTES)) as client:
            values = asyncio.Queue()
            await client.start_notify("fff5", lambda _, value: values.put_nowait(bytes(value)))
            for number in range(50):
                await client.write_gatt_char("fff5", bytes([number]), response=False)
            echoes = [await asyncio.wait_for(values.get(), 5) for _ in range(50)]
            assert echoes == [bytes([number]) for number in range(50)]

    run_async(body)


@pytest.mark.parametrize(
    "access, code",
    [
        (lambda client: client.read_gatt_char("fff2"), 0x02),
        (lambda client: client.write_gatt_char("fff3", b"0", response=True), 0x03),
        (lambda client: client.write_gatt_char("fff1", b"12345", response=True), 0x0D),
        (lambda client: client.read_gatt_char("fff4"), 0x80),
    ],
    ids=["read not permitted", "write not permitted", "invalid length", "application error"])
def test_what_a_device_refuses(access, code):
    async def body():
        async with BleakClient(await find(ATTRIBUTES)) as client:
            with pytest.raises(BleakGATTProtocolError) as raised:
                await access(client)
            assert raised.value.code == code
            assert client.is_connected

    run_async(body)


def test_an_unknown_device_is_not_found():
    async def body():
        with pytest.raises(BleakDeviceNotFoundError):
            await BleakClient("C0:00:00:00:00:99", timeout=2).connect()

    run_async(body)


def test_disconnection_is_reported():
    async def body():
        ended = asyncio.Event()
        client = BleakClient(await find(HEART_RATE), disconnected_callback=lambda _: ended.set())
        await client.connect()
        await client.disconnect()
        await asyncio.wait_for(ended.wait(), 5)
        # The same device again, with the services that BlueZ remembers.
        await client.connect()
        assert await client.read_gatt_char("2a38") == bytes([1])
        await client.disconnect()

    run_async(body)


def test_pair_and_unpair(bluetoothctl):
    # bleak has no agent of its own, and BlueZ pairs with no device without one.
    bluetoothctl()

    async def body():
        async with BleakClient(await find(PLAIN_LOCK)) as client:
            await client.pair()
            assert await client.read_gatt_char("ffa1") == b"yes"
            await client.unpair()
        assert await BleakScanner.find_device_by_address(PLAIN_LOCK, timeout=10)

    run_async(body)


def test_a_device_without_a_passkey_needs_an_agent():
    async def body():
        async with BleakClient(await find(PLAIN_LOCK)) as client:
            with pytest.raises(BleakDBusError) as raised:
                await client.pair()
            assert raised.value.dbus_error == "org.bluez.Error.AuthenticationFailed"

    run_async(body)


def test_a_protected_value_pairs_by_itself(bluetoothctl):
    agent = bluetoothctl()

    async def body():
        async with BleakClient(await find(PLAIN_LOCK)) as client:
            reading = asyncio.create_task(client.read_gatt_char("ffa1"))
            await asyncio.to_thread(agent.expect, r"\[agent\] Accept pairing \(yes/no\):")
            agent.send("yes")
            assert await reading == b"yes"

    run_async(body)


def test_a_passkey_needs_an_agent():
    async def body():
        async with BleakClient(await find(PASSKEY_LOCK)) as client:
            with pytest.raises(BleakDBusError) as raised:
                await client.pair()
            assert raised.value.dbus_error == "org.bluez.Error.AuthenticationFailed"

    run_async(body)


def test_two_processes_share_one_link():
    async def body():
        device = await find(HEART_RATE)
        other = Program(sys.executable, str(HERE / "programs/bleak_read.py"), HEART_RATE, "2a38", "2a29")
        try:
            await asyncio.to_thread(other.expect, "found")
            ended = asyncio.Event()
            async with BleakClient(device, disconnected_callback=lambda _: ended.set()) as client:
                other.send("go on")
                await asyncio.to_thread(other.expect, f"01\n{b'Acme'.hex()}\n")
                assert await client.read_gatt_char("2a38") == bytes([1])
                # The first one to leave ends the link of both, as with any BlueZ.
                await asyncio.wait_for(ended.wait(), 10)
                assert not client.is_connected
            assert await asyncio.to_thread(other.wait) == 0
        finally:
            other.close()

    run_async(body)


def test_passive_scan():
    async def body():
        heard = asyncio.Queue()
        # Assigned Numbers: 0x09 is the complete local name.
        scanner = BleakScanner(
            lambda device, advertisement: heard.put_nowait((device.address, advertisement.local_name)),
            scanning_mode="passive", bluez={"or_patterns": [(0, 0x09, b"Heart")]})
        async with scanner:
            first = [await asyncio.wait_for(heard.get(), 10) for _ in range(3)]
        assert set(first) == {(HEART_RATE, "Heart Rate")}

    run_async(body)
