"""The calls, in the order in which they are made."""
from . import adapter, advertising, applications, device, documents, managers, monitors, power, removal, values

GROUPS = {
    "documents": documents.before,
    "adapter": adapter.calls,
    "agents": managers.agents,
    "profiles": managers.profiles,
    "device": device.before_connecting,
    "connecting": device.connecting,
    "attributes": documents.connected,
    "values": values.calls,
    "notifications": values.notifications,
    "connected": device.connected,
    "pairing": device.pairing,
    "disconnected": values.disconnected,
    "applications": applications.calls,
    "advertisements": advertising.calls,
    "power": power.off,
    "removal": removal.calls,
    # Last, because bluetoothd may die when the link ends.
    "sockets": values.sockets,
}
# The calls to interfaces that some versions of `bluetoothd` export only with `--experimental`.
EXPERIMENTAL = {"monitors": monitors.calls}
