"""The fixtures: a world of its own for each test, and the programs that look at it."""

import pytest

from bluetoothctl import Bluetoothctl
from world import World


@pytest.fixture
def world(monkeypatch):
    """The world of `worlds/devices.json`, where every program that this test starts looks for BlueZ."""
    with World("devices.json") as world:
        for name, value in world.environment.items():
            monkeypatch.setenv(name, value)
        yield world


@pytest.fixture
def bluetoothctl(world):
    """Starts a `bluetoothctl`; all that a test started end with it."""
    started = []

    def start(adapter=None):
        program = Bluetoothctl(adapter)
        started.append(program)
        return program

    yield start
    for program in started:
        program.close()
