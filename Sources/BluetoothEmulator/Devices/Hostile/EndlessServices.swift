import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// A device with 2,000 services of 15 characteristics: 62,000 of the 65,535 handles there are.
    ///
    /// Finds apps that discover everything before they do anything, and apps whose screens draw each service.
    public static let endlessServices = endlessServices(2_000, characteristics: 15)

    /// A device with very many services.
    ///
    /// More attributes than handles are refused when the device is added.
    public static func endlessServices(_ count: Int, characteristics: Int) -> PeripheralDescription {
        let values = (0..<max(0, characteristics)).map { index in
            CharacteristicDescription(
                BluetoothUUID(UInt16(truncatingIfNeeded: 0xF000 + index)), .read,
                value: Data(littleEndian: UInt16(clamping: index)))
        }
        let services = (0..<max(0, count)).map { index in
            ServiceDescription(BluetoothUUID(UInt16(truncatingIfNeeded: 0xC000 + index)), characteristics: values)
        }
        return hostile("Endless Services", services: services, handler: .endlessServices)
    }
}
