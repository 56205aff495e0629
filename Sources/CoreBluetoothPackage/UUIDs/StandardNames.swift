import BluetoothBackend

/// The names that the Bluetooth SIG gives to 16-bit UUIDs of services, characteristics and descriptors.
///
/// Source: Assigned Numbers, sections 3.4, 3.7 and 3.8.
/// For tools that print for people. ``CBUUID/description`` names fewer, as Apple's does.
package enum StandardNames {
    /// The name of a standard service, characteristic or descriptor.
    ///
    /// - Parameter uuid: A UUID in any width.
    /// - Returns: nil where the Bluetooth SIG assigned no name.
    package static func name(of uuid: CBUUID) -> String? {
        guard let short = uuid.bluetoothUUID.bits16 else { return nil }
        return services[short] ?? characteristics2A[short] ?? characteristics2B[short] ?? descriptors[short]
    }

    /// All names, sorted; a name that a service and a characteristic have alike is there once.
    package static let all: [String] = Set(
        [services, characteristics2A, characteristics2B, descriptors].flatMap(\.values)
    ).sorted()
}
