"""A link of a central: the attributes that it found, and what it asks of them."""
import asyncio
import logging
import struct
from collections.abc import Callable

from bumble.att import ATT_Error, ATT_Handle_Value_Confirmation, ATT_Read_Blob_Request, Opcode
from bumble.device import Connection
from bumble.gatt import Characteristic
from bumble.gatt_client import CharacteristicProxy
from bumble.hci import HCI_Disconnection_Complete_Event, HCI_Error, HCI_ErrorCode

from .channels import ChannelEnd
from .gatt import short

CCC, SERVICE_CHANGED = "2902", "2A05"
SETTLED_S = 0.4


class Lost(Exception):
    """The link ended before it could be used."""


async def close(connection: Connection) -> None:
    """Closes a connection, which the other side may have ended meanwhile."""
    device, handle = connection.device, connection.handle
    for _ in range(2):
        try:
            return await asyncio.wait_for(connection.disconnect(), 10)
        except (asyncio.TimeoutError, HCI_Error) as error:
            if device.connections.get(handle) is not connection:
                return None
            logging.warning("%s does not close handle %d: %r", device.name, handle, error)
            if getattr(error, "error_code", None) == HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR:
                # The controller has no such link any more, so its host learns the end from here.
                device.host.on_hci_disconnection_complete_event(HCI_Disconnection_Complete_Event(
                    status=HCI_ErrorCode.SUCCESS, connection_handle=handle, reason=HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR))
                return None
    raise TimeoutError(f"the link to {connection.peer_address} was not closed within 20 s")


def brief(value: bytes) -> str:
    return f"{len(value)} bytes" if len(value) > 20 else value.hex().upper()


class Link:
    """One connection, from the first discovery to its end."""

    def __init__(self, connection: Connection, log: Callable[[str], None]):
        self.connection, self.log = connection, log
        self.client = connection.gatt_client
        self.services: list[tuple[int, str]] = []
        self.characteristics: dict[str, CharacteristicProxy] = {}
        self.channel: ChannelEnd | None = None
        self.is_reported = self.is_leaving = False
        self.is_asked_for_security = asyncio.Event()
        self.settle_task: asyncio.Task | None = None
        self.client.on_att_handle_value_notification = self.on_notification
        self.client.on_att_handle_value_indication = self.on_indication

    async def leave(self) -> None:
        self.is_leaving = True
        await close(self.connection)

    # Discovery

    async def discover(self) -> None:
        self.client.services = []
        await self.client.discover_services()
        self.services = [(service.handle, short(bytes(service.uuid))) for service in self.client.services]
        self.characteristics = {}
        for found in await self.client.discover_characteristics([], None):
            self.characteristics.setdefault(short(bytes(found.uuid)), found)

    def own_services(self) -> list[str]:
        return [name for _, name in self.services if name.startswith("C0DE")]

    def find(self, identifier: str) -> CharacteristicProxy:
        if identifier not in self.characteristics:
            raise ValueError(f"no characteristic {identifier} among {sorted(self.characteristics)}")
        return self.characteristics[identifier]

    async def watch_services(self) -> None:
        if SERVICE_CHANGED in self.characteristics:
            await self.subscribe(SERVICE_CHANGED, True)

    async def settle(self) -> None:
        """A service that comes or goes is announced by one indication or several: looks again after the last one."""
        await asyncio.sleep(SETTLED_S)
        before = self.services
        await self.discover()
        gone, new = (", ".join(f'"{name}"' for handle, name in some if (handle, name) not in others)
                     for some, others in ((before, self.services), (self.services, before)))
        self.log(f"services changed -[{gone}] +[{new}]")

    # Values

    async def read(self, identifier: str) -> str:
        """All of it; Bumble would take an error behind the first part for the end."""
        found = self.find(identifier)
        value = part = await self.client.read_value(found, no_long_read=True)
        while len(part) == self.client.mtu - 1:
            response = await self.client.send_request(
                ATT_Read_Blob_Request(attribute_handle=found.handle, value_offset=len(value)))
            if response.op_code == Opcode.ATT_ERROR_RESPONSE:
                raise ATT_Error(error_code=response.error_code, message=response)
            part = response.part_attribute_value
            value += part
        return brief(value)

    async def write(self, identifier: str, value: bytes) -> None:
        await self.client.write_value(self.find(identifier), value, with_response=True)

    async def command(self, identifier: str, value: bytes) -> None:
        await self.client.write_value(self.find(identifier), value)

    async def descriptors(self, identifier: str) -> str:
        found = await self.client.discover_descriptors(self.find(identifier))
        values = {short(bytes(item.type)): await self.client.read_value(item) for item in found}
        return " ".join(f"{name}={value.hex().upper()}" for name, value in sorted(values.items()))

    async def subscribe(self, identifier: str, is_on: bool) -> str:
        found = self.find(identifier)
        descriptors = await self.client.discover_descriptors(found)
        handle = next(item.handle for item in descriptors if short(bytes(item.type)) == CCC)
        bits = 1 if found.properties & Characteristic.Properties.NOTIFY else 2
        await self.client.write_value(handle, struct.pack("<H", bits if is_on else 0), with_response=True)
        return "true" if is_on else "false"

    def on_notification(self, pdu) -> None:
        names = [name for name, found in self.characteristics.items() if found.handle == pdu.attribute_handle]
        self.log(f"notified {names[0] if names else '?'} {brief(pdu.attribute_value)}")

    def on_indication(self, pdu) -> None:
        changed = self.characteristics.get(SERVICE_CHANGED)
        if changed and pdu.attribute_handle == changed.handle:
            if self.settle_task:
                self.settle_task.cancel()
            self.settle_task = asyncio.ensure_future(self.connection.cancel_on_disconnection(self.settle()))
        else:
            self.on_notification(pdu)
        self.client.send_confirmation(ATT_Handle_Value_Confirmation())
