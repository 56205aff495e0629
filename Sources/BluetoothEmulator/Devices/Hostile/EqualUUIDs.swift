import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// A device with three services of one UUID, each with three characteristics of one UUID, each with two descriptors
    /// of one UUID; all values differ.
    ///
    /// Finds apps that keep services and characteristics in dictionaries by UUID.
    public static let equalUUIDs = hostile(
        "Equal UUIDs",
        services: (0..<3).map { service in
            ServiceDescription(
                "FFF0",
                characteristics: (0..<3).map { characteristic in
                    CharacteristicDescription(
                        "FFF1", [.read, .notify], value: Data([UInt8(service), UInt8(characteristic)]),
                        descriptors: (0..<2).map {
                            DescriptorDescription(
                                "2901", value: Data("descriptor \($0) of \(characteristic) of \(service)".utf8))
                        })
                })
        }, handler: .equalUUIDs)
}
