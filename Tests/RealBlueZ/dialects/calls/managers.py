"""AgentManager1 and ProfileManager1."""
from dbus_next import Variant

from ..client import ADAPTER, ROOT, Client

AGENTS = "org.bluez.AgentManager1."
PROFILES = "org.bluez.ProfileManager1."
CAPABILITIES = ("DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay", "", "displayonly", "External", "Nothing")


async def agents(client: Client) -> None:
    await client.call("UnregisterAgent without one", ROOT, AGENTS + "UnregisterAgent", "o", "/agent")
    await client.call("RequestDefaultAgent without one", ROOT, AGENTS + "RequestDefaultAgent", "o", "/agent")
    for capability in CAPABILITIES:
        title = f"RegisterAgent with the capability {capability or '(empty)'}"
        if await client.call(title, ROOT, AGENTS + "RegisterAgent", "os", "/agent", capability):
            await client.do(ROOT, AGENTS + "UnregisterAgent", "o", "/agent")
    await client.call("RegisterAgent", ROOT, AGENTS + "RegisterAgent", "os", "/agent", "DisplayYesNo")
    await client.call("RegisterAgent again", ROOT, AGENTS + "RegisterAgent", "os", "/agent", "DisplayYesNo")
    await client.call("RegisterAgent with another path", ROOT, AGENTS + "RegisterAgent", "os", "/other", "DisplayYesNo")
    await client.call("RegisterAgent again, with an unknown capability", ROOT, AGENTS + "RegisterAgent", "os", "/agent", "Nothing")
    await client.call("RequestDefaultAgent", ROOT, AGENTS + "RequestDefaultAgent", "o", "/agent")
    await client.call("RequestDefaultAgent again", ROOT, AGENTS + "RequestDefaultAgent", "o", "/agent")
    await client.call("RequestDefaultAgent of another path", ROOT, AGENTS + "RequestDefaultAgent", "o", "/other")
    async with await client.another() as other:
        await other.call("RequestDefaultAgent of another program's agent", ROOT, AGENTS + "RequestDefaultAgent", "o", "/agent")
        await other.call("UnregisterAgent of another program's agent", ROOT, AGENTS + "UnregisterAgent", "o", "/agent")
        await other.call("RegisterAgent with another program's path", ROOT, AGENTS + "RegisterAgent", "os", "/agent", "")
    await client.call("UnregisterAgent of another path", ROOT, AGENTS + "UnregisterAgent", "o", "/other")
    await client.call("UnregisterAgent", ROOT, AGENTS + "UnregisterAgent", "o", "/agent")
    await client.call("UnregisterAgent again", ROOT, AGENTS + "UnregisterAgent", "o", "/agent")
    await client.call("RegisterAgent without a capability", ROOT, AGENTS + "RegisterAgent", "o", "/agent")
    await client.call("RegisterAgent with a text as its path", ROOT, AGENTS + "RegisterAgent", "ss", "/agent", "")
    await client.call("RegisterAgent at an adapter", ADAPTER, AGENTS + "RegisterAgent", "os", "/agent", "")


UUID = "c0de0f01-7a3d-4c5b-9e1f-2b6a8d4c0f01"
OPTIONS = {
    "an unknown option": {"Colour": Variant("s", "red")},
    "a Name of another type": {"Name": Variant("u", 1)},
    "a Channel out of range": {"Channel": Variant("q", 32)},
    "a PSM of another type": {"PSM": Variant("u", 1)},
    "an unknown Role": {"Role": Variant("s", "x")},
    "a ServiceRecord that is none": {"ServiceRecord": Variant("s", "<x")},
    "Features of another type": {"Features": Variant("b", True)},
}


async def profiles(client: Client) -> None:
    register, path = PROFILES + "RegisterProfile", "/profile"
    await client.call("UnregisterProfile without one", ROOT, PROFILES + "UnregisterProfile", "o", path)
    uuids = {"a UUID that is none": ("heart", {}), "an empty UUID": ("", {})}
    for title, (uuid, options) in (uuids | {title: (UUID, options) for title, options in OPTIONS.items()}).items():
        if await client.call("RegisterProfile with " + title, ROOT, register, "osa{sv}", path, uuid, options):
            await client.do(ROOT, PROFILES + "UnregisterProfile", "o", path)
    await client.call("RegisterProfile", ROOT, register, "osa{sv}", path, UUID, {})
    await client.call("RegisterProfile again", ROOT, register, "osa{sv}", path, UUID, {})
    await client.call("RegisterProfile of the same UUID", ROOT, register, "osa{sv}", path + "2", UUID, {})
    await client.call("RegisterProfile of a known path with another UUID", ROOT, register, "osa{sv}", path, "1234", {})
    async with await client.another() as other:
        await other.call("UnregisterProfile of another program's", ROOT, PROFILES + "UnregisterProfile", "o", path)
    await client.call("UnregisterProfile", ROOT, PROFILES + "UnregisterProfile", "o", path)
    await client.call("UnregisterProfile again", ROOT, PROFILES + "UnregisterProfile", "o", path)
    await client.call("RegisterProfile without options", ROOT, register, "os", path, UUID)
