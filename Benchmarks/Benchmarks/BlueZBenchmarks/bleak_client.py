"""bleak_client.py WORK COUNT: does the benchmark's work with bleak, and prints nanoseconds of processor time for each."""
import asyncio
import os
import sys
import time

from bleak import BleakClient, BleakScanner
from bleak.backends.device import BLEDevice
from dbus_fast import BusType, Message, MessageFlag
from dbus_fast.aio import MessageBus

PATH = "/org/bluez/hci0/dev_C0_00_00_00_00_01"
VALUE = "00002a37-0000-1000-8000-00805f9b34fb"


class Counter:
    """Has the daemon send so many signals, and waits for as many callbacks."""

    def __init__(self, bus: MessageBus, member: str, count: int, rate: int) -> None:
        self.bus, self.member, self.count, self.rate = bus, member, count, rate
        self.left = count
        self.done = asyncio.Event()

    def __call__(self, *_) -> None:
        self.left -= 1
        if self.left == 0:
            self.done.set()

    async def run(self) -> None:
        await self.bus.send(Message(
            destination="org.bluez", path=PATH + "/service0010/char0011", interface="org.bluez.GattCharacteristic1",
            member=self.member, signature="uu", body=[self.count, self.rate], flags=MessageFlag.NO_REPLY_EXPECTED))
        await self.done.wait()


async def measured(work) -> int:
    start = time.process_time_ns()
    await work
    return time.process_time_ns() - start


async def main(work: str, count: int) -> None:
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    if work == "advertise":
        counter = Counter(bus, "EmitAdvertisements", count, 0)
        async with BleakScanner(lambda device, advertisement: counter()):
            used = await measured(counter.run())
    else:
        client = BleakClient(BLEDevice("C0:00:00:00:00:01", "Sensor", {"path": PATH, "props": {}}))
        await client.connect()
        if work == "read":
            async def reads() -> None:
                for _ in range(count):
                    await client.read_gatt_char(VALUE)
            used = await measured(reads())
        else:
            acquires = work.startswith("acquire")
            rate = int(work.removeprefix("acquire" if acquires else "notify") or 0)
            counter = Counter(bus, "Emit", count, rate)
            await client.start_notify(VALUE, counter, bluez={"use_start_notify": not acquires})
            used = await measured(counter.run())
    print(used // count, flush=True)
    # The scripted device stays connected, and bleak would wait for its end.
    os._exit(0)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
