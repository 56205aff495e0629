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
APP = os.environ.get("HOSTS_APP") or str(Path(BLUECTL).parent / "HostsApp")


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


class App:
    """An app in a world of its own, with a port for firmware: `HostsApp`."""

    def __init__(self, process):
        self.process, self.events, self.heard_words = process, asyncio.Queue(), []

    async def begin(self):
        self.reading = asyncio.create_task(self.read())
        self.ports = {"firmware": (await self.heard("port"))[0]}

    async def read(self):
        while line := await self.process.stdout.readline():
            self.events.put_nowait(line.decode().split())

    async def send(self, *words):
        self.process.stdin.write((" ".join(words) + "\n").encode())
        await self.process.stdin.drain()

    async def heard(self, word):
        """The rest of the next line that begins with a word; others are kept."""
        for index, words in enumerate(self.heard_words):
            if words[0] == word:
                return self.heard_words.pop(index)[1:]
        async with asyncio.timeout(20):
            while True:
                words = await self.events.get()
                if words[0] == word:
                    return words[1:]
                self.heard_words.append(words)

    async def end(self):
        self.process.stdin.close()
        try:
            assert await asyncio.wait_for(self.process.wait(), 10) == 0, self.heard_words
        finally:
            if self.process.returncode is None:
                self.process.kill()
            self.reading.cancel()


@contextlib.asynccontextmanager
async def app():
    program = App(await asyncio.create_subprocess_exec(
        APP, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE))
    try:
        await program.begin()
        yield program
    finally:
        await program.end()


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


async def advertise(device, name):
    device.advertising_data = bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, name.encode())]))
    await device.start_advertising(auto_restart=True)


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
