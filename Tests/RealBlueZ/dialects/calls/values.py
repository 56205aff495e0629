"""GattService1, GattCharacteristic1 and GattDescriptor1."""
from dbus_next import Variant

from ..client import PEER, Client, short
from .adapter import PROPERTIES
from .device import connect

CHARACTERISTIC = "org.bluez.GattCharacteristic1"
DESCRIPTOR = "org.bluez.GattDescriptor1"
SERVICE = "org.bluez.GattService1"


async def places(client: Client) -> dict[str, str]:
    """The paths of the peer's attributes, by UUID, with the first one of each UUID."""
    found = {}
    for path, interfaces in sorted((await client.tree()).items()):
        for interface in (SERVICE, CHARACTERISTIC, DESCRIPTOR):
            if path.startswith(PEER + "/") and interface in interfaces:
                found.setdefault(short(interfaces[interface]["UUID"].value), path)
    return found


READS = {
    "no options": {},
    "an offset": {"offset": Variant("q", 2)},
    "an offset at the end": {"offset": Variant("q", 5)},
    "an offset beyond the end": {"offset": Variant("q", 6)},
    "an offset of another type": {"offset": Variant("u", 2)},
    "an offset in capitals": {"OFFSET": Variant("q", 1)},
    "an unknown option": {"colour": Variant("s", "red")},
    "a type": {"type": Variant("s", "request")},
    "a device": {"device": Variant("o", "/x")},
}
WRITES = {
    "no options": {},
    "type request": {"type": Variant("s", "request")},
    "type command": {"type": Variant("s", "command")},
    "type reliable": {"type": Variant("s", "reliable")},
    "an unknown type": {"type": Variant("s", "shout")},
    "a type of another type": {"type": Variant("u", 1)},
    "an empty type": {"type": Variant("s", "")},
    "a type in capitals": {"type": Variant("s", "REQUEST")},
    "an unknown option": {"colour": Variant("s", "red")},
    "an offset of another type": {"offset": Variant("i", 1)},
    "an offset": {"offset": Variant("q", 1)},
    "an offset beyond the end": {"offset": Variant("q", 99)},
    "prepare-authorize": {"prepare-authorize": Variant("b", True)},
}


async def calls(client: Client) -> None:
    at = await places(client)
    stored, described = at["C0DE0101"], at["C0DE0D01"]
    for title, options in READS.items():
        await client.call("ReadValue with " + title, stored, CHARACTERISTIC + ".ReadValue", "a{sv}", options)
        await client.call("ReadValue of a descriptor with " + title, described, DESCRIPTOR + ".ReadValue", "a{sv}", options)
    for title, identifier in (
            ("a long value", "C0DE0106"), ("an empty value", "C0DE0105"), ("a value that cannot be read", "C0DE0109"),
            ("a value that fails", "C0DE0107"), ("a value that only notifies", "C0DE0103")):
        await client.call("ReadValue of " + title, at[identifier], CHARACTERISTIC + ".ReadValue", "a{sv}", {})
    await client.call("ReadValue without options", stored, CHARACTERISTIC + ".ReadValue")
    await client.call("ReadValue with options that are texts", stored, CHARACTERISTIC + ".ReadValue", "a{ss}", {})
    await client.call("ReadValue of a service", at["C0DE0001"], CHARACTERISTIC + ".ReadValue", "a{sv}", {})
    await client.call("ReadValue of a descriptor as a characteristic", described, CHARACTERISTIC + ".ReadValue", "a{sv}", {})
    read = CHARACTERISTIC + ".ReadValue"
    await client.together("two reads at once", (stored, read, "a{sv}", {}), (stored, read, "a{sv}", {}))
    await client.together("two reads at once with different offsets", (stored, read, "a{sv}", {}), (stored, read, "a{sv}", {"offset": Variant("q", 1)}))
    await write(client, at)
    for name, path, interface in (("a service", at["C0DE0001"], SERVICE), ("a characteristic", stored, CHARACTERISTIC), ("a descriptor", described, DESCRIPTOR)):
        await client.call(f"Set UUID of {name}", path, PROPERTIES + "Set", "ssv", interface, "UUID", Variant("s", "x"))
        await client.call(f"Set Value of {name}", path, PROPERTIES + "Set", "ssv", interface, "Value", Variant("ay", b"x"))
        await client.call(f"Get of Handle of {name}", path, PROPERTIES + "Get", "ss", interface, "Colour")


async def write(client: Client, at) -> None:
    stored, described, write = at["C0DE0101"], at["C0DE0D01"], CHARACTERISTIC + ".WriteValue"
    for title, options in WRITES.items():
        await client.call("WriteValue with " + title, stored, write, "aya{sv}", b"hello", options)
        await client.call("WriteValue of a descriptor with " + title, described, DESCRIPTOR + ".WriteValue", "aya{sv}", b"\x0d", options)
    for title, identifier, value, options in (
            ("a value that takes commands alone", "C0DE0102", b"x", {}),
            ("a value that takes commands alone, by request", "C0DE0102", b"x", {"type": Variant("s", "request")}),
            ("a value that cannot be written", "C0DE010A", b"x", {}),
            ("a value that cannot be written, by request", "C0DE010A", b"x", {"type": Variant("s", "request")}),
            ("a value that cannot be written, by command", "C0DE010A", b"x", {"type": Variant("s", "command")}),
            ("a value that fails", "C0DE0107", b"\x80", {}),
            ("nothing", "C0DE0101", b"", {}),
            ("512 bytes", "C0DE0106", bytes(512), {}),
            ("513 bytes", "C0DE0106", bytes(513), {}),
            ("600 bytes by command", "C0DE0102", bytes(600), {"type": Variant("s", "command")}),
            ("513 bytes by reliable write", "C0DE0106", bytes(513), {"type": Variant("s", "reliable")})):
        await client.call("WriteValue of " + title, at[identifier], write, "aya{sv}", value, options)
    await client.call("WriteValue of a configuration", at["2902"], DESCRIPTOR + ".WriteValue", "aya{sv}", b"\1\0", {}) if "2902" in at else None
    await client.call("WriteValue of 513 bytes to a descriptor", described, DESCRIPTOR + ".WriteValue", "aya{sv}", bytes(513), {})
    await client.call("WriteValue of a descriptor that cannot be written", at["2901"], DESCRIPTOR + ".WriteValue", "aya{sv}", b"x", {})
    await client.call("WriteValue with a text", stored, write, "sa{sv}", "x", {})
    await client.call("WriteValue without options", stored, write, "ay", b"x")
    await client.together("two writes at once", (stored, write, "aya{sv}", b"hello", {}), (stored, write, "aya{sv}", b"hello", {}))
    await client.together("a write and a read at once", (stored, write, "aya{sv}", b"hello", {}), (stored, CHARACTERISTIC + ".ReadValue", "a{sv}", {}))
    await client.call("ReadValue after all that", stored, CHARACTERISTIC + ".ReadValue", "a{sv}", {})


async def notifications(client: Client) -> None:
    at = await places(client)
    start, stop = CHARACTERISTIC + ".StartNotify", CHARACTERISTIC + ".StopNotify"
    notifying = at["C0DE0103"]
    await client.call("StopNotify without StartNotify", notifying, stop)
    await client.call("StopNotify of what never notifies", at["C0DE0101"], stop)
    await client.call("StartNotify of what never notifies", at["C0DE0101"], start)
    await client.call("StartNotify with an argument", notifying, start, "a{sv}", {})
    await client.together("two StartNotify at once", (notifying, start), (notifying, start))
    await client.until(notifying, CHARACTERISTIC, "Notifying", True)
    await client.call("StartNotify again", notifying, start)
    await client.call("AcquireNotify beside StartNotify", notifying, CHARACTERISTIC + ".AcquireNotify", "a{sv}", {})
    await client.call("ReadValue of what notifies", notifying, CHARACTERISTIC + ".ReadValue", "a{sv}", {})
    async with await client.another() as other:
        await other.call("StopNotify of another program's session", notifying, stop)
        await other.call("StartNotify beside another program's", notifying, start)
        await other.call("AcquireNotify beside another program's StartNotify", notifying, CHARACTERISTIC + ".AcquireNotify", "a{sv}", {})
        await other.call("StopNotify beside another program's", notifying, stop)
    await client.call("StopNotify", notifying, stop)
    await client.call("Get of Notifying after StopNotify", notifying, PROPERTIES + "Get", "ss", CHARACTERISTIC, "Notifying")
    await client.call("StopNotify again", notifying, stop)
    await client.call("StartNotify of what indicates", at["C0DE0104"], start)
    await client.call("StopNotify of what indicates", at["C0DE0104"], stop)


async def sockets(client: Client) -> None:
    await connect(client)
    at = await places(client)
    acquire, release = CHARACTERISTIC + ".AcquireNotify", CHARACTERISTIC + ".StopNotify"
    notifying, echo = at["C0DE0103"], at["C0DE0401"]
    for title, identifier in (("never notifies", "C0DE0101"), ("indicates", "C0DE0104")):
        await client.call("AcquireNotify of what " + title, at[identifier], acquire, "a{sv}", {})
    await client.do(at["C0DE0104"], release) if await client.get(at["C0DE0104"], CHARACTERISTIC, "NotifyAcquired") else None
    await client.call("AcquireNotify without options", notifying, acquire)
    await client.call("AcquireNotify", notifying, acquire, "a{sv}", {"colour": Variant("s", "red")})
    await client.call("Get of NotifyAcquired", notifying, PROPERTIES + "Get", "ss", CHARACTERISTIC, "NotifyAcquired")
    await client.call("AcquireNotify again", notifying, acquire, "a{sv}", {})
    await client.call("StartNotify beside AcquireNotify", notifying, CHARACTERISTIC + ".StartNotify")
    await client.call("StopNotify of AcquireNotify", notifying, release)
    await client.call("StopNotify of AcquireNotify again", notifying, release)
    await client.call("Get of NotifyAcquired after StopNotify", notifying, PROPERTIES + "Get", "ss", CHARACTERISTIC, "NotifyAcquired")
    await client.together("two AcquireNotify at once", (echo, acquire, "a{sv}", {}), (echo, acquire, "a{sv}", {}))
    await client.call("AcquireWrite of what takes no commands", at["C0DE0101"], CHARACTERISTIC + ".AcquireWrite", "a{sv}", {})
    await client.call("AcquireWrite", at["C0DE0102"], CHARACTERISTIC + ".AcquireWrite", "a{sv}", {})
    await client.call("Get of WriteAcquired", at["C0DE0102"], PROPERTIES + "Get", "ss", CHARACTERISTIC, "WriteAcquired")
    await client.call("AcquireWrite again", at["C0DE0102"], CHARACTERISTIC + ".AcquireWrite", "a{sv}", {})
    await client.call("WriteValue beside AcquireWrite", at["C0DE0102"], CHARACTERISTIC + ".WriteValue", "aya{sv}", b"x", {})


async def disconnected(client: Client) -> None:
    at = await places(client)
    notifying, stored = at["C0DE0103"], at["C0DE0101"]
    await client.call("ReadValue without a connection", stored, CHARACTERISTIC + ".ReadValue", "a{sv}", {})
    await client.call("ReadValue without a connection, with an offset of another type", stored, CHARACTERISTIC + ".ReadValue", "a{sv}", {"offset": Variant("u", 1)})
    await client.call("WriteValue without a connection", stored, CHARACTERISTIC + ".WriteValue", "aya{sv}", b"x", {})
    await client.call("WriteValue without a connection, with an unknown type", stored, CHARACTERISTIC + ".WriteValue", "aya{sv}", b"x", {"type": Variant("s", "shout")})
    await client.call("WriteValue by command without a connection", at["C0DE0102"], CHARACTERISTIC + ".WriteValue", "aya{sv}", b"x", {"type": Variant("s", "command")})
    await client.call("ReadValue of a descriptor without a connection", at["C0DE0D01"], DESCRIPTOR + ".ReadValue", "a{sv}", {})
    await client.call("WriteValue of a descriptor without a connection", at["C0DE0D01"], DESCRIPTOR + ".WriteValue", "aya{sv}", b"x", {})
    await client.call("AcquireNotify without a connection", notifying, CHARACTERISTIC + ".AcquireNotify", "a{sv}", {})
    await client.call("AcquireWrite without a connection", at["C0DE0102"], CHARACTERISTIC + ".AcquireWrite", "a{sv}", {})
    await client.call("StopNotify without a connection", notifying, CHARACTERISTIC + ".StopNotify")
    await client.call("StartNotify without a connection, of what never notifies", stored, CHARACTERISTIC + ".StartNotify")
    await client.call("StartNotify without a connection", notifying, CHARACTERISTIC + ".StartNotify")
    await client.call("StartNotify without a connection, again", notifying, CHARACTERISTIC + ".StartNotify")
    await client.call("Get of Notifying without a connection", notifying, PROPERTIES + "Get", "ss", CHARACTERISTIC, "Notifying")
    await client.call("StopNotify without a connection, after StartNotify", notifying, CHARACTERISTIC + ".StopNotify")
    await client.call("Get of MTU without a connection", stored, PROPERTIES + "Get", "ss", CHARACTERISTIC, "MTU")
    await client.call("Get of Value without a connection", stored, PROPERTIES + "Get", "ss", CHARACTERISTIC, "Value")
