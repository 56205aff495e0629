"""What is done to the central's side: its adapter and its daemon, as another program would do it."""
import asyncio
import itertools
import os

from dbus_next import BusType, Message, MessageType, Variant
from dbus_next.aio import MessageBus

DEVICE = "org.bluez.Device1"
ADAPTER = "org.bluez.Adapter1"
ADVERTISING_MANAGER = "org.bluez.LEAdvertisingManager1"


class DaemonGone(RuntimeError):
    """The daemon left the bus before it had answered, or is not there."""


class BlueZ:
    """The adapter named by COREBLUETOOTH_ADAPTER (hci0 if unset), and bluetoothd.

    BLUEZ_DAEMON_CONTROL names a program that takes "start" or "stop"; without it systemd is asked.
    """

    def __init__(self) -> None:
        self.adapter = "/org/bluez/" + os.environ.get("COREBLUETOOTH_ADAPTER", "hci0")
        self.control = os.environ.get("BLUEZ_DAEMON_CONTROL")
        self.bus: MessageBus | None = None
        self.competitor: asyncio.Task | None = None

    async def set_powered(self, on: bool) -> None:
        for _ in range(100):
            try:
                return await self.call(
                    self.adapter, "org.freedesktop.DBus.Properties.Set", "ssv", ADAPTER, "Powered", Variant("b", on))
            except RuntimeError as error:
                # It is switching the adapter by itself, as it does with one that was plugged in.
                if "org.bluez.Error.Busy" not in str(error):
                    raise
                await asyncio.sleep(0.05)
        raise RuntimeError("the adapter is busy after 5 s")

    async def set_running(self, on: bool) -> None:
        if self.control:
            await run(self.control, "start" if on else "stop")
        elif on:
            await run("systemctl", "start", "bluetooth.service")
        else:
            await run("systemctl", "kill", "--signal=SIGKILL", "bluetooth.service")
        if on:
            await self.set_powered(True)

    async def restore(self) -> None:
        """The daemon runs and the adapter is on."""
        owned = await self.call(
            "/", "org.freedesktop.DBus.NameHasOwner", "s", "org.bluez", destination="org.freedesktop.DBus")
        if not owned:
            await self.set_running(True)
        if not (await self.objects())[self.adapter][ADAPTER]["Powered"].value:
            await self.set_powered(True)

    async def withdraw(self) -> None:
        """The daemon withdraws what programs advertised that are gone; two seconds at most, as one may go on."""
        for _ in range(40):
            manager = (await self.objects())[self.adapter].get(ADVERTISING_MANAGER)
            if not manager or not manager["ActiveInstances"].value:
                return
            await asyncio.sleep(0.05)

    async def forget(self, addresses: list[str]) -> None:
        """The daemon drops what it remembers of these peers, once it has seen their links end."""
        paths = [f"{self.adapter}/dev_{address.replace(':', '_')}" for address in addresses]
        for _ in range(100):
            known = await self.objects()
            if not any(known[path][DEVICE]["Connected"].value for path in paths if path in known):
                break
            await asyncio.sleep(0.05)
        for path in paths:
            if path in known:
                await self.call(self.adapter, ADAPTER + ".RemoveDevice", "o", path)

    async def set_connected(self, address: str, on: bool) -> None:
        """Connects to a device that the daemon knows, or ends the link, as another program would."""
        path = f"{self.adapter}/dev_{address.replace(':', '_')}"
        await self.call(path, DEVICE + (".Connect" if on else ".Disconnect"))

    async def wait_for_adapter(self) -> None:
        """Until the daemon has the adapter, and it is on."""
        for _ in range(200):
            if self.adapter in await self.objects():
                await self.set_powered(True)
                return
            await asyncio.sleep(0.05)
        raise RuntimeError("no adapter after 10 s")

    async def compete(self, address: str) -> None:
        """Lets bluetoothctl scan, and connect to a device and leave it, until `stop_competing`."""
        process = await asyncio.create_subprocess_exec(
            "bluetoothctl", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL)

        async def run() -> None:
            try:
                turns = itertools.cycle([f"connect {address}", f"disconnect {address}"])
                for command in itertools.chain(["scan on"], turns):
                    process.stdin.write(command.encode() + b"\n")
                    await process.stdin.drain()
                    await asyncio.sleep(3)
            finally:
                process.kill()
                await process.wait()

        await self.stop_competing()
        self.competitor = asyncio.create_task(run())

    async def stop_competing(self) -> None:
        task, self.competitor = self.competitor, None
        if task is None:
            return
        ended = task.done()
        task.cancel()
        await asyncio.wait([task])
        if ended:
            raise RuntimeError(f"the other program ended by itself: {task.exception()!r}")

    async def objects(self) -> dict:
        return await self.call("/", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")

    async def call(self, path, member, signature="", *body, destination="org.bluez"):
        """The first result of a call; its error as an exception."""
        if self.bus is None or not self.bus.connected:
            self.bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
        interface, _, method = member.rpartition(".")
        reply = await asyncio.wait_for(self.bus.call(Message(
            destination=destination, path=path, interface=interface, member=method, signature=signature,
            body=list(body))), 20)
        if reply.message_type == MessageType.ERROR:
            name = reply.error_name.removeprefix("org.freedesktop.DBus.Error.")
            # The bus may try to start it, in vain.
            gone = name in ("NoReply", "ServiceUnknown") or name.startswith("Spawn.")
            raise (DaemonGone if gone else RuntimeError)(
                f"{method} {path}: {reply.error_name}: {' '.join(map(str, reply.body))}")
        return reply.body[0] if reply.body else None


async def run(*command: str) -> None:
    """Runs the command; its error text is an exception where it fails or takes more than 25 seconds."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE)
    try:
        _, errors = await asyncio.wait_for(process.communicate(), 25)
    except TimeoutError:
        process.kill()
        raise RuntimeError(f"{command[0]} took more than 25 s") from None
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {errors.decode().strip()}")
