#!/usr/bin/env python3
"""The peer of the contract suite: Bumble peripherals, Bumble centrals, and the actions that steer them.

    CONTRACT_PEER_SOCKET   where to listen for actions (default /run/contract-peer.sock)
    PEER_TRANSPORT         one to three Bumble transports, "usb:1,usb:2"; without it the peers share a virtual
                           air with a controller that this program gives to BlueZ through /dev/vhci or a UART
    BUMBLE_LOGLEVEL        as in Bumble

Prints "peer up" once the actions are served.
"""
import asyncio
import logging
import os

from contract_peer.bluez import BlueZ
from contract_peer.central import make_central
from contract_peer.peers import blinky_peer, contract_peer, heart_peer, second_peer
from contract_peer.air import TransportAir, VirtualAir
from contract_peer.actions import ActionServer, Actions


async def main() -> None:
    logging.basicConfig(level=os.environ.get("BUMBLE_LOGLEVEL", "WARNING").upper())
    transports = os.environ.get("PEER_TRANSPORT")
    air = await (TransportAir.open(transports.split(",")) if transports else VirtualAir.open())
    peers = {"contract": await contract_peer(air)}
    if air.has_second:
        peers["second"] = await second_peer(air)
    if air.has_third:
        peers["heart"] = await heart_peer(air)
    centrals = {}
    if air.has_centrals:
        centrals = {
            "one": await make_central(air, "one", "F0:F1:F2:F3:F4:01"),
            "two": await make_central(air, "two", "F0:F1:F2:F3:F4:02")}
    if air.has_blinky:
        peers["blinky"] = await blinky_peer(air)
    path = os.environ.get("CONTRACT_PEER_SOCKET", "/run/contract-peer.sock")
    await ActionServer(Actions(peers, centrals, air, BlueZ())).listen(path)
    print("peer up", flush=True)
    await air.ended()


if __name__ == "__main__":
    asyncio.run(main())
