import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

// The conversions of this module's values to the emulator's types.

extension BluetoothUUID {
    /// Converts a UUID, whose 2, 4 or 16 bytes are always valid.
    init(_ uuid: CBMUUID) {
        guard let uuid = BluetoothUUID(bigEndian: uuid.data) else {
            preconditionFailure("\(uuid) has \(uuid.data.count) bytes")
        }
        self = uuid
    }
}

extension CBMUUID {
    /// Converts a UUID.
    convenience init(_ uuid: BluetoothUUID) { self.init(data: Data(uuid.bigEndianBytes)) }
}

extension CharacteristicProperties {
    /// Converts properties; subscriptions that require encryption become plain ones.
    init(_ properties: CBMCharacteristicProperties) {
        self.init(rawValue: UInt16(truncatingIfNeeded: properties.rawValue))
        if properties.contains(.notifyEncryptionRequired) { insert(.notify) }
        if properties.contains(.indicateEncryptionRequired) { insert(.indicate) }
    }
}

extension AttributePermissions {
    /// Converts permissions.
    init(_ permissions: CBMAttributePermissions) {
        self.init(rawValue: UInt8(truncatingIfNeeded: permissions.rawValue))
    }
}

extension AuthorizationStatus {
    /// Converts a permission; one that a later version of the API adds counts as refused.
    init(_ authorization: CBMManagerAuthorization) {
        switch authorization {
        case .notDetermined: self = .notDetermined
        case .restricted: self = .restricted
        case .allowedAlways: self = .allowed
        default: self = .denied
        }
    }
}

extension DeviceAddress {
    /// Creates the random static address for an identifier, which is the same in each world and process.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of a spec.
    ///   - generation: The number of times that the world has had the identifier before: the last device may still
    ///     exist, as controls wait for virtual time to be driven.
    init(of identifier: UUID, generation: Int) {
        let hash = withUnsafeBytes(of: identifier.uuid) { bytes in
            // FNV-1a spreads identifiers that differ in one digit.
            bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 }
        }
        // The two highest bits mark a random static address (Core Specification, Vol 6, Part B, 1.3.2.1).
        self.init(bits: (hash ^ hash >> 16) &+ UInt64(generation) | 0xC000_0000_0000)
    }
}

extension Duration {
    /// Creates a time of a spec, within a range.
    init(seconds: TimeInterval, clampedTo range: ClosedRange<Duration>) {
        guard seconds.isFinite else { self = range.upperBound; return }
        let bounded = max(0, min(seconds, 1e6))
        self = max(range.lowerBound, min(range.upperBound, .seconds(bounded)))
    }
}
