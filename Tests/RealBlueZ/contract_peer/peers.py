"""The peers "contract", "second", "heart" and "blinky": what they advertise, what they offer, how they are set back."""
import asyncio
import itertools
import struct
from dataclasses import dataclass, field, replace

from bumble.core import AdvertisingData
from bumble.device import AdvertisingType, Device
from bumble.gatt import Characteristic, Service
from bumble.hci import Address

from . import security
from .channels import serve_echo
from .gatt import CheckingServer, FailingValue, Properties, Value, characteristic, descriptor, uuid
from .air import TX_POWER_DBM
from .link import close

READ, WRITE = Properties.READ, Properties.WRITE
COMMAND, NOTIFY, INDICATE = Properties.WRITE_WITHOUT_RESPONSE, Properties.NOTIFY, Properties.INDICATE
INTERVAL_MS = 100
PDU_BYTES = 31


@dataclass(frozen=True)
class Broadcast:
    """What a peer says on the air: flags and services first, the rest beside them or in the scan response."""

    name: str
    services: list[tuple[int, bytes]]
    manufacturer_data: bytes = b""
    tail: list[tuple[int, bytes]] = field(default_factory=list)
    in_scan_response: bool = False
    is_connectable: bool = True
    is_on: bool = True

    def payloads(self) -> tuple[bytes, bytes]:
        """The advertising data and the scan response."""
        details = [(AdvertisingData.COMPLETE_LOCAL_NAME, self.name.encode())] if self.name else []
        if self.manufacturer_data:
            details.append((AdvertisingData.MANUFACTURER_SPECIFIC_DATA, self.manufacturer_data))
        details += self.tail
        first = [(AdvertisingData.FLAGS, bytes([0x06])), *self.services]
        parts = (first, details) if self.in_scan_response else (first + details, [])
        advertising, response = (bytes(AdvertisingData(part)) for part in parts)
        if max(len(advertising), len(response)) > PDU_BYTES:
            raise ValueError(f"more than {PDU_BYTES} bytes of advertising data")
        return advertising, response


class Peer:
    """One peripheral: a Bumble device, its values by characteristic, its advertising."""

    def __init__(self, device: Device, broadcast: Broadcast, values: dict[Characteristic, Value], others: list[Value]):
        self.device, self.initial_broadcast, self.broadcast = device, broadcast, broadcast
        self.values, self.others = values, others
        self.added: list[Service] = []
        self.user = security.ScriptedUser()
        self.turn = asyncio.Lock()
        device.on("connection", self.on_connection)
        security.prepare(device, lambda: self.user)

    @property
    def server(self) -> CheckingServer:
        return self.device.gatt_server

    @property
    def connections(self) -> list:
        return list(self.device.connections.values())

    def find(self, identifier: str) -> Characteristic | None:
        wanted = uuid(identifier)
        return next((item for item in self.values if item.uuid == wanted), None)

    # Advertising

    async def advertise(self, broadcast: Broadcast) -> None:
        """Says `broadcast` from now on: at once where no central is connected, else once it has gone."""
        advertising, response = broadcast.payloads()
        self.broadcast = broadcast
        kind = (AdvertisingType.UNDIRECTED_CONNECTABLE_SCANNABLE if broadcast.is_connectable
                else AdvertisingType.UNDIRECTED_SCANNABLE)
        async with self.turn:
            await self.device.stop_advertising()
            if broadcast.is_on and not self.connections:
                await self.device.start_advertising(
                    kind, advertising_data=advertising, scan_response_data=response,
                    advertising_interval_min=INTERVAL_MS, advertising_interval_max=INTERVAL_MS)

    def on_connection(self, connection) -> None:
        connection.on("disconnection", lambda reason: asyncio.ensure_future(self.advertise(self.broadcast)))

    # Links

    async def disconnect(self) -> bool:
        """Closes every link: the central sees reason 0x13. Returns whether there was one."""
        connections = self.connections
        for connection in connections:
            await close(connection)
        return bool(connections)

    # Services

    async def add_service(self) -> None:
        await self.add(Service(uuid("C0DE0009"), [characteristic("C0DE0901", READ, Value(b"\x09"))]))

    async def secure(self, user: security.ScriptedUser) -> None:
        """Adds what is for encrypted links only, and pairs as this user says."""
        self.user = user
        made = {
            characteristic("C0DE0601", READ | WRITE, value, is_secure=True): value for value in [Value(b"safe")]
        } | {characteristic("C0DE0602", NOTIFY, value, is_secure=True): value for value in [Value()]}
        service = Service(uuid("C0DE0006"), list(made))
        if await self.add(service):
            self.values |= made
            self.server.secure_subscriptions(service)

    async def add(self, service: Service) -> bool:
        """False, and nothing, if there is one already."""
        if any(known.uuid == service.uuid for known in self.added):
            return False
        self.added.append(service)
        self.server.add_service(service)
        await self.indicate_change(service)
        return True

    async def remove_service(self) -> None:
        """The one that was added last, if any was."""
        if self.added:
            service = self.added.pop()
            self.server.remove_last_service()
            for item in service.characteristics:
                self.values.pop(item, None)
            await self.indicate_change(service)

    async def indicate_change(self, service: Service) -> None:
        await self.server.send_to_subscribers(
            self.device.gatt_service.service_changed_characteristic,
            struct.pack("<HH", service.handle, service.end_group_handle))

    async def reset(self) -> None:
        """Back to the initial state, and silent until `advertise`."""
        await self.advertise(replace(self.broadcast, is_on=False))
        await self.disconnect()
        while self.added:
            await self.remove_service()
        security.forget(self.device)
        self.user = security.ScriptedUser()
        for value in [*self.values.values(), *self.others]:
            value.reset()


async def make_peer(air, name: str, address: str, broadcast: Broadcast, services, values, others=()) -> Peer:
    """Switches a device on and lets it say its broadcast."""
    device = Device(name, address=Address(address), host=await air.host(name))
    device.gatt_server = CheckingServer(device)
    device.add_default_services()
    device.add_services(services)
    await device.power_on()
    peer = Peer(device, broadcast, values, list(others))
    await peer.advertise(broadcast)
    return peer


async def contract_peer(air) -> Peer:
    """The peer that most scenarios talk to."""
    values: dict[Characteristic, Value] = {}

    def make(identifier, properties, value, descriptors=()):
        made = characteristic(identifier, properties, value, descriptors)
        values[made] = value
        return made

    described = [
        ("2901", Value(b"described"), READ), ("2904", Value(bytes.fromhex("04000027010000")), READ),
        ("C0DE0D01", Value(b"\x0d"), READ | WRITE)]
    included = Service(uuid("C0DE0002"), [make("C0DE0201", READ, Value(b"\x07"))], primary=False)
    main = Service(uuid("C0DE0001"), [
        make("C0DE0101", READ | WRITE, Value(b"hello")),
        make("C0DE0102", READ | COMMAND, Value(b"\x00")),
        make("C0DE0103", NOTIFY, Value()),
        make("C0DE0104", INDICATE, Value()),
        make("C0DE0105", READ | NOTIFY | INDICATE, Value(b"\x05")),
        make("C0DE0106", READ | WRITE, Value(bytes(index % 256 for index in range(300)))),
        make("C0DE0107", READ | WRITE, FailingValue()),
        make("C0DE0109", WRITE, Value()),
        make("C0DE010A", READ, Value(b"\x0a")),
        make("C0DE010B", READ, Value(b"\x01")),
        make("C0DE010B", READ, Value(b"\x02")),
        make("C0DE010C", READ, Value(b"\x0c"), [descriptor(*entry) for entry in described]),
    ], included_services=[included])
    echo_value = Value()
    echo = make("C0DE0401", WRITE | COMMAND | NOTIFY, echo_value)
    services = [
        Service(uuid("180F"), [make("2A19", READ | NOTIFY, Value(b"\x64"))]),
        included,  # First: Bumble would put it inside of the service that includes it.
        main,
        Service(uuid("C0DE0003"), [make("C0DE0301", READ, Value(b"\x01"))]),
        Service(uuid("C0DE0003"), [make("C0DE0301", READ, Value(b"\x02"))]),
        Service(uuid("C0DE0004"), [echo])]
    broadcast = Broadcast(
        name="Contract",
        services=[
            (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(uuid("C0DE0001"))),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes(uuid("180F")))],
        manufacturer_data=bytes.fromhex("FFFF010203"),
        tail=[
            (AdvertisingData.TX_POWER_LEVEL, bytes([TX_POWER_DBM])),
            (AdvertisingData.SERVICE_DATA_16_BIT_UUID, bytes(uuid("180F")) + b"\x64")],
        in_scan_response=True)
    peer = await make_peer(
        air, "Contract Peer", "F0:F1:F2:F3:F4:F5", broadcast, services, values, [entry[1] for entry in described])

    serve_echo(peer.device)

    def notify_writer(connection, value):
        # A task of its own, so that the write is answered first.
        asyncio.ensure_future(peer.server.notify_subscriber(connection, echo, value))

    echo_value.on_write = notify_writer
    return peer


async def second_peer(air) -> Peer:
    """The other peer, silent until asked to advertise."""
    value = Value(b"\x32")
    made = characteristic("C0DE0501", READ, value)
    broadcast = Broadcast(
        name="Second",
        services=[(AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(uuid("C0DE0005")))],
        is_on=False)
    return await make_peer(
        air, "Second", "F0:F1:F2:F3:F4:F6", broadcast, [Service(uuid("C0DE0005"), [made])], {made: value})


async def heart_peer(air) -> Peer:
    """A heart rate monitor, silent until asked to advertise: notifies its rate each second."""
    value = Value()
    made = characteristic("2A37", NOTIFY, value)
    broadcast = Broadcast(
        name="Heart",
        services=[(AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes(uuid("180D")))],
        is_on=False)
    peer = await make_peer(
        air, "Heart", "F0:F1:F2:F3:F4:F7", broadcast, [Service(uuid("180D"), [made])], {made: value})

    async def beat() -> None:
        for rate in itertools.cycle(range(60, 90)):
            await asyncio.sleep(1)
            await peer.server.send_to_subscribers(made, bytes([0, rate]))

    peer.beating = asyncio.create_task(beat())
    return peer


async def blinky_peer(air) -> Peer:
    """A board with Nordic Semiconductor's LED Button Service, silent until asked to advertise."""
    service = uuid("00001523-1212-EFDE-1523-785FEABCD123")
    button, led = Value(b"\x00"), Value(b"\x00")
    values = {
        characteristic("00001524-1212-EFDE-1523-785FEABCD123", READ | NOTIFY, button): button,
        characteristic("00001525-1212-EFDE-1523-785FEABCD123", READ | WRITE, led): led}
    broadcast = Broadcast(
        name="Blinky",
        services=[(AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(service))],
        in_scan_response=True, is_on=False)
    return await make_peer(air, "Blinky", "F0:F1:F2:F3:F4:F8", broadcast, [Service(service, list(values))], values)
