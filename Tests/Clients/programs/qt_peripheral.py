"""qt_peripheral.py: serves and advertises with Qt 6, on the first adapter, until it is ended."""

import signal
import sys

from PySide6.QtBluetooth import (
    QBluetoothUuid, QLowEnergyAdvertisingData, QLowEnergyAdvertisingParameters, QLowEnergyCharacteristic,
    QLowEnergyCharacteristicData, QLowEnergyController, QLowEnergyServiceData)
from PySide6.QtCore import QByteArray, QCoreApplication, QUuid


def uuid(short):
    return QBluetoothUuid(QUuid(f"0000{short}-0000-1000-8000-00805f9b34fb"))


signal.signal(signal.SIGTERM, signal.SIG_DFL)
application = QCoreApplication(sys.argv)
characteristic = QLowEnergyCharacteristicData()
characteristic.setUuid(uuid("fff1"))
characteristic.setValue(QByteArray(b"from Qt"))
characteristic.setProperties(QLowEnergyCharacteristic.PropertyType.Read)
service = QLowEnergyServiceData()
service.setType(QLowEnergyServiceData.ServiceType.ServiceTypePrimary)
service.setUuid(uuid("fff0"))
service.addCharacteristic(characteristic)
controller = QLowEnergyController.createPeripheral()
controller.errorOccurred.connect(lambda error: print("error", error, flush=True))
served = controller.addService(service)
data = QLowEnergyAdvertisingData()
data.setLocalName("Qt Peripheral")
data.setServices([service.uuid()])
controller.startAdvertising(QLowEnergyAdvertisingParameters(), data, data)
print("serving", flush=True)
sys.exit(application.exec())
