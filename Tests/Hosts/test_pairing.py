"""Bumble pairs with described devices, by each method of both generations, and comes back with its keys."""

import asyncio

import pytest
from bumble.core import UUID, ProtocolError
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingDelegate

import hosts
from users import User, pairing
from hosts import ATT_Error, Characteristic, Service, characteristic, connect, ending, host


# The device, what the host can display and ask for, and the passkey.
METHODS = {
    "just works": ("Plain", PairingDelegate.NO_OUTPUT_NO_INPUT, None),
    "the device shows a passkey": ("Display", PairingDelegate.KEYBOARD_INPUT_ONLY, 123456),
    "the host shows a passkey": ("Keyboard", PairingDelegate.DISPLAY_OUTPUT_ONLY, 654321),
    "both show a number": ("Comparison", PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT, None),
}
GENERATIONS = {"LE Secure Connections": True, "LE legacy": False}
CASES = [
    (method, generation) for method in METHODS for generation in GENERATIONS
    # Only LE Secure Connections compares numbers.
    if (method, generation) != ("both show a number", "LE legacy")]


@pytest.mark.parametrize("method,generation", CASES)
@hosts.test
async def test_a_pairing_gives_access_also_after_the_host_has_come_back(world, method, generation):
    name, capability, passkey = METHODS[method]
    user, keystore = User(capability, passkey or 0), MemoryKeyStore()
    prepare = pairing(user, GENERATIONS[generation], passkey is not None or method == "both show a number")
    async with host(world, "phone", keystore=keystore, prepare=prepare) as device:
        connection, peer = await connect(device, name)
        with pytest.raises(ATT_Error) as error:
            await characteristic(peer, 0xFFE1).read_value()
        assert error.value.error_code in (0x05, 0x0F)
        await connection.pair()
        assert connection.is_encrypted
        [(_, keys)] = await keystore.get_all()
        assert (keys.ltk or keys.ltk_central).authenticated == (method != "just works")
        assert bool(keys.ltk) == GENERATIONS[generation]
        assert bytes(await characteristic(peer, 0xFFE1).read_value()) == b"\7"
        assert len(user.compared) == (method == "both show a number")
        if method == "the host shows a passkey":
            assert user.displayed == [passkey]
        await connection.disconnect()
    # With the keys, and without a user.
    async with host(world, "phone", keystore=keystore, prepare=pairing(User(capability), GENERATIONS[generation])) \
            as device:
        connection, peer = await connect(device, name)
        await connection.encrypt()
        assert connection.is_encrypted
        assert bytes(await characteristic(peer, 0xFFE1).read_value()) == b"\7"


# What the central and the peripheral can display and ask for, and whether they compare a number or enter one.
BETWEEN_HOSTS = {
    "just works": (PairingDelegate.NO_OUTPUT_NO_INPUT, PairingDelegate.NO_OUTPUT_NO_INPUT),
    "the peripheral shows a passkey": (PairingDelegate.KEYBOARD_INPUT_ONLY, PairingDelegate.DISPLAY_OUTPUT_ONLY),
    "both show a number": (
        PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT, PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT),
}


@pytest.mark.parametrize("method,generation", [
    (method, generation) for method in BETWEEN_HOSTS for generation in GENERATIONS
    if (method, generation) != ("both show a number", "LE legacy")])
@hosts.test
async def test_two_hosts_pair_with_each_other(world, method, generation):
    is_authenticated = method != "just works"
    central, peripheral = (User(capability, 246810) for capability in BETWEEN_HOSTS[method])
    keystores = MemoryKeyStore(), MemoryKeyStore()

    def serve(device):
        pairing(peripheral, GENERATIONS[generation], is_authenticated)(device)
        device.add_service(Service("FFF0", [
            Characteristic("FFF1", Characteristic.Properties.READ, Characteristic.READ_REQUIRES_ENCRYPTION, b"\7")]))

    async with host(world, "firmware", "F0:F1:F2:F3:F4:F6", keystores[1], serve) as firmware:
        await hosts.advertise(firmware, "Firmware")
        prepare = pairing(central, GENERATIONS[generation], is_authenticated)
        async with host(world, "phone", keystore=keystores[0], prepare=prepare) as phone:
            connection, peer = await connect(phone, "Firmware")
            with pytest.raises(ATT_Error):
                await characteristic(peer, 0xFFF1).read_value()
            await connection.pair()
            assert bytes(await characteristic(peer, 0xFFF1).read_value()) == b"\7"
            [(_, keys)] = await keystores[0].get_all()
            assert bool(keys.ltk) == GENERATIONS[generation]
            assert (keys.ltk or keys.ltk_central).authenticated == is_authenticated
            assert central.compared == peripheral.compared
            assert len(central.compared) == (method == "both show a number")
            await connection.disconnect()
        if not GENERATIONS[generation]:
            # Bumble 0.0.236 as the peripheral answers with the central's key in place of its own (`get_long_term_key`).
            return
        # With the keys of both, and without a user.
        prepare = pairing(User(PairingDelegate.NO_OUTPUT_NO_INPUT))
        async with host(world, "phone", keystore=keystores[0], prepare=prepare) as phone:
            connection, peer = await connect(phone, "Firmware")
            await connection.encrypt()
            assert bytes(await characteristic(peer, 0xFFF1).read_value()) == b"\7"


@hosts.test
async def test_two_hosts_with_different_keys_are_not_connected(world):
    async with host(world, "firmware", "F0:F1:F2:F3:F4:F6", prepare=pairing(User(PairingDelegate.NO_OUTPUT_NO_INPUT))) \
            as firmware:
        await hosts.advertise(firmware, "Firmware")
        keystore = MemoryKeyStore()
        prepare = pairing(User(PairingDelegate.NO_OUTPUT_NO_INPUT))
        async with host(world, "phone", keystore=keystore, prepare=prepare) as phone:
            connection, _ = await connect(phone, "Firmware")
            await connection.pair()
            await connection.disconnect()
        [(name, keys)] = await keystore.get_all()
        keys.ltk.value = bytes(16)
        await keystore.update(name, keys)
        async with host(world, "phone", keystore=keystore, prepare=prepare) as phone:
            connection, _ = await connect(phone, "Firmware")
            reason = ending(connection)
            with pytest.raises(asyncio.CancelledError):
                await connection.encrypt()
            # The first encrypted packet is not authentic.
            assert await asyncio.wait_for(reason, 10) == 0x3D


@hosts.test
async def test_a_wrong_passkey_pairs_with_nothing(world):
    prepare = pairing(User(PairingDelegate.KEYBOARD_INPUT_ONLY, 111111), requires_authentication=True)
    async with host(world, "phone", prepare=prepare) as device:
        connection, peer = await connect(device, "Display")
        with pytest.raises(ProtocolError):
            await connection.pair()
        assert not connection.is_encrypted
        with pytest.raises(ATT_Error):
            await characteristic(peer, 0xFFE1).read_value()


@pytest.mark.parametrize("entered", [24680, 24681])
@hosts.test
async def test_the_number_that_a_host_shows_is_entered_by_the_users_command(world, entered):
    user = User(PairingDelegate.DISPLAY_OUTPUT_ONLY, 24680)
    async with host(world, "phone", prepare=pairing(user, requires_authentication=True)) as device:
        connection, _ = await connect(device, "Keypad")
        pairs = asyncio.create_task(connection.pair())
        while not user.displayed:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(world.control, "passkey", "Keypad", f"{entered:06}")
        if entered == 24680:
            await pairs
        else:
            with pytest.raises(ProtocolError):
                await pairs
        assert connection.is_encrypted == (entered == 24680)


@hosts.test
async def test_a_device_that_refuses_pairs_with_nothing(world):
    async with host(world, "phone", prepare=pairing(User(PairingDelegate.NO_OUTPUT_NO_INPUT))) as device:
        connection, _ = await connect(device, "Reluctant")
        with pytest.raises(ProtocolError):
            await connection.pair()
        assert not connection.is_encrypted


@hosts.test
async def test_a_host_without_its_keys_is_not_encrypted_by_the_old_ones(world):
    prepare = pairing(User(PairingDelegate.NO_OUTPUT_NO_INPUT))
    async with host(world, "phone", prepare=prepare) as device:
        connection, _ = await connect(device, "Plain")
        await connection.pair()
        await connection.disconnect()
    async with host(world, "phone", prepare=prepare) as device:
        connection, peer = await connect(device, "Plain")
        with pytest.raises(ATT_Error):
            await characteristic(peer, 0xFFE1).read_value()
        # The host pairs anew.
        await connection.pair()
        assert bytes(await characteristic(peer, 0xFFE1).read_value()) == b"\7"


@hosts.test
async def test_a_bonded_central_need_not_subscribe_again(world):
    keystore, prepare = MemoryKeyStore(), pairing(User(PairingDelegate.NO_OUTPUT_NO_INPUT))
    async with host(world, "phone", keystore=keystore, prepare=prepare) as device:
        connection, peer = await connect(device, "Box")
        await connection.pair()
        await characteristic(peer, 0xFFF3).subscribe(lambda _: None)
        await connection.disconnect()
    async with host(world, "phone", keystore=keystore, prepare=prepare) as device:
        connection, peer = await connect(device, "Box")
        timer, received = characteristic(peer, 0xFFF3), asyncio.Queue()
        peer.gatt_client.notification_subscribers.setdefault(timer.handle, set()).add(received.put_nowait)
        [configuration] = [
            descriptor for descriptor in timer.descriptors if descriptor.type == UUID.from_16_bits(0x2902)]
        assert bytes(await configuration.read_value()) == b"\0\0"
        assert received.empty()
        await connection.encrypt()
        assert await asyncio.wait_for(received.get(), 10) in (b"\x06\x48", b"\x06\x49", b"\x06\x4a")
        assert bytes(await configuration.read_value()) == b"\1\0"
        await connection.disconnect()
