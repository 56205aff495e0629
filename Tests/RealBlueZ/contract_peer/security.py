"""How the peers pair: what their users see, type and agree to, and the keys that they keep."""
import asyncio
import logging

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
    """A user who agrees to everything, or to nothing, and types the number that the test gives."""

    def __init__(self, capability="noInputNoOutput", passkey=123456, accepts=True):
        super().__init__(io_capability=CAPABILITIES[capability])
        self.passkey, self.accepts = passkey, accepts
        self.entered: asyncio.Queue[int] = asyncio.Queue()

    async def accept(self) -> bool:
        return self.accepts

    async def confirm(self, auto=False) -> bool:
        return self.accepts

    async def compare_numbers(self, number, digits) -> bool:
        return self.accepts

    async def generate_passkey(self) -> int:
        return self.passkey

    async def get_number(self) -> int | None:
        return await self.entered.get()


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
