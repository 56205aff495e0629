"""L2CAP channels: the ones that a peer echoes, and a central's end of one."""
import asyncio

from bumble.device import Device
from bumble.l2cap import (
    L2CAP_LE_Credit_Based_Connection_Response, LeCreditBasedChannel, LeCreditBasedChannelSpec)

ECHO_PSM, SECURE_ECHO_PSM = 0x90, 0x92
CHUNK = 16384
Result = L2CAP_LE_Credit_Based_Connection_Response.Result
PERIOD = 251
PATTERN = bytes(range(PERIOD)) * (CHUNK // PERIOD + 2)


def pattern(start: int, count: int) -> bytes:
    """What goes over a channel, at most CHUNK bytes: byte i of a direction is i mod 251."""
    first = start % PERIOD
    return PATTERN[first:first + count]


def forget_when_closed(channel: LeCreditBasedChannel) -> None:
    """Bumble 0.0.236 keeps the number that the other side gave a channel, which may give it to the next one."""
    def forget() -> None:
        known = channel.manager.le_coc_channels.get(channel.connection.handle, {})
        if known.get(channel.destination_cid) is channel:
            del known[channel.destination_cid]

    channel.on(channel.EVENT_CLOSE, forget)


def serve_echo(device: Device) -> None:
    """Sends back what comes, on one channel for all and on one for encrypted links."""
    def accept(channel: LeCreditBasedChannel) -> None:
        forget_when_closed(channel)
        channel.sink = channel.write

    for psm in (ECHO_PSM, SECURE_ECHO_PSM):
        device.create_l2cap_server(LeCreditBasedChannelSpec(psm=psm), accept)
    manager = device.l2cap_channel_manager
    unchecked = manager.on_l2cap_le_credit_based_connection_request

    def checked(connection, cid, request) -> None:
        if request.le_psm != SECURE_ECHO_PSM or connection.is_encrypted:
            unchecked(connection, cid, request)
            return
        manager.send_control_frame(connection, cid, L2CAP_LE_Credit_Based_Connection_Response(
            identifier=request.identifier, destination_cid=0, mtu=0, mps=0, initial_credits=0,
            result=Result.CONNECTION_REFUSED_INSUFFICIENT_AUTHENTICATION))

    manager.on_l2cap_le_credit_based_connection_request = checked


class ChannelEnd:
    """A central's end: sends the pattern, and counts what comes as long as it is the pattern."""

    def __init__(self, channel: LeCreditBasedChannel):
        self.channel = channel
        self.sent = self.received = 0
        self.is_intact = True
        self.changed = asyncio.Event()
        channel.sink = self.take
        forget_when_closed(channel)

    def take(self, data: bytes) -> None:
        for start in range(0, len(data), CHUNK):
            piece = data[start:start + CHUNK]
            self.is_intact = self.is_intact and piece == pattern(self.received, len(piece))
            self.received += len(piece)
        self.changed.set()

    async def send(self, count: int) -> None:
        end = self.sent + count
        while self.sent < end:
            piece = pattern(self.sent, min(CHUNK, end - self.sent))
            self.channel.write(piece)
            self.sent += len(piece)
            await self.channel.drain()

    async def receive(self, count: int) -> None:
        """Waits for so many bytes in all."""
        while self.received < count and self.is_intact:
            self.changed.clear()
            await self.changed.wait()
        if not self.is_intact:
            raise ValueError(f"a wrong byte among the first {self.received}")
