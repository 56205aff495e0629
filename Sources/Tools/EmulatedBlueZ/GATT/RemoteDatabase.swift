#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The discovered attributes of a device, and the sessions and requests of clients on them.
struct RemoteDatabase: Sendable {
    struct Service: Sendable {
        let record: ServiceRecord
        let path: ObjectPath
        var characteristics: [AttributeID] = []
    }

    struct Characteristic: Sendable {
        let record: CharacteristicRecord
        let path: ObjectPath
        var descriptors: [AttributeID] = []
        /// The clients with a session of `StartNotify`, which survives links and may begin without one.
        var sessions: [String] = []
        /// Whether the subscription on this link is confirmed, so that values arrive.
        var isSubscribed = false
        /// The calls of `StartNotify` that wait for the device's answer.
        var starting: [(call: ClientCallID, sender: String)] = []
        var notifySocket: ClientSocketID?
        var writeSocket: ClientSocketID?
        /// A call of `AcquireNotify` that waits for the device's answer.
        var isAcquiring = false
        var reads = PendingReads()
        var isWriting = false

        var id: AttributeID { record.id }
        var properties: CharacteristicProperties { record.properties }
        var canNotify: Bool { !properties.isDisjoint(with: [.notify, .indicate]) }
    }

    struct Descriptor: Sendable {
        let record: DescriptorRecord
        let path: ObjectPath
        var reads = PendingReads()
        var isWriting = false
    }

    /// The reads of one attribute; one is in progress, and further reads from the same offset join it.
    struct PendingReads: Sendable {
        var offset: UInt16 = 0
        var calls: [ClientCallID] = []
    }

    /// The GAP Device Name.
    var deviceName: String?
    var services: [AttributeID: Service] = [:]
    var characteristics: [AttributeID: Characteristic] = [:]
    var descriptors: [AttributeID: Descriptor] = [:]
    /// The attributes by the paths of their objects.
    var attributes: [ObjectPath: AttributeID] = [:]

    /// Removes a service with its attributes.
    ///
    /// - Returns: The paths of its objects, the deepest first.
    mutating func remove(_ id: AttributeID) -> [ObjectPath] {
        guard let service = services.removeValue(forKey: id) else { return [] }
        var paths: [ObjectPath] = []
        for id in service.characteristics {
            guard let characteristic = characteristics.removeValue(forKey: id) else { continue }
            paths += characteristic.descriptors.compactMap { descriptors.removeValue(forKey: $0)?.path }
            paths.append(characteristic.path)
        }
        paths.append(service.path)
        for path in paths { attributes[path] = nil }
        return paths
    }
}

extension CharacteristicProperties {
    /// The names of the properties, in the order of their bits.
    var bluezFlags: [String] {
        let names: [(CharacteristicProperties, String)] = [
            (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write-without-response"),
            (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
            (.authenticatedSignedWrites, "authenticated-signed-writes"), (.extendedProperties, "extended-properties"),
        ]
        return names.filter { contains($0.0) }.map(\.1)
    }
}
#endif
