import CoreBluetoothMock

// The services of a simulated sensor.

extension CBMUUID {
    package static let battery = CBMUUID(string: "180F")
    package static let batteryLevel = CBMUUID(string: "2A19")
    package static let environment = CBMUUID(string: "181A")
    package static let humidity = CBMUUID(string: "2A6F")
    package static let temperature = CBMUUID(string: "2A6E")
    package static let immediateAlert = CBMUUID(string: "1802")
    package static let alertLevel = CBMUUID(string: "2A06")
}

extension CBMCharacteristicMock {
    package static let batteryLevel = CBMCharacteristicMock(
        type: .batteryLevel, properties: [.read, .notify],
        descriptors: CBMClientCharacteristicConfigurationDescriptorMock())
    package static let humidity = CBMCharacteristicMock(
        type: .humidity, properties: [.read, .notify],
        descriptors: CBMClientCharacteristicConfigurationDescriptorMock())
    package static let temperature = CBMCharacteristicMock(type: .temperature, properties: .read)
    package static let alertLevel = CBMCharacteristicMock(type: .alertLevel, properties: .writeWithoutResponse)
}

extension CBMServiceMock {
    package static let battery = CBMServiceMock(type: .battery, primary: true, characteristics: .batteryLevel)
    package static let environment = CBMServiceMock(
        type: .environment, primary: true, characteristics: .humidity, .temperature)
    package static let immediateAlert = CBMServiceMock(
        type: .immediateAlert, primary: true, characteristics: .alertLevel)
}
