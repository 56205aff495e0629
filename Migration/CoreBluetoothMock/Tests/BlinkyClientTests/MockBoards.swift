import CoreBluetoothMock

// The boards that the tests simulate, as users of the original write them.

extension CBMUUID {
    static let nordicBlinkyService = CBMUUID(string: "00001523-1212-EFDE-1523-785FEABCD123")
    static let buttonCharacteristic = CBMUUID(string: "00001524-1212-EFDE-1523-785FEABCD123")
    static let ledCharacteristic = CBMUUID(string: "00001525-1212-EFDE-1523-785FEABCD123")
}

extension CBMCharacteristicMock {
    static let buttonCharacteristic = CBMCharacteristicMock(
        type: .buttonCharacteristic, properties: [.notify, .read],
        descriptors: CBMClientCharacteristicConfigurationDescriptorMock())
    static let ledCharacteristic = CBMCharacteristicMock(type: .ledCharacteristic, properties: [.write, .read])
}

extension CBMServiceMock {
    static let blinkyService = CBMServiceMock(
        type: .nordicBlinkyService, primary: true, characteristics: .buttonCharacteristic, .ledCharacteristic)
}

class BlinkySpecDelegate: CBMPeripheralSpecDelegate {
    var ledIsOn = false
    var buttonIsPressed = false
    var refusesConnections = false

    func reset() {
        ledIsOn = false
        buttonIsPressed = false
    }

    func peripheralDidReceiveConnectionRequest(_ peripheral: CBMPeripheralSpec) -> Result<Void, Error> {
        refusesConnections ? .failure(CBMError(.connectionFailed)) : .success(())
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor characteristic: CBMCharacteristicMock
    ) -> Result<Data, Error> {
        .success(Data([(characteristic.uuid == .ledCharacteristic ? ledIsOn : buttonIsPressed) ? 1 : 0]))
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor characteristic: CBMCharacteristicMock, data: Data
    ) -> Result<Void, Error> {
        guard let byte = data.first else { return .failure(CBMATTError(.invalidAttributeValueLength)) }
        ledIsOn = byte == 1
        return .success(())
    }
}

let blinkyDelegate = BlinkySpecDelegate()

let blinky =
    CBMPeripheralSpec
    .simulatePeripheral(proximity: .immediate)
    .advertising(
        advertisementData: [
            CBMAdvertisementDataLocalNameKey: "nRF Blinky",
            CBMAdvertisementDataServiceUUIDsKey: [CBMUUID.nordicBlinkyService],
            CBMAdvertisementDataIsConnectable: true as NSNumber,
        ], withInterval: 0.050
    )
    .connectable(
        name: "nRF Blinky", services: [.blinkyService], delegate: blinkyDelegate, connectionInterval: 0.015,
        supervisionTimeout: 0.3, mtu: 23
    )
    .build()

let hrm =
    CBMPeripheralSpec
    .simulatePeripheral(proximity: .near)
    .advertising(
        advertisementData: [
            CBMAdvertisementDataLocalNameKey: "NordicHRM",
            CBMAdvertisementDataServiceUUIDsKey: [CBMUUID(string: "180D"), CBMUUID(string: "180A")],
            CBMAdvertisementDataIsConnectable: true as NSNumber,
        ], withInterval: 0.1
    )
    .build()
