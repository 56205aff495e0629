import pytest

from hosts import World


@pytest.fixture
def world():
    world = World()
    yield world
    world.close()
