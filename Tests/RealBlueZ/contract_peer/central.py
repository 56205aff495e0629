"""The centrals "one" and "two": what a phone does with what BlueZ serves, logged as lines."""
import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable

from bumble.att import ATT_Error
from bumble.core import ProtocolError
from bumble.device import Advertisement, Device
from bumble.hci import Address, HCI_ErrorCode
from bumble.l2cap import L2capError, LeCreditBasedChannelSpec

from . import security
from .channels import ChannelEnd, Result
from .gatt import CheckingServer, short, uuid
from .heard import line
from .link import Link, Lost

CONNECT_DEADLINE_S, LINES_DEADLINE_S = 25, 25
MTU = 247
SECURITY_CODES = {0x05, 0x0F}
SECURITY_RESULTS = {
    Result.CONNECTION_REFUSED_INSUFFICIENT_AUTHENTICATION, Result.CONNECTION_REFUSED_INSUFFICIENT_ENCRYPTION}
REASONS = {
    HCI_ErrorCode.REMOTE_USER_TERMINATED_CONNECTION_ERROR: "remote",
    HCI_ErrorCode.REMOTE_DEVICE_TERMINATED_CONNECTION_DUE_TO_POWER_OFF_ERROR: "remote",
    HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR: "timeout",
    HCI_ErrorCode.AUTHENTICATION_FAILURE_ERROR: "authentication",
    HCI_ErrorCode.PIN_OR_KEY_MISSING_ERROR: "authentication",
}


class Refused(Exception):
    """The operation needs security, and pairing failed."""


class Central:
    """One Bumble device as a central. Operations of a link are done in the order in which they were asked for."""

    def __init__(self, device: Device):
        self.device = device
        self.lines: list[str] = []
        self.changed = asyncio.Event()
        self.link: Link | None = None
        self.logs_pairing = False
        self.turn = asyncio.Lock()
        self.tasks: set[asyncio.Task] = set()
        self.user = security.AskedUser(self.log)
        security.prepare(device, lambda: self.user)

    def log(self, text: str) -> None:
        self.lines.append(text)
        self.changed.set()

    async def wait_for_lines(self, count: int) -> list[str]:
        """The lines, once there are so many or the deadline passes."""
        async def enough() -> None:
            while len(self.lines) < count:
                self.changed.clear()
                await self.changed.wait()
        try:
            await asyncio.wait_for(enough(), LINES_DEADLINE_S)
        except TimeoutError:
            logging.warning("%d lines of %d: %s", len(self.lines), count, self.lines)
        return self.lines

    async def reset(self) -> None:
        """No link, no keys, nothing logged."""
        if self.link:
            await self.link.leave()
        for task in list(self.tasks):
            task.cancel()
        security.forget(self.device)
        self.user = security.AskedUser(self.log)
        self.logs_pairing = False
        self.lines = []

    # The air

    async def listen(self, seconds: float) -> list[str]:
        """What is advertised. Where advertisements take turns, one may be heard with the other's scan response for a
        moment, while the kernel changes the two one after the other: what is much rarer than the rest is left out."""
        heard: Counter[str] = Counter()
        await self.scan(lambda advertisement: heard.update([line(advertisement)]), asyncio.sleep(seconds))
        return sorted(text for text, count in heard.items() if count * 4 >= max(heard.values()))

    async def scan(self, handler: Callable, until: Awaitable) -> None:
        self.device.on("advertisement", handler)
        await self.device.start_scanning()
        try:
            await until
        finally:
            self.device.remove_listener("advertisement", handler)
            await self.device.stop_scanning()

    async def find(self, service: str | None) -> Address:
        """The address of who advertises a service, or of any connectable advertiser."""
        found = asyncio.get_running_loop().create_future()
        wanted = short(bytes(uuid(service))) if service else None

        def check(advertisement: Advertisement) -> None:
            words = line(advertisement).replace("services=", "").split()
            if advertisement.is_connectable and (wanted is None or wanted in words) and not found.done():
                found.set_result(advertisement.address)

        await self.scan(check, found)
        return found.result()

    async def connect(self, service: str | None) -> int:
        """A link that fails before everything is found is made again, until the deadline.

        Returns how many failed."""
        if self.link:
            raise ValueError("connected already")
        end = time.monotonic() + CONNECT_DEADLINE_S
        failed = 0
        while True:
            try:
                await asyncio.wait_for(self.attempt(service), end - time.monotonic())
                return failed
            except (Lost, ProtocolError) as error:
                logging.warning("connecting again: %r", error)
                failed += 1

    async def attempt(self, service: str | None) -> None:
        """Connects, and finds all attributes; where the other side wants security first, that comes later."""
        address = await self.find(service)
        connection = await self.device.connect(address, timeout=10)
        link = self.link = Link(connection, self.log)
        connection.on("disconnection", lambda reason: self.on_disconnection(link, reason))
        connection.on("security_request", lambda auth_req: self.on_security_request(link))
        set_up, asked = self.start(self.set_up(link)), self.start(link.is_asked_for_security.wait())
        try:
            await asyncio.wait({set_up, asked}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if self.link is link:
                await link.leave()
            raise
        asked.cancel()
        if set_up.cancelled() or self.link is not link:
            raise Lost
        if set_up.done():
            set_up.result()
        link.is_reported = True
        self.log("connected")

    async def set_up(self, link: Link) -> None:
        async with self.turn:
            # First, as phones do: bluetoothd takes nothing from a bonded device before that.
            if self.has_keys(link):
                await link.connection.encrypt()
            await link.client.request_mtu(MTU)
            await link.discover()
            await link.watch_services()

    def has_keys(self, link: Link) -> bool:
        return str(link.connection.peer_address) in self.device.keystore.all_keys

    def on_security_request(self, link: Link) -> None:
        """The other side has keys. Without any, pairing makes new ones: Core, Vol 3, Part H, 2.4.6."""
        if not self.has_keys(link):
            link.is_asked_for_security.set()
            self.start(self.start_pairing(link))

    def on_disconnection(self, link: Link, reason: int) -> None:
        self.link = None
        for task in list(self.tasks):
            task.cancel()
        self.user.withdraw()
        self.close_channel(link)
        if link.is_reported:
            self.log("disconnected " + ("local" if link.is_leaving else REASONS.get(reason, f"unknown {reason:#x}")))

    # Operations

    def operate(self, operation: Callable[[Link], Awaitable]) -> None:
        """Does it on this link, after what was asked for before; nothing comes of it once the link has ended."""
        link = self.linked()

        async def run() -> None:
            async with self.turn:
                if self.link is link:
                    await operation(link)

        self.start(run())

    def start(self, work: Awaitable) -> asyncio.Task:
        """Does something that ends with the link at the latest."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.finish)
        return task

    def finish(self, task: asyncio.Task) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and task.exception() and self.link and self.link.is_reported:
            logging.error("a central's operation failed", exc_info=task.exception())
            self.log(f"failed: {task.exception()!r}")

    def linked(self) -> Link:
        if self.link is None:
            raise ValueError("not connected")
        return self.link

    def ask(self, words: str, operation: Callable[[Link], Awaitable[str | None]]) -> None:
        """Logs the words with the result of the operation, which may make the two pair."""
        async def run(link: Link) -> None:
            try:
                answer = await self.secured(link, lambda: operation(link))
                self.log(words if answer is None else f"{words} {answer}")
            except Refused:
                self.log(words + " ! 5")
            except ATT_Error as error:
                self.log(f"{words} ! {error.error_code}")
            except L2capError as error:
                is_unknown = error.error_code == Result.CONNECTION_REFUSED_LE_PSM_NOT_SUPPORTED
                self.log(f"{words} ! " + ("operationNotSupported" if is_unknown else f"L2CAP {error.error_code}"))

        self.operate(run)

    async def secured(self, link: Link, operation: Callable[[], Awaitable]):
        """Repeats what needs security, once the two have paired."""
        try:
            return await operation()
        except ATT_Error as error:
            if error.error_code not in SECURITY_CODES:
                raise
        except L2capError as error:
            if error.error_code not in SECURITY_RESULTS:
                raise
        try:
            await self.pair(link)
        except ProtocolError as error:
            raise Refused from error
        return await operation()

    async def pair(self, link: Link) -> None:
        try:
            await link.connection.pair()
        except ProtocolError:
            self.user.withdraw()
            if self.logs_pairing:
                self.log("pairing failed")
            raise
        if self.logs_pairing:
            self.log("paired")

    async def start_pairing(self, link: Link) -> None:
        """A refusal has been logged."""
        try:
            await self.pair(link)
        except ProtocolError as error:
            logging.info("pairing: %s", error)

    def pairing(self, capability: str) -> None:
        """What its user can see and type from now on; pairing is logged from now on, too."""
        self.user.io_capability = security.CAPABILITIES[capability]
        self.logs_pairing = True

    # Channels

    def open_channel(self, psm: int) -> None:
        async def open_it(link: Link) -> str:
            channel = await link.connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=psm))
            link.channel = ChannelEnd(channel)
            channel.on(channel.EVENT_CLOSE, lambda: self.close_channel(link))
            return "open"

        self.ask("channel", open_it)

    def close_channel(self, link: Link) -> None:
        ended, link.channel = link.channel, None
        if ended:
            self.log("channel closed")

    async def drop_channel(self) -> None:
        """Closes the channel; the side that closes it reports nothing."""
        dropped, self.link.channel = self.channel(), None
        await dropped.channel.disconnect()

    def channel(self) -> ChannelEnd:
        if self.linked().channel is None:
            raise ValueError("no channel is open")
        return self.link.channel

    def send(self, count: int) -> None:
        """Beside the other operations: it lasts as long as the other side takes to make room."""
        self.start(self.channel().send(count))


async def make_central(air, name: str, address: str) -> Central:
    device = Device(name, address=Address(address), host=await air.host(name))
    device.gatt_server = CheckingServer(device)
    device.gatt_server.max_mtu = MTU  # BlueZ is a client, too, and asks for more.
    device.add_default_services()
    central = Central(device)
    await device.power_on()
    return central
