"""What a test needs beside its assertions: a broker, the gateway on emulated devices, and Home Assistant in this process."""
import asyncio
import json
import os
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from homeassistant import bootstrap, loader
from homeassistant.auth import auth_manager_from_config
from homeassistant.config_entries import ConfigEntries
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

PACKAGE = Path(__file__).resolve().parents[2]
DEADLINE_S = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def until(condition: Callable[[], bool], what: str) -> None:
    """Waits until a condition is true."""
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, f"not within {DEADLINE_S} s: {what}"
        await asyncio.sleep(0.05)


@contextmanager
def process(*command, **options):
    """A process that is killed at the end, if it still runs."""
    child = subprocess.Popen([str(part) for part in command], **options)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


@contextmanager
def broker(folder: Path):
    """A mosquitto; gives its port."""
    port = free_port()
    (folder / "mosquitto.conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    with process("/usr/sbin/mosquitto", "-c", folder / "mosquitto.conf", stderr=subprocess.DEVNULL):
        yield port


def gateway(folder: Path, port: int, devices: str):
    """The gateway with devices of the emulator, which a list in YAML configures."""
    file = folder / "gateway.yaml"
    file.write_text(
        f"gateway: test\nbroker: {{ host: 127.0.0.1, port: {port} }}\n"
        f"queue: {{ file: {folder}/queue.sqlite }}\ndevices:\n{devices}")
    environment = {**os.environ, "COREBLUETOOTH_BACKEND": "emulator"}
    return process(PACKAGE / ".build/debug/mqtt-gateway", "run", file, env=environment)


def entry(port: int) -> dict:
    """Home Assistant's MQTT integration, as its settings store it."""
    return {
        "entry_id": "mqtt", "version": 1, "minor_version": 1, "domain": "mqtt", "title": "mosquitto",
        "data": {"broker": "127.0.0.1", "port": port, "discovery": True, "discovery_prefix": "homeassistant"},
        "options": {}, "pref_disable_new_entities": False, "pref_disable_polling": False, "source": "user",
        "unique_id": None, "disabled_by": None,
    }


@asynccontextmanager
async def home_assistant(folder: Path, port: int):
    """Home Assistant with the MQTT integration, connected to the broker."""
    storage = folder / "home-assistant/.storage"
    storage.mkdir(parents=True)
    (storage / "core.config_entries").write_text(json.dumps({
        "version": 1, "minor_version": 1, "key": "core.config_entries", "data": {"entries": [entry(port)]}}))
    (storage.parent / "configuration.yaml").touch()
    home = HomeAssistant(str(storage.parent))
    loader.async_setup(home)
    home.config_entries = ConfigEntries(home, {})
    await bootstrap.async_load_base_functionality(home)
    home.auth = await auth_manager_from_config(home, [], [])
    web = {"server_host": "127.0.0.1", "server_port": free_port()}
    assert await async_setup_component(home, "mqtt", {"http": web})
    await home.async_start()
    try:
        yield home
    finally:
        await home.async_stop(force=True)
