"""Bumble and L2CAP channels: of described devices, of an app, and its own for an app."""

import asyncio
import random

import pytest
from bumble.l2cap import L2capError, LeCreditBasedChannelSpec
from bumble.pairing import PairingConfig, PairingDelegate

import hosts
from hosts import Address, app, connect, find, host

STREAM = random.Random(1).randbytes(100_000)


class Received:
    """The bytes of a channel."""

    def __init__(self, channel):
        self.bytes, self.changed, self.ended = b"", asyncio.Event(), asyncio.Event()
        channel.sink = self.add
        channel.on("close", self.ended.set)

    def add(self, unit):
        self.bytes += bytes(unit)
        self.changed.set()

    async def wait(self, count):
        async with asyncio.timeout(20):
            while len(self.bytes) < count:
                self.changed.clear()
                await self.changed.wait()
        return self.bytes


async def refusal(connection, psm):
    with pytest.raises(L2capError) as error:
        await connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=psm))
    return error.value.error_code


# The limits of Bumble's end: its own, few credits for small packets, and the least of all.
SPECIFICATIONS = [
    {}, {"mtu": 500, "mps": 100, "max_credits": 3}, {"mtu": 23, "mps": 23, "max_credits": 1},
]


@pytest.mark.parametrize("limits", SPECIFICATIONS)
@hosts.test
async def test_a_described_device_sends_back_a_stream(world, limits):
    async with host(world, "phone") as device:
        connection, _ = await connect(device, "Box")
        channel = await connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=0x80, **limits))
        received = Received(channel)
        channel.write(STREAM)
        assert await received.wait(len(STREAM)) == STREAM
        await channel.drain()
        await channel.disconnect()
        # The link has room for another one.
        again = await connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=0x80, **limits))
        received = Received(again)
        again.write(b"again")
        assert await received.wait(5) == b"again"


@hosts.test
async def test_a_device_refuses_a_channel_with_the_reason(world):
    async with host(world, "phone") as device:
        device.pairing_config_factory = lambda _: PairingConfig(
            delegate=PairingDelegate(PairingDelegate.NO_OUTPUT_NO_INPUT))
        connection, _ = await connect(device, "Box")
        assert await refusal(connection, 0x82) == 0x02
        assert await refusal(connection, 0x81) == 0x05
        await connection.pair()
        channel = await connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=0x81))
        received = Received(channel)
        channel.write(b"secret")
        assert await received.wait(6) == b"secret"
        await connection.disconnect()
        # With keys and without encryption.
        connection = await device.connect(Address("C0:00:00:00:00:01"), timeout=10)
        assert await refusal(connection, 0x81) == 0x08
        await connection.encrypt()
        await connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=0x81))


@hosts.test
async def test_several_channels_of_a_link_do_not_mix(world):
    async with host(world, "phone") as device:
        connection, _ = await connect(device, "Box")
        channels = [await connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=0x80)) for _ in range(8)]
        streams = [Received(channel) for channel in channels]
        for number, channel in enumerate(channels):
            channel.write(bytes([number]) * 5_000)
        for number, stream in enumerate(streams):
            assert await stream.wait(5_000) == bytes([number]) * 5_000


@hosts.test
async def test_an_app_sends_back_a_stream():
    async with app() as program, host(program, "firmware") as device:
        await program.send("serve")
        plain, protected = [int(psm) for psm in await program.heard("serving")]
        connection = await device.connect(await find(device, "App"), timeout=10)
        channel = await connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=plain, mtu=500, mps=100))
        await program.heard("opened")
        received = Received(channel)
        channel.write(STREAM)
        assert await received.wait(len(STREAM)) == STREAM
        assert await refusal(connection, protected) == 0x05
        await channel.disconnect()
        assert await program.heard("ended") == [str(plain)]


@pytest.mark.parametrize("limits", SPECIFICATIONS)
@hosts.test
async def test_an_app_opens_a_channel_of_the_firmware(limits):
    async with app() as program, host(program, "firmware") as device:
        opened = asyncio.Queue()
        server = device.create_l2cap_server(LeCreditBasedChannelSpec(**limits), opened.put_nowait)
        await hosts.advertise(device, "Firmware")
        await program.send("open", "Firmware", str(server.psm))
        channel = await asyncio.wait_for(opened.get(), 10)
        received = Received(channel)
        assert await program.heard("opened") == [str(server.psm)]
        channel.write(STREAM)
        assert await received.wait(len(STREAM)) == STREAM
        await channel.disconnect()
        assert await program.heard("ended") == [str(server.psm)]


@hosts.test
async def test_firmware_without_the_channel_refuses():
    async with app() as program, host(program, "firmware") as device:
        await hosts.advertise(device, "Firmware")
        await program.send("open", "Firmware", "129")
        assert "not supported" in " ".join(await program.heard("failed"))
