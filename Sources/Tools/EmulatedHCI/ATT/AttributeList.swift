import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI

/// The attributes of a server as its clients see them, in handle order.
///
/// Source: Core Specification, Vol 3, Part G, 3.
struct AttributeList: Sendable {
    struct Attribute: Sendable {
        enum Content: Sendable {
            /// A declaration, whose value is constant.
            case declaration([UInt8])
            /// The value of a characteristic or a descriptor.
            case value(AttributeID)
            /// The Client Characteristic Configuration of a characteristic.
            case clientConfiguration(of: AttributeID)
        }

        let handle: UInt16
        /// The last handle of a service; the attribute's own handle for others.
        let groupEnd: UInt16
        let type: BluetoothUUID
        let content: Content
    }

    private(set) var attributes: [Attribute] = []

    init() {}

    /// - Parameter ids: The identifiers of values and descriptors, by handle.
    init(_ services: [TappedService], _ ids: [UInt16: AttributeID]) {
        for service in services {
            append(
                service.handles.lowerBound, upTo: service.handles.upperBound, service.isPrimary ? "2800" : "2801",
                .declaration(service.uuid.attBytes))
            for include in service.included {
                append(include.handle, "2802", .declaration(include.declaration.value))
            }
            for characteristic in service.characteristics { append(characteristic, ids) }
        }
    }

    private mutating func append(_ characteristic: TappedCharacteristic, _ ids: [UInt16: AttributeID]) {
        guard let id = ids[characteristic.valueHandle] else { return }
        append(characteristic.declarationHandle, "2803", .declaration(characteristic.declaration.value))
        append(characteristic.valueHandle, characteristic.uuid, .value(id))
        for descriptor in characteristic.descriptors {
            if descriptor.uuid == "2902" {
                append(descriptor.handle, descriptor.uuid, .clientConfiguration(of: id))
            } else if let id = ids[descriptor.handle] {
                append(descriptor.handle, descriptor.uuid, .value(id))
            }
        }
    }

    private mutating func append(
        _ handle: UInt16, upTo end: UInt16? = nil, _ type: BluetoothUUID, _ content: Attribute.Content
    ) { attributes.append(Attribute(handle: handle, groupEnd: end ?? handle, type: type, content: content)) }

    /// The attribute with a handle; nil if there is none.
    subscript(handle: UInt16) -> Attribute? {
        let found = attributes(from: handle).first
        return found?.handle == handle ? found : nil
    }

    /// The attributes in a range of handles.
    func attributes(in handles: ClosedRange<UInt16>) -> some Sequence<Attribute> {
        attributes(from: handles.lowerBound).prefix { $0.handle <= handles.upperBound }
    }

    private func attributes(from handle: UInt16) -> ArraySlice<Attribute> {
        var (low, high) = (0, attributes.count)
        while low < high {
            let middle = (low + high) / 2
            if attributes[middle].handle < handle { low = middle + 1 } else { high = middle }
        }
        return attributes[low...]
    }

    /// The handle of a characteristic's value or of a descriptor; nil if there is none.
    func handle(of id: AttributeID) -> UInt16? {
        attributes.first { if case .value(id) = $0.content { true } else { false } }?.handle
    }

    /// The handle of a characteristic's Client Characteristic Configuration; nil if it has none.
    func clientConfigurationHandle(of id: AttributeID) -> UInt16? {
        attributes.first { if case .clientConfiguration(of: id) = $0.content { true } else { false } }?.handle
    }
}
