"""bluetoothctl, driven by its commands."""

import re

from world import Program


class Bluetoothctl(Program):
    def __init__(self, adapter=None):
        super().__init__("bluetoothctl")
        self.expect("Agent registered")
        if adapter:
            self.do(f"select {adapter}", rf"Controller {adapter} .*\[default\]")

    def do(self, command, expected, timeout=10):
        """Gives a command and waits for what it prints."""
        self.send(command)
        return self.expect(expected, timeout)

    def find(self, *addresses):
        """Scans until the devices are heard."""
        self.send("scan on")
        self.expect("Discovery started")
        for address in addresses:
            start = self.position
            self.expect(rf"\[NEW\] Device {address} ")
            self.position = start
        self.do("scan off", "Discovery stopped")

    def connect(self, address):
        """Finds a device, connects, and waits for its services."""
        self.find(address)
        self.do(f"connect {address}", "Connection successful")
        self.expect(rf"Device {address} ServicesResolved: yes")

    def info(self, address):
        """The lines that describe a device, as name and value."""
        # The answer for an unknown device follows all lines of the known one.
        self.send(f"info {address}")
        text = self.do("info 00:00:00:00:00:00", rf"Device {address} (.*?)Device 00:00:00:00:00:00 not available").group(1)
        return [tuple(line.strip().split(": ", 1)) for line in text.splitlines() if re.match(r"\t\w[\w ]*: ", line)]

    def read(self, attribute):
        """The value of an attribute in the GATT menu, as hexadecimal digits."""
        self.send(f"select-attribute {attribute}")
        self.send("read")
        return self.value(r"Attempting to read (\S+)\n.*?Attribute \1 Value:\s*")

    def value(self, before):
        text = self.expect(before + r"(?:\[[^\n]*\]# )?\s*((?:[0-9a-f]{2} )+) ").groups()[-1]
        return text.replace(" ", "")
