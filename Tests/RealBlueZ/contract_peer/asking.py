"""For the scripts beside the peers: asks them for something."""
import json
import os
import socket

DEADLINE_S = 60


def action(name: str, **members) -> dict:
    """The peers' answer; a refusal is an AssertionError."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(DEADLINE_S)
        connection.connect(os.environ["CONTRACT_PEER_SOCKET"])
        connection.sendall(json.dumps({"action": name, **members}).encode() + b"\n")
        answer = json.loads(connection.makefile().readline())
    if not answer["ok"]:
        raise AssertionError(f"the peer refuses {name}: {answer}")
    return answer
