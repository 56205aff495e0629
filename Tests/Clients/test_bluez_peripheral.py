"""bluez-peripheral (on dbus-next) serves on one adapter, bleak uses it from another process on another adapter."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner

from world import *


def test_served_by_bluez_peripheral_used_by_bleak(world):
    server = Program(sys.executable, "-W", "ignore", str(HERE / "programs/bluez_peripheral_server.py"), "second")

    async def body():
        device = await BleakScanner.find_device_by_name("Notebook", bluez={"adapter": "hci0"})
        assert device.address == HCI1
        async with BleakClient(device) as client:
            assert [service.uuid for service in client.services] == [uuid("BEEF")]
            assert await client.read_gatt_char("bef0") == b"blank"
            [label] = client.services.get_characteristic("bef0").descriptors
            assert label.uuid == uuid("BEF2")
            assert await client.read_gatt_descriptor(label.handle) == b"Page"
            await client.write_gatt_char("bef1", b"one line", response=True)
            server.expect("^written one line by /org/bluez/hci1/dev_00_1A_7D_00_00_01$")
            assert await client.read_gatt_char("bef0") == b"one line"
            values = asyncio.Queue()
            await client.start_notify("bef1", lambda _, value: values.put_nowait(bytes(value)))
            for text in ["a", "b", "c"]:
                server.send(text)
            assert [await asyncio.wait_for(values.get(), 5) for _ in range(3)] == [b"a", b"b", b"c"]

    try:
        server.expect("^serving$")
        asyncio.run(asyncio.wait_for(body(), 60))
        # What the program registered goes with it.
        server.close()
        asyncio.run(is_gone())
    finally:
        server.close()


async def is_gone():
    assert await BleakScanner.find_device_by_name("Notebook", timeout=2, bluez={"adapter": "hci0"}) is None
