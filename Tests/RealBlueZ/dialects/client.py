"""A client of BlueZ that makes any given calls, and records the answers as comparable lines."""
import asyncio
import json
import re

from dbus_next import BusType, Message, MessageType, Variant
from dbus_next.aio import MessageBus

SUFFIX = "-7A3D-4C5B-9E1F-2B6A8D4C0F01"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BASE = "-0000-1000-8000-00805F9B34FB"
ROOT = "/org/bluez"
ADAPTER = ROOT + "/hci0"
PEER = ADAPTER + "/dev_F0_F1_F2_F3_F4_F5"
# The longest time of a call to the daemon, unless it waits for another call.
DEADLINE_S = 45
# The time for which a client waits for the daemon to call one of its objects.
PATIENCE_S = 3
CALLED = (
    "Release", "Activate", "DeviceFound", "DeviceLost", "RequestConfirmation", "RequestAuthorization", "Cancel")


def short(uuid: str) -> str:
    """A UUID in the peer's notation: eight digits for a UUID of the peer, four for an assigned one."""
    uuid = uuid.upper()
    return uuid.removesuffix(SUFFIX) if uuid.endswith(SUFFIX) else uuid.removesuffix(BASE).removeprefix("0000")


def plain(value):
    """A D-Bus value for JSON, with the types of variants, bytes as hex, and UUIDs sorted, as their order has no meaning."""
    if isinstance(value, Variant):
        return f"{value.signature} {json.dumps(plain(value.value), sort_keys=True)}"
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    if not isinstance(value, list):
        return value
    items = [plain(item) for item in value]
    return sorted(items) if all(isinstance(item, str) and UUID.fullmatch(item) for item in items) else items


class Log:
    """The records, each with a unique name and lines."""

    def __init__(self, records: dict[str, list[str]]):
        self.records = records
        self.aliases: list[tuple[str, str]] = []

    def add(self, name: str, lines: list[str]) -> None:
        assert name not in self.records, f"there are two records of the name {name!r}"
        self.records[name] = [self.readable(line) for line in lines]

    def readable(self, line: str) -> str:
        """The line, with names instead of paths that depend on handles and of values that depend on the machine."""
        for text, alias in self.aliases:
            line = line.replace(text, alias)
        return re.sub(r":1\.\d+", ":1.n", line)

    def call_it(self, text: str, alias: str) -> None:
        self.aliases.append((text, alias))
        # Longer texts contain shorter ones.
        self.aliases.sort(key=lambda entry: -len(entry[0]))


class Client:
    """A bus connection, and the objects that it exports."""

    def __init__(self, bus: MessageBus, log: Log):
        self.bus, self.log = bus, log
        self.objects: dict[str, dict[str, dict[str, Variant]]] = {}
        self.called: list[tuple[str, str]] = []
        self.changes = asyncio.Event()
        self.signals: list[Message] = []

    @classmethod
    async def open(cls, log: Log) -> "Client":
        client = cls(await MessageBus(bus_type=BusType.SYSTEM, negotiate_unix_fd=True).connect(), log)
        client.bus.add_message_handler(client.received)
        await client.send("/", "org.freedesktop.DBus.AddMatch", "s", "type='signal',sender='org.bluez'",
                          destination="org.freedesktop.DBus")
        return client

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_) -> None:
        self.bus.disconnect()

    async def another(self) -> "Client":
        """Another program."""
        return await Client.open(self.log)

    # Calls

    async def send(self, path, member, signature="", *body, destination="org.bluez") -> Message:
        """The reply or the error of a call; a member without an interface has no dot."""
        interface, _, method = member.rpartition(".")
        return await asyncio.wait_for(self.bus.call(Message(
            destination=destination, path=path, interface=interface or None, member=method, signature=signature,
            body=list(body))), DEADLINE_S)

    async def do(self, path, member, signature="", *body):
        """The result of a call that must succeed."""
        reply = await self.send(path, member, signature, *body)
        assert reply.message_type != MessageType.ERROR, f"{member} at {path}: {reply.error_name} {reply.body}"
        return reply.body[0] if reply.body else None

    async def call(self, name, path, member, signature="", *body) -> bool:
        """Records the answer to a call, and returns whether it succeeded."""
        try:
            reply = await self.send(path, member, signature, *body)
        except TimeoutError:
            self.log.add(name, ["no answer"])
            return False
        self.log.add(name, [answer(reply)])
        return reply.message_type != MessageType.ERROR

    async def together(self, name, *calls) -> None:
        """Records the answers to several calls that are made without waiting, in the order of the calls."""
        replies = await asyncio.gather(*(self.send(*call) for call in calls))
        self.log.add(name, [f"{number}: {answer(reply)}" for number, reply in enumerate(replies, 1)])

    async def get(self, path, interface, name):
        """A property's value; None if the property does not exist."""
        reply = await self.send(path, "org.freedesktop.DBus.Properties.Get", "ss", interface, name)
        return reply.body[0].value if reply.message_type == MessageType.METHOD_RETURN else None

    async def set(self, path, interface, name, value: Variant):
        await self.do(path, "org.freedesktop.DBus.Properties.Set", "ssv", interface, name, value)

    async def until(self, path, interface, name, value) -> None:
        """Waits for a property to have a value."""
        async def look():
            while True:
                self.changes.clear()
                if await self.get(path, interface, name) == value:
                    return
                await self.changes.wait()
        await asyncio.wait_for(look(), DEADLINE_S)

    async def tree(self) -> dict:
        return await self.do("/", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")

    # Messages of the daemon

    def received(self, message: Message):
        if message.message_type == MessageType.SIGNAL:
            self.signals.append(message)
            self.changes.set()
            return None
        if message.message_type != MessageType.METHOD_CALL:
            return None
        match message.member:
            case "GetManagedObjects":
                below = message.path.rstrip("/") + "/"
                return Message.new_method_return(message, "a{oa{sa{sv}}}", [{
                    path: content for path, content in self.objects.items()
                    if path == message.path or path.startswith(below)}])
            case "GetAll" if message.body[0] in self.objects.get(message.path, {}):
                return Message.new_method_return(message, "a{sv}", [self.objects[message.path][message.body[0]]])
            case member if member in CALLED:
                self.called.append((message.path, member))
                self.changes.set()
                return Message.new_method_return(message)
        return Message.new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", "There is no such method")

    async def called_at(self, path, count=1) -> list[str]:
        """The first methods of an exported object that the daemon calls; fewer if no further call arrives in time."""
        async def look():
            while len(found := [member for place, member in self.called if place == path]) < count:
                self.changes.clear()
                await self.changes.wait()
            return found[:count]
        try:
            return await asyncio.wait_for(look(), PATIENCE_S)
        except TimeoutError:
            return [member for place, member in self.called if place == path]


def answer(reply: Message) -> str:
    if reply.message_type == MessageType.ERROR:
        text = " ".join(map(str, reply.body)).strip()
        return f"{reply.error_name}: {text}"
    return f"returns {reply.signature or 'nothing'} {json.dumps(plain(reply.body), sort_keys=True)}".removesuffix(" []")
