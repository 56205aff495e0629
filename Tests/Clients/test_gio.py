"""GLib's GDBusObjectManagerClient, on which blueman and GNOME are built."""

from world import *


def test_objects_come_change_and_go(bluetoothctl):
    objects = Program(SYSTEM_PYTHON, str(HERE / "programs/gio_objects.py"))
    try:
        adapter = "org.bluez.Adapter1 org.bluez.AdvertisementMonitorManager1 org.bluez.GattManager1 " \
            "org.bluez.LEAdvertisingManager1"
        start = objects.expect(r"^(added.*)\nready$").group(1).splitlines()
        assert start == [
            "added /org/bluez org.bluez.AgentManager1 org.bluez.ProfileManager1", f"added /org/bluez/hci0 {adapter}",
            f"added /org/bluez/hci1 {adapter}"]
        ctl = bluetoothctl()
        beacon = "/org/bluez/hci0/dev_C0_00_00_00_00_06"
        device = "/org/bluez/hci0/dev_C0_00_00_00_00_01"
        ctl.find(HEART_RATE, BEACON)
        objects.expect(f"^added {beacon} org.bluez.Device1$")
        objects.expect(f"^changed {device} invalidated RSSI TxPower$")
        objects.expect(f"^removed {beacon}$")
        objects.expect(r"^changed /org/bluez/hci0 Discovering invalidated$")
        ctl.do(f"connect {HEART_RATE}", "Connection successful")
        objects.expect(f"^changed {device} Connected invalidated$")
        objects.expect(f"^added {device}/service0008 org.bluez.GattService1$")
        objects.expect(f"^added {device}/service0008/char0009 org.bluez.GattCharacteristic1$")
        objects.expect(f"^changed {device} ServicesResolved UUIDs invalidated$")
    finally:
        objects.close()
