"""What Home Assistant makes of the gateway's messages."""
import asyncio
import logging

import pytest
from homeassistant.components import mqtt
from homeassistant.helpers import device_registry, entity_registry
from machine import broker, gateway, home_assistant, until

HEART_RATE_MONITOR = """
  - id: heart-rate-monitor
    name: Heart Rate Monitor
    address: C0:DE:00:00:18:0D
    profiles: heart-rate battery
"""
LED = "characteristic: 00001523-1212-EFDE-1523-785FEABCD123/00001525-1212-EFDE-1523-785FEABCD123"
BLINKY = f"""
  - id: blinky
    name: Blinky
    localName: nRF Blinky
    commands:
      - {{ id: led, name: LED, {LED}, kind: switch, on: "01", off: "00" }}
      - {{ id: blink, name: Blink, {LED}, kind: button, press: "01" }}
      - {{ id: level, name: Level, {LED}, kind: number, format: uint8, minimum: 0, maximum: 1 }}
      - {{ id: message, name: Message, {LED}, kind: text, maximumLength: 1 }}
"""
ENTITIES = {
    "sensor.heart_rate_monitor_heart_rate", "sensor.heart_rate_monitor_battery",
    "switch.blinky_led", "button.blinky_blink", "number.blinky_level", "text.blinky_message",
}


def ours(home):
    """The entities' states by name, without those that Home Assistant makes by itself."""
    return {state.entity_id: state.state for state in home.states.async_all() if not state.entity_id.startswith("zone.")}


def are_available(home):
    return ours(home).keys() == ENTITIES and "unavailable" not in ours(home).values()


def run(folder, body):
    """Runs a test with a broker and Home Assistant."""
    async def all_of_it():
        with broker(folder) as port:
            async with home_assistant(folder, port) as home:
                await body(home, port)

    asyncio.run(all_of_it())


@pytest.fixture(autouse=True)
def home_assistant_has_no_complaint_about_a_message(caplog):
    yield
    complaints = [record for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
    assert not [record.getMessage() for record in complaints if record.name.startswith("homeassistant.components.mqtt")]


def test_values_and_commands_are_entities_of_their_devices(tmp_path):
    async def body(home, port):
        with gateway(tmp_path, port, HEART_RATE_MONITOR + BLINKY):
            await until(lambda: are_available(home), f"{sorted(ENTITIES)} are there")
            rate = "sensor.heart_rate_monitor_heart_rate"
            await until(lambda: ours(home)[rate].isdigit(), "the heart rate is a number")
            assert 30 <= int(ours(home)[rate]) <= 220
            attributes = home.states.get("sensor.heart_rate_monitor_battery").attributes
            assert attributes["unit_of_measurement"] == "%"
            assert attributes["device_class"] == "battery"
            devices = device_registry.async_get(home)
            entities = entity_registry.async_get(home)
            names = {devices.async_get(entities.async_get(name).device_id).name for name in ENTITIES}
            assert names == {"Heart Rate Monitor", "Blinky"}

    run(tmp_path, body)


@pytest.mark.parametrize(("domain", "service", "entity", "command", "fields", "result"), [
    ("switch", "turn_on", "switch.blinky_led", "led", {}, '"ok":true'),
    ("button", "press", "button.blinky_blink", "blink", {}, '"ok":true'),
    ("number", "set_value", "number.blinky_level", "level", {"value": 1}, '"ok":true'),
    ("text", "set_value", "text.blinky_message", "message", {"value": "A"}, "refused"),  # the LED is 0 or 1
])
def test_a_command_reaches_its_device(tmp_path, domain, service, entity, command, fields, result):
    async def body(home, port):
        results = []
        await mqtt.async_subscribe(home, f"bluetooth/test/blinky/{command}/result", lambda it: results.append(it.payload))
        with gateway(tmp_path, port, HEART_RATE_MONITOR + BLINKY):
            await until(lambda: are_available(home), "the device is available")
            await home.services.async_call(domain, service, {"entity_id": entity, **fields}, blocking=True)
            await until(lambda: results, "the command has a result")
            assert result in results[0]

    run(tmp_path, body)


def test_devices_are_unavailable_while_the_gateway_is_dead(tmp_path):
    async def body(home, port):
        for _ in range(2):
            with gateway(tmp_path, port, HEART_RATE_MONITOR + BLINKY):
                await until(lambda: are_available(home), "the devices are available")
            await until(lambda: set(ours(home).values()) == {"unavailable"}, "the devices are unavailable")

    run(tmp_path, body)


def test_what_is_removed_from_the_configuration_disappears(tmp_path):
    async def body(home, port):
        with gateway(tmp_path, port, HEART_RATE_MONITOR + BLINKY):
            await until(lambda: are_available(home), "the devices are available")
        with gateway(tmp_path, port, HEART_RATE_MONITOR):
            await until(lambda: not [name for name in ours(home) if "blinky" in name], "the entities are gone")

    run(tmp_path, body)
