"""Bumble as the firmware of a peripheral: its centrals are an app on the emulated BlueZ, and another host."""

import asyncio
import contextlib
import os

import hosts
from bleak import BleakClient, BleakScanner
from bleak.exc import BleakGATTProtocolError
from hosts import AdvertisingData, ATT_Error, Characteristic, CharacteristicValue, Service, characteristic, host


class Firmware:
    """Advertises FFF0, and serves it."""

    def __init__(self):
        self.written = asyncio.Queue()
        self.connections = asyncio.Queue()
        properties, permissions = Characteristic.Properties, Characteristic.Permissions
        self.values = Characteristic("FFF3", properties.NOTIFY, permissions.READABLE, b"")

        def refuse(_):
            raise ATT_Error(0x80)

        self.service = Service("FFF0", [
            Characteristic("FFF1", properties.READ, permissions.READABLE, b"firmware 1.2.3"),
            Characteristic(
                "FFF2", properties.WRITE | properties.WRITE_WITHOUT_RESPONSE, permissions.WRITEABLE,
                CharacteristicValue(write=lambda _, value: self.written.put_nowait(bytes(value)))),
            self.values,
            Characteristic("FFF4", properties.READ, permissions.READABLE, CharacteristicValue(read=refuse)),
            Characteristic("FFF5", properties.READ, permissions.READABLE, bytes(range(256)) + bytes(range(200))),
        ])

    def prepare(self, device):
        device.add_service(self.service)
        device.on("connection", self.connections.put_nowait)

    async def advertise(self, device):
        self.device = device
        device.advertising_data = bytes(AdvertisingData([
            (AdvertisingData.COMPLETE_LOCAL_NAME, b"Firmware"),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes.fromhex("f0ff"))]))
        await device.start_advertising(auto_restart=True)

    async def connection(self):
        return await asyncio.wait_for(self.connections.get(), 10)


@contextlib.asynccontextmanager
async def firmware(world):
    served = Firmware()
    async with host(world, "firmware", "F0:F1:F2:F3:F4:F6", prepare=served.prepare) as device:
        await served.advertise(device)
        yield served


@contextlib.contextmanager
def bus(world):
    os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = world.bus
    try:
        yield
    finally:
        del os.environ["DBUS_SYSTEM_BUS_ADDRESS"]


def uuid(short):
    return f"0000{short.lower()}-0000-1000-8000-00805f9b34fb"


async def app(world):
    """An app's client of the firmware."""
    device = await BleakScanner.find_device_by_name("Firmware", timeout=10, bluez={"adapter": "hci0"})
    assert device is not None and device.address == "F0:F1:F2:F3:F4:F6"
    return device


@hosts.test
async def test_an_app_reads_and_writes_the_firmware(world):
    with bus(world):
        async with firmware(world) as served, BleakClient(await app(world)) as client:
            assert uuid("FFF0") in [service.uuid for service in client.services]
            assert await client.read_gatt_char(uuid("FFF1")) == b"firmware 1.2.3"
            await client.write_gatt_char(uuid("FFF2"), b"\1\2", response=True)
            assert await asyncio.wait_for(served.written.get(), 10) == b"\1\2"
            await client.write_gatt_char(uuid("FFF2"), b"\3", response=False)
            assert await asyncio.wait_for(served.written.get(), 10) == b"\3"


@hosts.test
async def test_a_long_value_is_read_whole(world):
    with bus(world):
        async with firmware(world), BleakClient(await app(world)) as client:
            assert await client.read_gatt_char(uuid("FFF5")) == bytes(range(256)) + bytes(range(200))


@hosts.test
async def test_the_code_of_the_firmware_reaches_the_app(world):
    with bus(world):
        async with firmware(world), BleakClient(await app(world)) as client:
            try:
                await client.read_gatt_char(uuid("FFF4"))
                raise AssertionError("the read succeeded")
            except BleakGATTProtocolError as error:
                assert error.code == 0x80


@hosts.test
async def test_five_hundred_reads_of_the_firmware_are_answered(world):
    with bus(world):
        async with firmware(world), BleakClient(await app(world)) as client:
            for _ in range(500):
                assert await client.read_gatt_char(uuid("FFF1")) == b"firmware 1.2.3"


@hosts.test
async def test_a_thousand_notifications_of_the_firmware_arrive_in_their_order(world):
    with bus(world):
        async with firmware(world) as served, BleakClient(await app(world)) as client:
            received = asyncio.Queue()
            await client.start_notify(uuid("FFF3"), lambda _, value: received.put_nowait(bytes(value)))
            sent = [number.to_bytes(2, "little") for number in range(1000)]
            for value in sent:
                await served.device.notify_subscribers(served.values, value)
            assert [await asyncio.wait_for(received.get(), 10) for _ in sent] == sent


@hosts.test
async def test_the_app_ends_the_link(world):
    with bus(world):
        async with firmware(world) as served:
            async with BleakClient(await app(world)):
                reason = hosts.ending(await served.connection())
            assert await asyncio.wait_for(reason, 10) == 0x13


@hosts.test
async def test_the_firmware_ends_the_link(world):
    with bus(world):
        async with firmware(world) as served:
            ended = asyncio.Event()
            async with BleakClient(await app(world), disconnected_callback=lambda _: ended.set()):
                await (await served.connection()).disconnect()
                await asyncio.wait_for(ended.wait(), 10)


@hosts.test
async def test_the_app_connects_again(world):
    with bus(world):
        async with firmware(world):
            for _ in range(3):
                async with BleakClient(await app(world)) as client:
                    assert await client.read_gatt_char(uuid("FFF1")) == b"firmware 1.2.3"


@hosts.test
async def test_another_host_uses_the_firmware(world):
    async with firmware(world) as served, host(world, "phone") as phone:
        _, peer = await hosts.connect(phone, "Firmware")
        assert bytes(await characteristic(peer, 0xFFF1).read_value()) == b"firmware 1.2.3"
        await characteristic(peer, 0xFFF2).write_value(b"\1", with_response=True)
        assert await asyncio.wait_for(served.written.get(), 10) == b"\1"
