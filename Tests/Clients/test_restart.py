"""The daemon ends and starts again while programs run: they lose it and find it again."""

import pytest

from bluetoothctl import Bluetoothctl
from world import *


@pytest.fixture
def bus(monkeypatch):
    """The address of a bus that outlives the daemon."""
    program = Program("dbus-daemon", "--session", "--nofork", "--nosyslog", "--print-address")
    address = program.expect(r"^(unix:\S+)$").group(1)
    for name in ["DBUS_SYSTEM_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS"]:
        monkeypatch.setenv(name, address)
    yield address
    program.close()


def serve(bus):
    daemon = Program(BLUECTL, "world", "serve", str(HERE / "worlds/devices.json"), "--bus", bus)
    daemon.expect("ready")
    return daemon


def test_bluetoothctl_finds_the_new_daemon(bus):
    daemon = serve(bus)
    ctl = Bluetoothctl()
    try:
        ctl.connect(HEART_RATE)
        daemon.close()
        ctl.expect(rf"\[DEL\] Controller {HCI0} default .*Waiting to connect to bluetoothd")
        daemon = serve(bus)
        ctl.expect("Agent registered")
        ctl.do("list", rf"Controller {HCI0} default \[default\]")
        # Its scan ended with the daemon, and so did the link.
        ctl.connect(HEART_RATE)
    finally:
        ctl.close()
        daemon.close()


def test_bluectl_monitor_scans_again(bus):
    daemon = serve(bus)
    monitor = Program(BLUECTL, "--backend", "bluez", "monitor")
    try:
        monitor.expect("poweredOn")
        monitor.expect(HEART_RATE)
        daemon.close()
        monitor.expect("resetting")
        daemon = serve(bus)
        monitor.expect("poweredOn")
        # It scans without being asked.
        monitor.expect(HEART_RATE)
    finally:
        monitor.close()
        daemon.close()
