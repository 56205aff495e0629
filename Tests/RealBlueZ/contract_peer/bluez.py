"""What is done to the central's side: its adapter and its daemon, as another program would do it."""
import asyncio
import json
import os

BUS = "org.bluez"


class BlueZ:
    """The adapter named by COREBLUETOOTH_ADAPTER (hci0 if unset), and bluetoothd.

    BLUEZ_DAEMON_CONTROL names a program that takes "start" or "stop"; without it systemd is asked.
    """

    def __init__(self) -> None:
        self.adapter = "/org/bluez/" + os.environ.get("COREBLUETOOTH_ADAPTER", "hci0")
        self.control = os.environ.get("BLUEZ_DAEMON_CONTROL")

    async def set_powered(self, on: bool) -> None:
        await self.busctl("set-property", BUS, self.adapter, "org.bluez.Adapter1", "Powered", "b", str(on).lower())

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
        owner = await self.busctl(
            "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "NameHasOwner", "s", BUS)
        if owner["data"] != [True]:
            await self.set_running(True)
        powered = await self.busctl("get-property", BUS, self.adapter, "org.bluez.Adapter1", "Powered")
        if not powered["data"]:
            await self.set_powered(True)

    async def forget(self, addresses: list[str]) -> None:
        """The daemon drops what it remembers of these peers: object, cached services, bond."""
        # Not GetManagedObjects: busctl 252 ends at a dictionary whose keys are numbers (ManufacturerData).
        paths = (await run("busctl", "--system", "--list", "tree", BUS)).split()
        known = {f"{self.adapter}/dev_{address.replace(':', '_')}" for address in addresses}
        for path in known.intersection(paths):
            await self.busctl("call", BUS, self.adapter, "org.bluez.Adapter1", "RemoveDevice", "o", path)

    async def busctl(self, *arguments: str) -> dict:
        answer = await run("busctl", "--system", "--json=short", *arguments)
        return json.loads(answer) if answer.strip() else {}


async def run(*command: str) -> str:
    """The command's output; its error text as an exception where it fails or takes more than 20 seconds."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    try:
        output, errors = await asyncio.wait_for(process.communicate(), 20)
    except TimeoutError:
        process.kill()
        raise RuntimeError(f"{command[0]} took more than 20 s") from None
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {errors.decode().strip()}")
    return output.decode()
