"""The actions: one JSON object a line on a Unix stream socket, each answered by one line."""
import asyncio
import json
import logging
import os
from dataclasses import replace

from . import security
from .bluez import BlueZ, DaemonGone
from .central import Central
from .central_actions import CentralActions
from .peers import Peer

DEADLINE_S = 30


class Actions:
    """Each public coroutine is an action; its keyword arguments are the other members of the object."""

    def __init__(self, peers: dict[str, Peer], centrals: dict[str, Central], air, bluez: BlueZ):
        self.peers, self.centrals, self.air, self.bluez = peers, centrals, air, bluez
        self.contract = peers["contract"]

    def peer(self, name: str) -> Peer:
        if name not in self.peers:
            raise ValueError(f"no peer {name!r} here")
        return self.peers[name]

    def locate(self, identifier: str):
        for peer in self.peers.values():
            if found := peer.find(identifier):
                return peer, found
        raise ValueError(f"no characteristic {identifier}")

    async def reset(self) -> dict:
        """Peers as at the start; the daemon runs, its adapter is on, and it remembers nothing of them."""
        try:
            await self._begin_anew()
        except DaemonGone as error:
            # BlueZ 5.66 uses a link after it has freed it, now and then. Here no scenario is on its way that would miss it.
            logging.error("bluetoothd died between two scenarios, and is started again: %s", error)
            await self._begin_anew()
        return {}

    async def _begin_anew(self) -> None:
        await self.bluez.restore()
        everyone = [*self.peers.values(), *self.centrals.values()]
        if any(central.link for central in self.centrals.values()):
            # Where links end while Linux 6.1 withdraws an advertisement, it may take the next one for being on the air.
            await self.bluez.withdraw()
            await self.air.settle()
        for peer in everyone:
            await peer.reset()
        await self.bluez.forget([peer.device.random_address.to_string(False) for peer in everyone])
        await self.air.settle()
        for peer in self.peers.values():
            await peer.advertise(peer.initial_broadcast)

    async def advertise(self, peer, on, name=None, manufacturerData=None, connectable=None) -> dict:
        changes = {"is_on": on}
        if name is not None:
            changes["name"] = name
        if manufacturerData is not None:
            changes["manufacturer_data"] = bytes.fromhex(manufacturerData)
        if connectable is not None:
            changes["is_connectable"] = connectable
        chosen = self.peer(peer)
        await chosen.advertise(replace(chosen.broadcast, **changes))
        return {}

    async def settle(self) -> dict:
        """A peer that Linux 6.1 hears while it gives up an attempt to connect leaves it with one that never ends."""
        await self.air.settle()
        return {}

    async def disconnect(self, peer) -> dict:
        """Fails if there is no link: the scenario would wait in vain for its end."""
        if not await self.peer(peer).disconnect():
            raise ValueError(f"{peer} has no link to close; {self.air.describe_links()}")
        return {}

    async def lose(self, peer, stay=True) -> dict:
        chosen = self.peer(peer)
        chosen.broadcast = replace(chosen.broadcast, is_on=stay)
        await self.air.lose(chosen.device)
        await chosen.advertise(chosen.broadcast)
        return {}

    async def notify(self, characteristic, value) -> dict:
        peer, found = self.locate(characteristic)
        return {"subscribers": await peer.server.send_to_subscribers(found, bytes.fromhex(value))}

    async def setValue(self, characteristic, value) -> dict:
        peer, found = self.locate(characteristic)
        peer.values[found].current = bytes.fromhex(value)
        return {}

    async def value(self, characteristic) -> dict:
        peer, found = self.locate(characteristic)
        return {"value": peer.values[found].current.hex()}

    async def commands(self) -> dict:
        peer, found = self.locate("C0DE0102")
        return {"values": [value.hex() for value in peer.values[found].log]}

    async def hold(self, on) -> dict:
        peer, found = self.locate("C0DE0101")
        peer.values[found].hold(on)
        return {}

    async def awaitHeldRead(self) -> dict:
        peer, found = self.locate("C0DE0101")
        await peer.values[found].held.wait()
        return {}

    async def addService(self) -> dict:
        await self.contract.add_service()
        return {}

    async def removeService(self) -> dict:
        await self.contract.remove_service()
        return {}

    async def requestMTU(self, mtu) -> dict:
        if not self.contract.connections:
            raise ValueError("no central is connected")
        return {"mtu": await self.contract.connections[0].gatt_client.request_mtu(mtu)}

    async def connections(self, peer) -> dict:
        return {"count": len(self.peer(peer).connections)}

    async def secure(self, capability, passkey, accepts) -> dict:
        await self.contract.secure(security.ScriptedUser(capability, passkey, accepts))
        return {}

    async def enterPasskey(self, passkey) -> dict:
        self.contract.user.entered.put_nowait(passkey)
        return {}

    async def forget(self, peer) -> dict:
        security.forget(self.peer(peer).device)
        return {}

    async def otherApp(self, connected) -> dict:
        await self.bluez.set_connected(self.contract.device.random_address.to_string(False), connected)
        return {}

    async def central(self, central, do, **members) -> dict:
        if central not in self.centrals:
            raise ValueError(f"no central {central!r} here")
        return await CentralActions(self.centrals[central]).perform(do, members)

    async def adapter(self, powered) -> dict:
        await self.bluez.set_powered(powered)
        return {}

    async def controller(self, present) -> dict:
        if present:
            await self.air.plug()
            await self.bluez.wait_for_adapter()
        else:
            await self.air.unplug()
        return {}

    async def competitor(self, active) -> dict:
        if active:
            await self.bluez.compete(self.peer("second").device.random_address.to_string(False))
        else:
            await self.bluez.stop_competing()
        return {}

    async def daemon(self, running) -> dict:
        await self.bluez.set_running(running)
        return {}


class ActionServer:
    """Answers any number of clients; actions run one at a time."""

    def __init__(self, actions: Actions):
        self.actions = actions
        self.turn = asyncio.Lock()

    async def listen(self, path: str) -> None:
        if os.path.exists(path):
            os.unlink(path)
        self.server = await asyncio.start_unix_server(self.serve, path)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                answer = await self.answer(line)
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        except ConnectionError as error:
            logging.warning("client gone: %s", error)
        finally:
            writer.close()

    async def answer(self, line: bytes) -> dict:
        """Every failure is an answer: the peer goes on."""
        try:
            members = json.loads(line)
            name = members.pop("action")
            action = getattr(self.actions, name, None)
            if name.startswith("_") or not asyncio.iscoroutinefunction(action):
                raise ValueError(f"no action {name!r}")
            async with self.turn:
                return {"ok": True, **await asyncio.wait_for(action(**members), DEADLINE_S)}
        except Exception as error:
            logging.warning("%s", line.decode(errors="replace").strip(), exc_info=error)
            return {"ok": False, "error": f"{type(error).__name__}: {error}"}
