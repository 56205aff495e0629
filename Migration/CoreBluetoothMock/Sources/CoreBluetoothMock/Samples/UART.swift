import CoreBluetooth

/// A simulated device with a serial line, the Nordic UART Service, which returns the received bytes.
///
/// A write is answered with a notification of the same bytes while the app subscribes, and refused with
/// `CBMATTError(.requestNotSupported)` otherwise. The device is far away, and advertises every 2 s, from 5 s after the
/// beginning on.
///
/// Thread rule: all members may be used from any thread, after ``spec`` was read once.
public class UART: CBMPeripheralSpecDelegate {
    /// The name of its peripheral.
    public let name: String

    private static let service = CBMUUID(string: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E")

    private let receiver = CBMCharacteristicMock(
        type: CBMUUID(string: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"), properties: [.write, .writeWithoutResponse])
    private let transmitter = CBMCharacteristicMock(
        type: CBMUUID(string: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"), properties: [.notify],
        descriptors: CBMClientCharacteristicConfigurationDescriptorMock())

    /// The peripheral, which retains this object.
    public lazy var spec = CBMPeripheralSpec.simulatePeripheral(proximity: .far)
        .advertising(
            advertisementData: [
                CBMAdvertisementDataIsConnectable: NSNumber(value: true), CBMAdvertisementDataLocalNameKey: name,
                CBMAdvertisementDataServiceUUIDsKey: [Self.service],
            ], withInterval: 2.0, delay: 5.0
        )
        .connectable(
            name: name,
            services: [
                CBMServiceMock(
                    type: Self.service, primary: true, characteristics: receiver, transmitter)
            ], delegate: self, connectionInterval: 0.020
        )
        .build()

    /// Creates a device.
    ///
    /// - Parameter name: The name of its peripheral.
    public init(name: String = "Nordic_UART") { self.name = name }

    /// Returns the bytes, or refuses them without a subscriber.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor characteristic: CBMCharacteristicMock, data: Data
    ) -> Result<Void, any Error> {
        guard transmitter.isNotifying else { return .failure(CBMATTError(.requestNotSupported)) }
        peripheral.simulateValueUpdate(data, for: transmitter)
        return .success(())
    }

    /// Returns the bytes, if the characteristic has a subscriber.
    public func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteCommandFor characteristic: CBMCharacteristicMock, data: Data
    ) {
        if transmitter.isNotifying { peripheral.simulateValueUpdate(data, for: transmitter) }
    }
}
