"""qt_central.py ADDRESS SERVICE CHARACTERISTIC: connects with Qt Bluetooth, prints the value of a characteristic.

Runs with PySide6 (Qt 6), else with PyQt5 (Qt 5).
"""

import sys

try:
    from PySide6.QtBluetooth import (
        QBluetoothDeviceDiscoveryAgent, QBluetoothUuid, QLowEnergyController, QLowEnergyService)
    from PySide6.QtCore import QCoreApplication, QTimer, QUuid

    DISCOVERED = QLowEnergyService.ServiceState.RemoteServiceDiscovered
    LOW_ENERGY = QBluetoothDeviceDiscoveryAgent.DiscoveryMethod.LowEnergyMethod
except ImportError:
    from PyQt5.QtBluetooth import (
        QBluetoothDeviceDiscoveryAgent, QBluetoothUuid, QLowEnergyController, QLowEnergyService)
    from PyQt5.QtCore import QCoreApplication, QTimer, QUuid

    DISCOVERED = QLowEnergyService.ServiceDiscovered
    LOW_ENERGY = QBluetoothDeviceDiscoveryAgent.LowEnergyMethod

address = sys.argv[1]
service_uuid, characteristic_uuid = (QBluetoothUuid(QUuid(text)) for text in sys.argv[2:])
application = QCoreApplication(sys.argv)
kept = []


def end(text, status):
    print(text, flush=True)
    application.exit(status)


def discovered(info):
    if info.address().toString() != address or kept:
        return
    controller = QLowEnergyController.createCentral(info)
    kept.append(controller)
    controller.connected.connect(controller.discoverServices)
    controller.disconnected.connect(lambda: end("disconnected", 1))
    controller.discoveryFinished.connect(lambda: look_into(controller))
    controller.connectToDevice()


def look_into(controller):
    service = controller.createServiceObject(service_uuid)
    kept.append(service)
    service.stateChanged.connect(lambda state: read(service, state))
    service.characteristicRead.connect(lambda _, value: end(f"read {bytes(value).decode()}", 0))
    service.discoverDetails()


def read(service, state):
    if state == DISCOVERED:
        service.readCharacteristic(service.characteristic(characteristic_uuid))


agent = QBluetoothDeviceDiscoveryAgent()
agent.setLowEnergyDiscoveryTimeout(5000)
agent.deviceDiscovered.connect(discovered)
agent.start(LOW_ENERGY)
QTimer.singleShot(20000, lambda: end("nothing was read", 1))
sys.exit(application.exec_() if hasattr(application, "exec_") else application.exec())
