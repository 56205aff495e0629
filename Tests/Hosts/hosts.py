"""A served world, and Bumble as the Bluetooth stack of hosts that attach to it."""

import asyncio
import contextlib
import functools
import json
import os
import subprocess
from pathlib import Path

from bumble.core import UUID, AdvertisingData
from bumble.device import Device, Peer
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.att import ATT_Error
from bumble.hci import Address
from bumble.keys import MemoryKeyStore
from bumble.transport import open_transport
from bumble.transport.common import TransportLostError

HERE = Path(__file__).resolve().parent
BLUECTL = os.environ.get("BLUECTL") or str(HERE.parent.parent / ".build/debug/bluectl")


class World:
    """`bluectl world serve` with two ports for hosts."""

    def __init__(self):
        self.process = subprocess.Popen(
            [BLUECTL, "world", "serve", "--json", "--preset", "instant", "--hci", "phone=tcp:0", "--hci",
             "firmware=tcp:0", str(HERE / "world.json")], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line, f"bluectl world serve ended with status {self.process.wait(10)}"
        ready = json.loads(line)
        self.bus = ready["address"]
        self.ports = {port["host"]: port["address"].rpartition(":")[2] for port in ready["hci"]}

    def control(self, *arguments):
        """`bluectl world COMMAND …` of this world."""
        # Other worlds of the user may be served at the same time.
        subprocess.run(
            [BLUECTL, "world", *arguments, "--of", str(self.process.pid)], check=True, timeout=20,
            stdout=subprocess.DEVNULL)

    def close(self):
        self.process.terminate()
        assert self.process.wait(10) in (0, -15, 143)


@contextlib.asynccontextmanager
async def host(world, name, address="F0:F1:F2:F3:F4:F5", keystore=None, prepare=None):
    """Bumble on a port of the world; `prepare` changes the device before it is switched on."""
    # The port accepts a host after the earlier one has left.
    async with asyncio.timeout(10):
        while True:
            transport = await open_transport(f"tcp-client:127.0.0.1:{world.ports[name]}")
            device = Device.with_hci("Bumble", Address(address), transport.source, transport.sink)
            device.keystore = keystore or MemoryKeyStore()
            if prepare:
                prepare(device)
            try:
                await device.power_on()
                break
            except TransportLostError:
                await transport.close()
    try:
        yield device
    finally:
        await transport.close()


def test(body):
    """Runs an asynchronous test, with a deadline."""
    @functools.wraps(body)
    def run(*arguments, **keywords):
        asyncio.run(asyncio.wait_for(body(*arguments, **keywords), 60))

    return run


async def find(device, name):
    """Scans until a device of the name is heard."""
    found = asyncio.get_running_loop().create_future()

    def heard(advertisement):
        if advertisement.data.get(AdvertisingData.COMPLETE_LOCAL_NAME) == name and not found.done():
            found.set_result(advertisement.address)

    device.on("advertisement", heard)
    await device.start_scanning(filter_duplicates=False)
    address = await asyncio.wait_for(found, 10)
    await device.stop_scanning()
    device.remove_listener("advertisement", heard)
    return address


async def connect(device, name):
    """Finds a device, connects to it and discovers its database."""
    connection = await device.connect(await find(device, name), timeout=10)
    peer = Peer(connection)
    await peer.request_mtu(247)
    await peer.discover_all()
    return connection, peer


def characteristic(peer, uuid):
    [found] = peer.get_characteristics_by_uuid(UUID.from_16_bits(uuid))
    return found


def ending(connection):
    """A future of the reason with which the link ends."""
    reason = asyncio.get_running_loop().create_future()
    connection.on("disconnection", lambda code: reason.done() or reason.set_result(code))
    return reason
