"""The air: either in memory, with BlueZ's controller on it, or real controllers on Bumble transports.

Bumble 0.0.236's controllers are meant for Bumble's own host. `VirtualController` adds what a kernel also
relies on; each point names the rule of the Core Specification that it follows.
"""
import asyncio
from dataclasses import dataclass
from math import inf

from bumble import hci, ll
from bumble.controller import Connection, Controller, LegacyAdvertiser
from bumble.hci import HCI_ErrorCode
from bumble.host import Host
from bumble.link import LocalLink
from bumble.transport import open_transport
from bumble.transport.common import AsyncPipeSink

from .controller import open_controller

Report = hci.HCI_LE_Advertising_Report_Event.Report
EventType = hci.HCI_LE_Advertising_Report_Event.EventType
ACTIVE_SCAN = 0x01
RSSI_DBM = -50
TX_POWER_DBM = 4
DUPLICATE_FILTER_S = 0.5
QUIET_LOOKS = 5


@dataclass
class Advertisement(ll.AdvInd):
    """An undirected advertising PDU together with the answer to a scan request."""

    event_type: int = EventType.ADV_IND
    scan_response: bytes = b""

    @property
    def is_connectable(self) -> bool:
        return self.event_type == EventType.ADV_IND

    @property
    def is_scannable(self) -> bool:
        return self.event_type in (EventType.ADV_IND, EventType.ADV_SCAN_IND)


class VirtualAdvertiser(LegacyAdvertiser):
    """Sends every undirected kind of advertising, with its scan response, at the interval that was asked for."""

    def _on_timer_fired(self) -> None:
        self.send_advertising_data()
        # In units of 0.625 ms: Core, Vol 4, Part E, 7.8.5.
        self.timer_handle = asyncio.get_running_loop().call_later(
            self.advertising_interval_min * 0.625 / 1000, self._on_timer_fired)

    def send_advertising_data(self) -> None:
        if not self.enabled or self.advertising_type not in (0x00, 0x02, 0x03):
            return
        event_type = {0x00: EventType.ADV_IND, 0x02: EventType.ADV_SCAN_IND, 0x03: EventType.ADV_NONCONN_IND}
        self.controller.send_advertising_pdu(Advertisement(
            self.address, self.advertising_data, event_type[self.advertising_type], self.scan_response_data))


class VirtualController(Controller):
    """A controller on the in-memory air that a kernel can drive."""

    # One packet for any ATT PDU, and few for the many bytes of a channel; the kernel takes no more than 1024.
    le_acl_data_packet_length = 1020

    def __init__(self, name, **arguments):
        super().__init__(name, **arguments)
        # Without these two features hosts use the legacy commands, which Bumble answers as specified.
        self.le_features &= ~(hci.LeFeatureMask.LL_PRIVACY | hci.LeFeatureMask.LE_EXTENDED_ADVERTISING)
        self.le_legacy_advertiser = VirtualAdvertiser(self)
        self.reported_at: dict[tuple, float] = {}

    def lose(self, connection: Connection) -> None:
        """Ends a link as the supervision timeout does, on this side only: Core, Vol 6, Part B, 4.5.2."""
        self.on_le_disconnected(connection, HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

    def on_advertising_pdu(self, pdu) -> None:
        if not isinstance(pdu, Advertisement):
            super().on_advertising_pdu(pdu)
            return
        if self.le_scan_enable:
            self.report(pdu, pdu.event_type, pdu.data)
            if pdu.is_scannable and self.le_scan_type == ACTIVE_SCAN:
                self.report(pdu, EventType.SCAN_RSP, pdu.scan_response)
        wanted = self.pending_le_connection
        if pdu.is_connectable and wanted and wanted.peer_address == pdu.advertiser_address:
            self.create_le_connection(pdu.advertiser_address)

    def on_le_connect_ind(self, packet) -> None:
        super().on_le_connect_ind(packet)
        # A request that comes as the advertiser stops is not heard, and the link fails to be established:
        # Core, Vol 1, Part F, 2, error 0x3E. Bumble would leave the initiator with a link that has no other side.
        is_ours = packet.advertiser_address == self.le_legacy_advertiser.address
        if is_ours and packet.initiator_address not in self.le_connections:
            self.link.send_ll_control_pdu(
                packet.advertiser_address, packet.initiator_address,
                ll.TerminateInd(HCI_ErrorCode.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR))

    def report(self, pdu: Advertisement, event_type: int, data: bytes) -> None:
        # Filter_Duplicates: Core, Vol 4, Part E, 7.8.11. How long a controller remembers is left to it.
        key = (pdu.advertiser_address, event_type, data)
        now = asyncio.get_running_loop().time()
        if self.filter_duplicates and now < self.reported_at.get(key, -inf) + DUPLICATE_FILTER_S:
            return
        self.reported_at[key] = now
        self.send_hci_packet(hci.HCI_LE_Advertising_Report_Event([Report(
            event_type=event_type, address_type=pdu.advertiser_address.address_type,
            address=pdu.advertiser_address, data=data, rssi=RSSI_DBM)]))

    def on_hci_le_set_scan_enable_command(self, command):
        self.reported_at.clear()
        return super().on_hci_le_set_scan_enable_command(command)

    def on_hci_le_create_connection_cancel_command(self, command):
        # The cancelled command completes, with its own event: Core, Vol 4, Part E, 7.8.13.
        cancelled, self.pending_le_connection = self.pending_le_connection, None
        if cancelled is None:
            return hci.HCI_StatusReturnParameters(HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        asyncio.get_running_loop().call_soon(self.send_hci_packet, hci.HCI_LE_Connection_Complete_Event(
            status=HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0, role=hci.Role.CENTRAL,
            peer_address_type=cancelled.peer_address_type, peer_address=cancelled.peer_address,
            connection_interval=0, peripheral_latency=0, supervision_timeout=0, central_clock_accuracy=0))
        return hci.HCI_StatusReturnParameters(HCI_ErrorCode.SUCCESS)

    def on_hci_disconnect_command(self, command):
        # Without a link of that handle there is no event, only an error: Core, Vol 4, Part E, 7.1.6.
        if self.find_le_connection_by_handle(command.connection_handle) is not None:
            return super().on_hci_disconnect_command(command)
        self._send_hci_command_status(HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.op_code)
        return None

    def on_hci_reset_command(self, command):
        # Core, Vol 4, Part E, 7.3.2.
        self.fall_silent()
        return super().on_hci_reset_command(command)

    def fall_silent(self) -> None:
        """Links are lost without a word to the peers, all activity ends."""
        for connection in self.le_connections.values():
            connection.send_ll_control_pdu(ll.TerminateInd(HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR))
        self.le_connections.clear()
        self.pending_le_connection = None
        self.le_scan_enable = False
        self.le_legacy_advertiser.stop()

    @property
    def is_quiet(self) -> bool:
        return not (self.le_scan_enable or self.pending_le_connection or self.le_legacy_advertiser.enabled)

    def on_hci_read_rssi_command(self, command):
        known = self.find_le_connection_by_handle(command.handle) is not None
        status = HCI_ErrorCode.SUCCESS if known else HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR
        return hci.HCI_Read_RSSI_ReturnParameters(status=status, handle=command.handle, rssi=RSSI_DBM)


class BlueZController(VirtualController):
    """BlueZ's controller. It always uses its public address: BlueZ sets a private one for active scanning, and
    Bumble would then send every data packet from that one, which the peer does not know."""

    random_address = property(lambda self: self._public_address, lambda self, value: None)


class VirtualAir:
    """BlueZ's controller and the peers' controllers on one in-memory link."""

    has_second = has_third = has_centrals = has_blinky = True

    def __init__(self, link: LocalLink):
        self.link = link
        self.transport = None
        self.bluez: BlueZController | None = None

    @classmethod
    async def open(cls) -> "VirtualAir":
        air = cls(LocalLink())
        await air.plug()
        return air

    async def plug(self) -> None:
        """Gives the kernel a controller."""
        self.transport = await open_controller()
        self.bluez = BlueZController(
            "BlueZ", host_source=self.transport.source, host_sink=self.transport.sink, link=self.link,
            public_address="C0:98:E5:49:00:01")

    async def settle(self) -> None:
        """Until BlueZ's controller neither scans nor connects nor advertises, and stays so; a second at most, as another
        program may let it."""
        looks = 0
        for _ in range(50):
            looks = looks + 1 if self.bluez.is_quiet else 0
            if looks == QUIET_LOOKS:
                return
            await asyncio.sleep(0.02)

    async def unplug(self) -> None:
        """Takes it away; the peers lose their links by supervision timeout."""
        transport, self.transport = self.transport, None
        self.bluez.fall_silent()
        self.link.remove_controller(self.bluez)
        await transport.close()

    async def host(self, name: str) -> Host:
        """A host with a controller of its own on the air."""
        controller = VirtualController(name, link=self.link)
        return Host(controller, AsyncPipeSink(controller))

    async def lose(self, device) -> None:
        """Ends the device's links by supervision timeout, on both sides."""
        for controller in list(self.link.controllers):
            for connection in list(controller.le_connections.values()):
                ends = (connection.self_address, connection.peer_address)
                if device.random_address in ends:
                    controller.lose(connection)

    def describe_links(self) -> str:
        return "links: " + (", ".join(
            f"{controller.name} {link.role.name} of {link.peer_address}"
            for controller in self.link.controllers for link in controller.le_connections.values()) or "none")

    async def ended(self) -> None:
        """A controller that was unplugged on purpose is no end."""
        while True:
            transport = self.transport
            if transport is None:
                await asyncio.sleep(1)
                continue
            await transport.source.wait_for_termination()
            if transport is self.transport:
                return


class TransportAir:
    """Real controllers, one for each peer."""

    def __init__(self, transports):
        self.transports = transports
        self.unused = list(transports)
        self.has_second, self.has_third = len(transports) > 1, len(transports) > 2
        self.has_centrals, self.has_blinky = len(transports) > 4, len(transports) > 5

    @classmethod
    async def open(cls, names: list[str]) -> "TransportAir":
        return cls([await open_transport(name) for name in names])

    async def host(self, name: str) -> Host:
        transport = self.unused.pop(0)
        return Host(transport.source, transport.sink)

    async def settle(self) -> None:
        """What the central's controller does is not known here; it has done it by then."""
        await asyncio.sleep(0.5)

    async def lose(self, device) -> None:
        """Resets the controller, so that it falls silent in the middle of the link; the central's supervision
        timeout does the rest."""
        await device.power_off()
        await device.power_on()

    async def unplug(self) -> None:
        raise ValueError("BlueZ's controller is a real one")

    plug = unplug

    def describe_links(self) -> str:
        return "links are known to the controllers only"

    async def ended(self) -> None:
        await self.transports[0].source.wait_for_termination()
