"""The virtual controller's way to this machine's kernel: /dev/vhci, or a UART where the kernel has no hci_vhci.

Debian's kernel for arm64 has none. A controller on a UART is what a Raspberry Pi has.
"""
import asyncio
from pathlib import Path

from bumble.transport import open_transport
from bumble.transport.common import Transport
from bumble.transport.pty import open_pty_transport

VHCI = Path("/dev/vhci")
UART = "/run/contract-uart"


async def open_controller() -> Transport:
    """What the kernel sends to the controller, and takes from it."""
    return await (open_transport("vhci") if VHCI.exists() else open_uart())


async def open_uart() -> Transport:
    """A pseudoterminal with the kernel's line discipline for HCI packets, which ends with btattach."""
    transport = await open_pty_transport(UART)
    process = await asyncio.create_subprocess_exec(
        "btattach", "-B", UART, "-P", "h4", stdout=asyncio.subprocess.DEVNULL)
    close = transport.close

    async def detach() -> None:
        process.terminate()
        await process.wait()
        await close()

    transport.close = detach
    return transport
