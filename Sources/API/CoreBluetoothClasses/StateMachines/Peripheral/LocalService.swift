import BluetoothBackend
import BluetoothValues
import FoundationEssentials

/// The identity of an object of the app, for as long as it is alive.
struct ObjectKey: Hashable, Sendable {
    let rawValue: UInt
}

extension ObjectKey {
    init(_ object: AnyObject) { rawValue = UInt(bitPattern: ObjectIdentifier(object)) }
}

/// A copy of an app's service at the time it is added, so that later changes have no effect (S107).
struct LocalService: Equatable, Sendable {
    struct Characteristic: Equatable, Sendable {
        var key: ObjectKey
        var uuid: BluetoothUUID
        var properties: CharacteristicProperties
        var permissions: AttributePermissions
        /// The value that the system serves, if there is one (S108).
        var value: Data?
        var descriptors: [Descriptor] = []
    }

    struct Descriptor: Equatable, Sendable {
        var uuid: BluetoothUUID
        var value: DescriptorValue
    }

    enum DescriptorValue: Equatable, Sendable {
        case text(String)
        case bytes(Data)
        /// The value is absent, or of a type that no descriptor has.
        case other
    }

    var key: ObjectKey
    var uuid: BluetoothUUID
    var isPrimary = true
    var included: [ObjectKey] = []
    var characteristics: [Characteristic] = []
    /// Whether a part was found at a peripheral, or is published by another manager.
    var hasForeignParts = false
}

// MARK: Rules that need nothing but the service

extension LocalService {
    /// The services of the system (S111); Apple reserves more, which its own devices serve.
    private static let reserved: Set<BluetoothUUID> = ["1800", "1801"]

    /// The reason of the exception that Apple raises; nil if Apple raises none (S108, S115).
    var exception: String? {
        for characteristic in characteristics {
            if characteristic.value != nil && !characteristic.isReadOnly {
                return "Characteristics with cached values must be read-only"
            }
            for descriptor in characteristic.descriptors {
                if let reason = descriptor.exception { return reason }
            }
        }
        return nil
    }

    /// The reason that the service alone cannot be published; nil if it can (S111, S115, S116).
    var refusal: ServiceRefusal? {
        if hasForeignParts {
            return ServiceRefusal(.invalidParameters, "a part of it is remote, or another manager's")
        }
        if Self.reserved.contains(uuid) { return ServiceRefusal(.uuidNotAllowed, "the service is the system's own") }
        if Set(characteristics.map(\.key)).count < characteristics.count {
            return ServiceRefusal(.invalidParameters, "it has one characteristic twice")
        }
        return characteristics.lazy.compactMap(refusal).first
    }

    private func refusal(of characteristic: Characteristic) -> ServiceRefusal? {
        let uuid = characteristic.uuid
        if !characteristic.properties.isDisjoint(with: [.broadcast, .extendedProperties]) {
            return ServiceRefusal(.invalidParameters, "\(uuid) has a property that local characteristics cannot have")
        }
        if let count = characteristic.value?.count, count > ATTLimits.longestValue {
            return ServiceRefusal(
                .invalidParameters, "the value of \(uuid) is longer than \(ATTLimits.longestValue) bytes")
        }
        for descriptor in characteristic.descriptors where descriptor.data == nil {
            return ServiceRefusal(.uuidNotAllowed, "\(uuid) has the descriptor \(descriptor.uuid)")
        }
        return nil
    }

    /// Returns the definition for the backend, with identifiers from `next` on.
    func definition(included: [AttributeID], next: () -> AttributeID) -> ServiceDefinition {
        ServiceDefinition(
            id: next(), uuid: uuid, isPrimary: isPrimary, included: included,
            characteristics: characteristics.map { characteristic in
                ServiceDefinition.Characteristic(
                    id: next(), uuid: characteristic.uuid, properties: characteristic.propertiesOnAir,
                    permissions: characteristic.permissions, staticValue: characteristic.value,
                    descriptors: characteristic.descriptors.map { descriptor in
                        ServiceDefinition.Descriptor(
                            id: next(), uuid: descriptor.uuid, value: descriptor.data ?? Data())
                    })
            })
    }
}

extension LocalService.Characteristic {
    /// Whether the characteristic is read-only, as a static value requires (S108).
    fileprivate var isReadOnly: Bool {
        properties == .read && permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired])
    }

    /// The properties that require encryption include those that they restrict (S117).
    fileprivate var propertiesOnAir: CharacteristicProperties {
        var result = properties
        if result.contains(.notifyEncryptionRequired) { result.insert(.notify) }
        if result.contains(.indicateEncryptionRequired) { result.insert(.indicate) }
        return result
    }
}

extension LocalService.Descriptor {
    /// The reason of the exception that Apple raises (S115).
    fileprivate var exception: String? {
        switch (uuid.bits16, value) {
        case (0x2901, .text), (0x2904, .bytes): nil
        case (0x2901, _): "Expecting NSString value type for User Description descriptor"
        case (0x2904, _): "Expecting NSData value type for Format descriptor"
        default: nil
        }
    }

    /// The value on the air; nil for a descriptor that an app cannot publish.
    fileprivate var data: Data? {
        switch (uuid.bits16, value) {
        case (0x2901, .text(let text)): Data(text.utf8)
        case (0x2904, .bytes(let bytes)): bytes
        default: nil
        }
    }
}

struct ServiceRefusal: Equatable, Sendable {
    let code: BackendError.Code
    let reason: String

    init(_ code: BackendError.Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }
}
