"""The contract peer's attributes: values that can be set back, and a server that respects properties."""
import asyncio
from collections.abc import Callable

from bumble import att
from bumble.core import UUID
from bumble.gatt import (
    GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR, Characteristic, CharacteristicValue, Descriptor,
    IncludedServiceDeclaration)
from bumble.gatt_server import Server

SUFFIX = "-7A3D-4C5B-9E1F-2B6A8D4C0F01"
BASE = "00001000800000805F9B34FB"
Properties = Characteristic.Properties


def uuid(text: str) -> UUID:
    """A UUID; eight digits stand for one of the contract's own."""
    return UUID(text + SUFFIX if len(text) == 8 else text)


def short(data: bytes) -> str:
    """The text of a UUID as on the air: four digits, eight for one of the contract's own, else all of it."""
    text = data[::-1].hex().upper()
    if text.endswith(SUFFIX.replace("-", "")):
        return text[:8]
    if text.endswith(BASE):
        return text[4:8] if text.startswith("0000") else text[:8]
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])) if len(text) == 32 else text


class Value:
    """A stored value of at most 512 bytes, with its initial state and a log of what was written."""

    def __init__(self, initial: bytes = b""):
        self.initial = self.current = initial
        self.released, self.held = asyncio.Event(), asyncio.Event()
        self.released.set()
        self.log: list[bytes] = []
        self.on_write: Callable = lambda connection, value: None

    async def read(self, connection) -> bytes:
        if not self.released.is_set():
            self.held.set()
            await self.released.wait()
            if connection not in connection.device.connections.values():
                raise asyncio.CancelledError  # No caller waits any more; a later link may have the same handle.
        return self.current

    def hold(self, is_on: bool) -> None:
        """Leaves reads unanswered from now on, or answers those that wait."""
        self.held.clear()
        self.released.clear() if is_on else self.released.set()

    def write(self, connection, value: bytes) -> None:
        self.current = value
        self.log.append(value)
        self.on_write(connection, value)

    def reset(self) -> None:
        self.current = self.initial
        self.log.clear()
        self.hold(False)

    def attribute_value(self) -> CharacteristicValue:
        return CharacteristicValue(read=self.read, write=self.write)


class FailingValue(Value):
    """Reading fails with 0x80, writing with the code that is the first byte written."""

    async def read(self, connection) -> bytes:
        raise att.ATT_Error(error_code=0x80)

    def write(self, connection, value: bytes) -> None:
        raise att.ATT_Error(error_code=value[0] if value else att.ATT_INVALID_ATTRIBUTE_LENGTH_ERROR)


def permissions(properties: Properties) -> att.Attribute.Permissions:
    """What the properties let a client do without security."""
    allowed = att.Attribute.Permissions(0)
    if properties & Properties.READ:
        allowed |= Characteristic.READABLE
    if properties & (Properties.WRITE | Properties.WRITE_WITHOUT_RESPONSE):
        allowed |= Characteristic.WRITEABLE
    return allowed


def characteristic(
        identifier: str, properties: Properties, value: Value, descriptors=(), is_secure=False) -> Characteristic:
    allowed = permissions(properties)
    if is_secure:
        allowed |= Characteristic.READ_REQUIRES_ENCRYPTION | Characteristic.WRITE_REQUIRES_ENCRYPTION
    return Characteristic(uuid(identifier), properties, allowed, value.attribute_value(), list(descriptors))


def descriptor(identifier: str, value: Value, properties: Properties = Properties.READ) -> Descriptor:
    return Descriptor(uuid(identifier), permissions(properties), value.attribute_value())


class CheckingServer(Server):
    """Refuses what permissions and properties do not allow; Bumble 0.0.236 leaves that to the application."""

    def add_attribute(self, attribute) -> None:
        if isinstance(attribute, IncludedServiceDeclaration) and len(attribute.service.uuid.to_bytes()) > 2:
            # The UUID is there only if it has 16 bits: Core, Vol 3, Part G, 3.2.
            attribute.value = attribute.value[:4]
        super().add_attribute(attribute)

    def secure_subscriptions(self, service) -> None:
        """Lets only encrypted links subscribe to the service's characteristics."""
        for found in service.characteristics:
            ccc = self.get_descriptor_attribute(
                service.uuid, found.uuid, GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR)
            if ccc:
                ccc.permissions |= Characteristic.WRITE_REQUIRES_ENCRYPTION

    def on_gatt_pdu(self, bearer, pdu) -> None:
        refusal = self.refusal(bearer, pdu)
        if refusal is None:
            super().on_gatt_pdu(bearer, pdu)
        elif not isinstance(pdu, att.ATT_Write_Command):
            self.send_response(bearer, att.ATT_Error_Response(
                request_opcode_in_error=pdu.op_code, attribute_handle_in_error=pdu.attribute_handle,
                error_code=refusal))

    def refusal(self, bearer, pdu) -> int | None:
        # No key, no encryption: "insufficient authentication", Core, Vol 3, Part C, 10.3.1.
        if self.needs_encryption(pdu) and not bearer.is_encrypted:
            return att.ATT_INSUFFICIENT_AUTHENTICATION_ERROR
        match pdu:
            case att.ATT_Read_Request() | att.ATT_Read_Blob_Request():
                allowed = self.allows(pdu, Characteristic.READABLE, Properties.READ)
                return None if allowed else att.ATT_READ_NOT_PERMITTED_ERROR
            case att.ATT_Write_Request() | att.ATT_Prepare_Write_Request():
                allowed = self.allows(pdu, Characteristic.WRITEABLE, Properties.WRITE)
            case att.ATT_Write_Command():
                allowed = self.allows(pdu, Characteristic.WRITEABLE, Properties.WRITE_WITHOUT_RESPONSE)
            case _:
                return None
        return None if allowed else att.ATT_WRITE_NOT_PERMITTED_ERROR

    def needs_encryption(self, pdu) -> bool:
        match pdu:
            case att.ATT_Read_Request() | att.ATT_Read_Blob_Request():
                permission = Characteristic.READ_REQUIRES_ENCRYPTION
            case att.ATT_Write_Request() | att.ATT_Prepare_Write_Request() | att.ATT_Write_Command():
                permission = Characteristic.WRITE_REQUIRES_ENCRYPTION
            case _:
                return False
        attribute = self.get_attribute(pdu.attribute_handle)
        return attribute is not None and bool(attribute.permissions & permission)

    def allows(self, pdu, permission, characteristic_property) -> bool:
        attribute = self.get_attribute(pdu.attribute_handle)
        if attribute is None:
            return True  # Answered with "invalid handle".
        if isinstance(attribute, Characteristic) and not attribute.properties & characteristic_property:
            return False
        return bool(attribute.permissions & permission)

    def remove_last_service(self) -> None:
        """Takes the last service out of the database."""
        service = self.services.pop()
        self.attributes = [attribute for attribute in self.attributes if attribute.handle < service.handle]
        self.attributes_by_handle.clear()

    async def send_to_subscribers(self, attribute: Characteristic, value: bytes) -> int:
        """Notifies, or indicates where only that is subscribed, waits for the confirmations, and counts."""
        sends = []
        for bearer, configurations in self.subscribers.items():
            configuration = configurations.get(attribute.handle, b"\0\0")
            if configuration[0] & 1:
                sends.append(self.notify_subscriber(bearer, attribute, value, force=True))
            elif configuration[0] & 2:
                sends.append(self.indicate_subscriber(bearer, attribute, value, force=True))
        await asyncio.wait_for(asyncio.gather(*sends), 10)
        return len(sends)
