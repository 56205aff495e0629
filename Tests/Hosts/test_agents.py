"""An app's pairing agent is asked when Bumble pairs with the app, in both roles."""

import asyncio

import pytest
from bumble.core import ProtocolError
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingDelegate

import hosts
from hosts import Characteristic, Service, app, characteristic, connect, host
from users import User, pairing


class Typist(User):
    """Enters the number that the app displays."""

    def __init__(self, capability):
        super().__init__(capability, 135790)
        self.number = asyncio.get_running_loop().create_future()

    async def get_number(self):
        return await asyncio.wait_for(self.number, 10)


# What the app can display and ask for, and Bumble.
METHODS = {
    "consent": ("noInputNoOutput", PairingDelegate.NO_OUTPUT_NO_INPUT),
    "display": ("displayOnly", PairingDelegate.KEYBOARD_INPUT_ONLY),
    "enter": ("keyboardOnly", PairingDelegate.DISPLAY_OUTPUT_ONLY),
    "confirm": ("displayYesNo", PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT),
}


async def answer(program, user, question):
    """Answers the question of the app's agent, and Bumble's."""
    words = await program.heard("asked")
    assert words[0] == question
    if question == "display":
        user.number.set_result(int(words[1]))
    elif question == "enter":
        await program.send("enter", str(user.passkey))
    else:
        await program.send("accept")
    return words


def protect(device):
    device.add_service(Service("FFF0", [
        Characteristic("FFF1", Characteristic.Properties.READ, Characteristic.READ_REQUIRES_ENCRYPTION, b"\7")]))


@pytest.mark.parametrize("is_secure", [True, False])
@pytest.mark.parametrize("question", METHODS)
@hosts.test
async def test_an_agent_is_asked_by_a_central(question, is_secure):
    if question == "confirm" and not is_secure:
        question = "consent"
    capability, peer_capability = METHODS[question]
    async with app() as program:
        user, keystore = Typist(peer_capability), MemoryKeyStore()
        prepare = pairing(user, is_secure, question != "consent")
        await program.send("agent", capability)
        await program.heard("agent")
        await program.send("serve")
        await program.heard("serving")
        async with host(program, "firmware", keystore=keystore, prepare=prepare) as device:
            connection, peer = await connect(device, "App")
            paired = asyncio.create_task(connection.pair())
            words = await answer(program, user, question)
            await asyncio.wait_for(paired, 10)
            if question == "confirm":
                assert user.compared == [int(words[1])]
            assert await program.heard("bonded") == ["true"]
            assert bytes(await characteristic(peer, 0xFFA2).read_value()) == b"\7"
            [(_, keys)] = await keystore.get_all()
            assert (keys.ltk or keys.ltk_central).authenticated == (question != "consent")
            await connection.disconnect()
            # With the keys, and without a question.
            connection, peer = await connect(device, "App")
            await connection.encrypt()
            assert bytes(await characteristic(peer, 0xFFA2).read_value()) == b"\7"


@pytest.mark.parametrize("question", METHODS)
@hosts.test
async def test_an_agent_is_asked_when_firmware_demands_security(question):
    capability, peer_capability = METHODS[question]
    async with app() as program:
        user = Typist(peer_capability)

        def prepare(device):
            pairing(user, requires_authentication=question != "consent")(device)
            protect(device)

        await program.send("agent", capability)
        await program.heard("agent")
        async with host(program, "firmware", prepare=prepare) as device:
            connections = asyncio.Queue()
            device.on("connection", connections.put_nowait)
            await hosts.advertise(device, "Firmware")
            await program.send("read", "Firmware", "FFF1")
            words = await answer(program, user, question)
            assert await program.heard("value") == ["07"]
            assert await program.heard("bonded") == ["true"]
            if question == "confirm":
                assert user.compared == [int(words[1])]
            # The next link is encrypted with the keys, without a question.
            connection = await connections.get()
            await connection.disconnect()
            await program.send("read", "Firmware", "FFF1")
            assert await program.heard("value") == ["07"]


@hosts.test
async def test_an_app_that_requests_a_pairing_need_not_agree_to_it():
    async with app() as program:
        prepare = pairing(User(PairingDelegate.NO_OUTPUT_NO_INPUT))
        await program.send("agent", "noInputNoOutput")
        async with host(program, "firmware", prepare=prepare) as device:
            await hosts.advertise(device, "Firmware")
            await program.send("pair", "Firmware")
            assert await program.heard("paired") == []
            assert "asked" not in [words[0] for words in program.heard_words]


@hosts.test
async def test_a_user_who_refuses_pairs_with_nothing():
    async with app() as program:
        await program.send("agent", "noInputNoOutput")
        await program.send("serve")
        await program.heard("serving")
        prepare = pairing(User(PairingDelegate.NO_OUTPUT_NO_INPUT))
        async with host(program, "firmware", prepare=prepare) as device:
            connection, _ = await connect(device, "App")
            paired = asyncio.create_task(connection.pair())
            assert await program.heard("asked") == ["consent"]
            await program.send("reject")
            with pytest.raises(ProtocolError):
                await paired
            await program.heard("unpaired")
            assert not connection.is_encrypted


@hosts.test
async def test_a_wrong_number_pairs_with_nothing():
    async with app() as program:
        await program.send("agent", "keyboardOnly")
        prepare = pairing(User(PairingDelegate.DISPLAY_OUTPUT_ONLY, 135790), requires_authentication=True)
        async with host(program, "firmware", prepare=lambda device: (prepare(device), protect(device))) as device:
            await hosts.advertise(device, "Firmware")
            await program.send("read", "Firmware", "FFF1")
            assert await program.heard("asked") == ["enter"]
            await program.send("enter", "999999")
            await program.heard("unpaired")
            await program.heard("failed")


@hosts.test
async def test_an_app_without_an_agent_pairs_by_just_works():
    async with app() as program:
        prepare = pairing(User(PairingDelegate.NO_OUTPUT_NO_INPUT))
        async with host(program, "firmware", prepare=lambda device: (prepare(device), protect(device))) as device:
            await hosts.advertise(device, "Firmware")
            await program.send("read", "Firmware", "FFF1")
            assert await program.heard("value") == ["07"]


@hosts.test
async def test_a_bonded_central_learns_of_services_that_have_changed_meanwhile():
    async with app() as program:
        keystore, prepare = MemoryKeyStore(), pairing(User(PairingDelegate.NO_OUTPUT_NO_INPUT))
        await program.send("serve")
        await program.heard("serving")
        async with host(program, "firmware", keystore=keystore, prepare=prepare) as device:
            connection, peer = await connect(device, "App")
            await connection.pair()
            await characteristic(peer, 0x2A05).subscribe(lambda _: None, prefer_notify=False)
            await connection.disconnect()
            await program.send("extend")
            await program.heard("extended")
            connection, peer = await connect(device, "App")
            changed = asyncio.Queue()
            peer.gatt_client.indication_subscribers.setdefault(
                characteristic(peer, 0x2A05).handle, set()).add(changed.put_nowait)
            await connection.encrypt()
            assert await asyncio.wait_for(changed.get(), 10) == b"\x01\x00\xff\xff"
