"""An emulated world on a message bus, and programs that run there."""

import os
import shutil
import subprocess
import sys
import threading
import re
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
BLUECTL = os.environ.get("BLUECTL") or str(HERE.parent.parent / ".build/debug/bluectl")
SYSTEM_PYTHON = "/usr/bin/python3"
# Debian's package bluez-test-scripts.
BLUEZ_EXAMPLES = Path("/usr/share/doc/bluez-test-scripts/examples")

HEART_RATE = "C0:00:00:00:00:01"
ATTRIBUTES = "C0:00:00:00:00:02"
PASSKEY_LOCK = "C0:00:00:00:00:03"
COMPARISON_LOCK = "C0:00:00:00:00:04"
PLAIN_LOCK = "C0:00:00:00:00:05"
BEACON = "C0:00:00:00:00:06"
HCI0 = "00:1A:7D:00:00:01"
HCI1 = "00:1A:7D:00:00:02"


def uuid(short):
    return f"0000{short.lower()}-0000-1000-8000-00805f9b34fb"


class World:
    """`bluectl world run FILE -- …` around a shell that prints its variables and waits for its input to end."""

    VARIABLES = ["DBUS_SYSTEM_BUS_ADDRESS", "BLUETOOTH_FORCE_DBUS_LE_VERSION"]

    def __init__(self, file, *options):
        script = "".join(f'echo "${name}"; ' for name in self.VARIABLES) + "exec cat >/dev/null"
        self.process = subprocess.Popen(
            [BLUECTL, "world", "run", *options, str(HERE / "worlds" / file), "--", "sh", "-c", script],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.environment = {name: self.process.stdout.readline().strip() for name in self.VARIABLES}
        self.address = self.environment["DBUS_SYSTEM_BUS_ADDRESS"]
        assert self.address, f"bluectl world run ended with status {self.process.wait(10)}"
        # No client may fall back to this machine's own bus.
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.address

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(10) == 0


class Program:
    """A running program whose output a test reads up to what it waits for."""

    ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r|[\x01\x02]")

    def __init__(self, *command, **options):
        self.name = os.path.basename(command[0])
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        self.output = ""
        self.position = 0
        self.arrived = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        pending = b""
        while chunk := os.read(self.process.stdout.fileno(), 65536):
            pending += chunk
            with self.arrived:
                self.output += pending.decode(errors="replace")
                pending = b""
                self.arrived.notify_all()

    def send(self, line):
        self.process.stdin.write((line + "\n").encode())
        self.process.stdin.flush()

    def expect(self, pattern, timeout=10):
        """Waits until the output after what was read so far contains the pattern; returns the match."""
        regex = re.compile(pattern, re.MULTILINE | re.DOTALL)
        end = time.monotonic() + timeout
        with self.arrived:
            while True:
                text = self.ESCAPES.sub("", self.output)
                if match := regex.search(text, self.position):
                    self.position = match.end()
                    return match
                left = end - time.monotonic()
                assert left > 0 and (self.reader.is_alive() or left > timeout - 1), (
                    f"{self.name} did not print {pattern!r} but:\n{text[self.position:]}")
                self.arrived.wait(min(left, 0.2))

    def wait(self, timeout=20):
        status = self.process.wait(timeout)
        self.reader.join(timeout)
        return status

    @property
    def text(self):
        return self.ESCAPES.sub("", self.output)

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        self.process.stdin.close()
        self.reader.join(5)


def run(*command, timeout=30, status=0):
    """Runs a program to its end, and returns what it printed."""
    result = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout)
    assert result.returncode == status, f"{command} ended with {result.returncode}:\n{result.stdout}"
    return result.stdout


def until(look, timeout=10):
    """Looks again until there is something to see."""
    end = time.monotonic() + timeout
    while not (seen := look()):
        assert time.monotonic() < end, "nothing was seen in time"
        time.sleep(0.05)
    return seen


def python(program, *arguments, **options):
    """Runs a program of the folder `programs` in this Python."""
    return run(sys.executable, str(HERE / "programs" / program), *arguments, **options)


def has(name):
    return shutil.which(name) is not None
