"""The fixtures: a world of its own for each test, and the programs that look at it."""

import pytest

from bluetoothctl import Bluetoothctl
from world import World


DIALECTS = ["5.66", "5.82"]


def pytest_generate_tests(metafunc):
    """The clients that most people use meet both versions of BlueZ."""
    if "world" in metafunc.fixturenames and metafunc.module.__name__ in ("test_bleak", "test_bluetoothctl"):
        metafunc.parametrize("world", DIALECTS, indirect=True)


@pytest.fixture
def world(monkeypatch, request):
    """The world of `worlds/devices.json`, where every program that this test starts looks for BlueZ."""
    dialect = getattr(request, "param", DIALECTS[0])
    with World("devices.json", "--dialect", dialect) as world:
        world.dialect = dialect
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
