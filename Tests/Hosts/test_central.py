"""Bumble as the central of described devices."""

import asyncio

import pytest

import hosts
from hosts import ATT_Error, Address, characteristic, connect, ending, find, host


@hosts.test
async def test_every_device_is_heard_under_its_address(world):
    async with host(world, "phone") as device:
        assert await find(device, "Box") == Address("C0:00:00:00:00:01")
        assert await find(device, "Reluctant") == Address("C0:00:00:00:00:06")


@hosts.test
async def test_a_database_is_discovered_read_and_written(world):
    async with host(world, "phone") as device:
        connection, peer = await connect(device, "Box")
        assert [int.from_bytes(service.uuid.to_bytes(), "little") for service in peer.services] == [
            0x1800, 0x1801, 0xFFF0]
        value = characteristic(peer, 0xFFF1)
        assert bytes(await value.read_value()) == b"\1\2\3"
        await value.write_value(b"\7\x08", with_response=True)
        assert bytes(await value.read_value()) == b"\7\x08"
        await value.write_value(b"\x09", with_response=False)
        assert bytes(await value.read_value()) == b"\x09"
        await connection.disconnect()


@hosts.test
async def test_a_value_without_permission_is_an_error(world):
    async with host(world, "phone") as device:
        _, peer = await connect(device, "Box")
        with pytest.raises(ATT_Error) as error:
            await characteristic(peer, 0xFFF2).read_value()
        assert error.value.error_code == 0x02
        with pytest.raises(ATT_Error) as error:
            await peer.gatt_client.read_value(0x7777)
        assert error.value.error_code == 0x01


@hosts.test
async def test_a_value_longer_than_the_mtu_is_read_in_parts(world):
    async with host(world, "phone") as device:
        connection = await device.connect(await find(device, "Box"), timeout=10)
        peer = hosts.Peer(connection)
        await peer.request_mtu(247)
        await peer.discover_all()
        value = characteristic(peer, 0xFFF1)
        text = bytes(range(244))
        await value.write_value(text, with_response=True)
        # Another link with the least MTU.
        await connection.disconnect()
        connection = await device.connect(Address("C0:00:00:00:00:01"), timeout=10)
        peer = hosts.Peer(connection)
        await peer.discover_all()
        assert bytes(await characteristic(peer, 0xFFF1).read_value()) == text


@hosts.test
async def test_five_hundred_reads_are_answered(world):
    async with host(world, "phone") as device:
        _, peer = await connect(device, "Box")
        value = characteristic(peer, 0xFFF1)
        for _ in range(500):
            assert bytes(await value.read_value()) == b"\1\2\3"


@hosts.test
async def test_a_thousand_notifications_arrive_in_their_order(world):
    async with host(world, "phone") as device:
        _, peer = await connect(device, "Box")
        echo, received = characteristic(peer, 0xFFF4), asyncio.Queue()
        await echo.subscribe(lambda value: received.put_nowait(bytes(value)))
        sent = [number.to_bytes(2, "little") for number in range(1000)]
        for value in sent:
            await echo.write_value(value, with_response=False)
        assert [await asyncio.wait_for(received.get(), 10) for _ in sent] == sent


@hosts.test
async def test_a_subscription_ends(world):
    async with host(world, "phone") as device:
        _, peer = await connect(device, "Box")
        timer, received = characteristic(peer, 0xFFF3), asyncio.Queue()
        await timer.subscribe(lambda value: received.put_nowait(bytes(value)))
        first = [await asyncio.wait_for(received.get(), 10) for _ in range(3)]
        assert sorted(first) == [b"\x06\x48", b"\x06\x49", b"\x06\x4a"]
        await timer.unsubscribe(force=True)
        while not received.empty():
            received.get_nowait()
        # The answer follows what was notified before it.
        await characteristic(peer, 0xFFF1).read_value()
        assert received.empty()


@hosts.test
async def test_the_host_ends_the_link(world):
    async with host(world, "phone") as device:
        connection, _ = await connect(device, "Box")
        reason = ending(connection)
        await connection.disconnect()
        assert await asyncio.wait_for(reason, 10) == 0x16


@hosts.test
async def test_a_device_out_of_range_ends_the_link_by_timeout(world):
    async with host(world, "phone") as device:
        connection, _ = await connect(device, "Box")
        reason = ending(connection)
        await asyncio.to_thread(world.control, "move", "Box", "outOfRange")
        assert await asyncio.wait_for(reason, 30) == 0x08


@hosts.test
async def test_a_host_that_comes_back_connects_again(world):
    for _ in range(3):
        async with host(world, "phone") as device:
            _, peer = await connect(device, "Box")
            assert bytes(await characteristic(peer, 0xFFF1).read_value()) == b"\1\2\3"
