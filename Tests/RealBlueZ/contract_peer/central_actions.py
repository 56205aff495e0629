"""What a central is asked to do: the member "do" of the action "central"."""
import asyncio

from . import security
from .central import Central
from .gatt import short, uuid


def name(characteristic: str) -> str:
    """As the central's lines have it."""
    return short(bytes(uuid(characteristic)))


class CentralActions:
    """Each public coroutine is one; its result appears in the central's lines, if it is not answered."""

    def __init__(self, central: Central):
        self.on = central

    async def perform(self, do: str, members: dict) -> dict:
        action = getattr(self, do, None)
        if do.startswith("_") or do == "perform" or not asyncio.iscoroutinefunction(action):
            raise ValueError(f"no action {do!r} of centrals")
        return await action(**members) or {}

    async def lines(self, count) -> dict:
        return {"lines": await self.on.wait_for_lines(count)}

    async def listen(self, milliseconds) -> dict:
        return {"lines": await self.on.listen(milliseconds / 1000)}

    async def connect(self, service=None) -> dict:
        return {"count": await self.on.connect(service)}

    async def disconnect(self) -> None:
        await self.on.linked().leave()

    async def discover(self) -> None:
        async def discover(link) -> None:
            await link.discover()
            self.on.log("services " + " ".join(link.own_services()))

        self.on.operate(discover)

    async def descriptors(self, characteristic) -> None:
        self.on.ask("descriptors " + name(characteristic), lambda link: link.descriptors(name(characteristic)))

    async def read(self, characteristic) -> None:
        self.on.ask("read " + name(characteristic), lambda link: link.read(name(characteristic)))

    async def write(self, characteristic, value) -> None:
        data = bytes.fromhex(value)
        self.on.ask("wrote " + name(characteristic), lambda link: link.write(name(characteristic), data))

    async def command(self, characteristic, value) -> None:
        data = bytes.fromhex(value)
        self.on.operate(lambda link: link.command(name(characteristic), data))

    async def subscribe(self, characteristic, on) -> None:
        self.on.ask("subscribed " + name(characteristic), lambda link: link.subscribe(name(characteristic), on))

    async def mtu(self) -> dict:
        return {"count": self.on.linked().client.mtu}

    async def pairing(self, capability) -> None:
        self.on.pairing(capability)

    async def answer(self, accept=None, passkey=None) -> None:
        self.on.user.say(accept if passkey is None else passkey)

    async def pair(self) -> None:
        self.on.operate(self.on.start_pairing)

    async def forget(self) -> None:
        security.forget(self.on.device)

    async def openChannel(self, psm) -> None:
        self.on.open_channel(psm)

    async def send(self, count) -> None:
        self.on.send(count)

    async def receive(self, count) -> None:
        await self.on.channel().receive(count)

    async def closeChannel(self) -> None:
        await self.on.drop_channel()
