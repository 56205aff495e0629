package import BluetoothBackend

// The numbers of the Security Manager, in the order of the cases: Core Specification, Vol 3, Part H, 3.5.1, table 3.4.
extension PairingCapability {
    /// Creates a capability from its number; nil for reserved numbers.
    package init?(octet: UInt8) {
        guard Self.allCases.indices.contains(Int(octet)) else { return nil }
        self = Self.allCases[Int(octet)]
    }

    package var octet: UInt8 { UInt8(Self.allCases.firstIndex(of: self) ?? 0) }
}
