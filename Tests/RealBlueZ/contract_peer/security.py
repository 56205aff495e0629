"""How the peers pair: what their users see, type and agree to, and the keys that they keep."""
import asyncio
import ctypes
import logging
import os
import socket
import struct

from bumble.device import Connection, Device
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

CAPABILITIES = {
    "displayOnly": PairingDelegate.DISPLAY_OUTPUT_ONLY,
    "displayYesNo": PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT,
    "keyboardOnly": PairingDelegate.KEYBOARD_INPUT_ONLY,
    "noInputNoOutput": PairingDelegate.NO_OUTPUT_NO_INPUT,
    "keyboardDisplay": PairingDelegate.DISPLAY_OUTPUT_AND_KEYBOARD_INPUT,
}
PASSKEY_NOTIFY = 0x0017  # The kernel's management interface, "User Passkey Notify Event".
CONTROL_CHANNEL = 3
NO_INDEX = 0xFFFF


def prepare(device: Device, user) -> None:
    """Lets `user()`, a delegate, speak for the device; its keys are in memory."""
    device.keystore = MemoryKeyStore()
    device.pairing_config_factory = lambda connection: configuration(user())

    def watch(connection: Connection) -> None:
        # Bumble 0.0.236 keeps a session to the link's end, and would take the next pairing for a part of it.
        def end(*arguments) -> None:
            device.smp_manager.sessions.pop(connection.handle, None)

        connection.on(connection.EVENT_PAIRING, end)
        connection.on(connection.EVENT_PAIRING_FAILURE, end)

    device.on("connection", watch)


def configuration(delegate: PairingDelegate) -> PairingConfig:
    """Secure Connections with bonding; protection from a man in the middle where the device has what it takes."""
    return PairingConfig(
        mitm=delegate.io_capability != PairingDelegate.NO_OUTPUT_NO_INPUT, delegate=delegate,
        identity_address_type=PairingConfig.AddressType.RANDOM)


def forget(device: Device) -> None:
    """Loses all keys."""
    device.keystore = MemoryKeyStore()
    device.smp_manager.sessions.clear()


class ScriptedUser(PairingDelegate):
    """A user who agrees to everything, or to nothing; who agrees also types what the other side shows."""

    def __init__(self, capability="noInputNoOutput", passkey=123456, accepts=True):
        super().__init__(io_capability=CAPABILITIES[capability])
        self.passkey, self.accepts = passkey, accepts
        self.screen = OtherScreen() if self.io_capability in (
            self.KEYBOARD_INPUT_ONLY, self.DISPLAY_OUTPUT_AND_KEYBOARD_INPUT) else None

    async def accept(self) -> bool:
        return self.accepts

    async def confirm(self, auto=False) -> bool:
        return self.accepts

    async def compare_numbers(self, number, digits) -> bool:
        return self.accepts

    async def generate_passkey(self) -> int:
        return self.passkey

    async def get_number(self) -> int | None:
        return await self.screen.number() if self.screen else None

    def close(self) -> None:
        if self.screen:
            self.screen.close()


class OtherScreen:
    """What the kernel on this machine gives out to be shown: where the user of a peer would read a number."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.BTPROTO_HCI)
        address = struct.pack("<HHH", socket.AF_BLUETOOTH, NO_INDEX, CONTROL_CHANNEL)
        # Python's own bind knows no channels.
        if ctypes.CDLL(None, use_errno=True).bind(self.socket.fileno(), address, len(address)) != 0:
            error = ctypes.get_errno()
            self.socket.close()
            raise OSError(error, "the kernel's Bluetooth management: " + os.strerror(error))

    async def number(self) -> int:
        """The next number that is shown."""
        while True:
            event = await asyncio.get_running_loop().sock_recv(self.socket, 1024)
            code, _, _ = struct.unpack_from("<HHH", event)
            if code == PASSKEY_NOTIFY:
                return struct.unpack_from("<I", event, 6 + 7)[0]

    def close(self) -> None:
        self.socket.close()


class AskedUser(PairingDelegate):
    """A user who is asked, and answers when the test says so; one who has nothing to show or type agrees in silence."""

    def __init__(self, log):
        super().__init__()
        self.log = log
        self.answer: asyncio.Future | None = None

    async def ask(self, question: str):
        self.log("asks " + question)
        self.answer = asyncio.get_running_loop().create_future()
        try:
            return await self.answer
        finally:
            self.answer = None

    async def compare_numbers(self, number, digits) -> bool:
        return await self.ask("confirm") is True

    async def get_number(self) -> int | None:
        given = await self.ask("enterPasskey")
        return given if type(given) is int else None

    async def display_number(self, number, digits) -> None:
        self.log("asks display")

    def say(self, answer) -> None:
        if self.answer is None or self.answer.done():
            raise ValueError("nothing is asked")
        self.answer.set_result(answer)

    def withdraw(self) -> None:
        """The question has no purpose any more."""
        if self.answer and not self.answer.done():
            logging.info("a question of a pairing was withdrawn")
            self.answer.cancel()
            self.log("asks no more")
