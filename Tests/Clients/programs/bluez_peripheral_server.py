"""bluez_peripheral_server.py ADAPTER: serves and advertises with bluez-peripheral until its input ends.

The adapter is the position of hciN. Prints what is written; each line of the input is a value to notify.
"""

import asyncio
import sys

from bluez_peripheral.advert import Advertisement
from bluez_peripheral.agent import NoIoAgent
from bluez_peripheral.gatt.characteristic import CharacteristicFlags, characteristic
from bluez_peripheral.gatt.descriptor import DescriptorFlags, descriptor
from bluez_peripheral.gatt.service import Service
from bluez_peripheral.util import Adapter, get_message_bus


class Notebook(Service):
    def __init__(self):
        super().__init__("BEEF", True)
        self.text = b"blank"

    @characteristic("BEF0", CharacteristicFlags.READ)
    def page(self, options):
        return self.text

    @page.descriptor("BEF2", DescriptorFlags.READ)
    def label(self, options):
        return b"Page"

    @characteristic("BEF1", CharacteristicFlags.WRITE | CharacteristicFlags.NOTIFY)
    def pen(self, options):
        return b""

    @pen.setter
    def pen(self, value, options):
        self.text = value
        print("written", value.decode(), "by", options.device, flush=True)


async def main(number):
    bus = await get_message_bus()
    adapters = {await adapter.get_name(): adapter for adapter in await Adapter.get_all(bus)}
    adapter = adapters[number]
    notebook = Notebook()
    await notebook.register(bus, adapter=adapter)
    await NoIoAgent().register(bus)
    await Advertisement("Notebook", ["BEEF"], 0, 0).register(bus, adapter)
    print("serving", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        notebook.pen.changed(line.strip().encode())


asyncio.run(main(sys.argv[1]))
