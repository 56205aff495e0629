#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Glibc

/// The properties of one `org.bluez` interface that this backend uses, as Swift values.
///
/// Unknown properties are ignored. A property whose type differs from BlueZ's documentation keeps the earlier value.
protocol RemoteInterface: Sendable {
    /// The changes that callers distinguish.
    associatedtype Changes: InterfaceChanges

    /// Creates an object without properties.
    init(path: ObjectPath)

    /// Reads one property.
    ///
    /// - Parameter value: The content of the property's variant.
    /// - Returns: The changes that it makes.
    /// - Throws: If the value has the wrong type.
    mutating func read(_ property: String, from value: inout DBusReader) throws(DBusError) -> Changes

    /// Removes one property.
    mutating func remove(_ property: String)
}

/// The changes that a message made to an interface; an option set, or a structure with the new values.
protocol InterfaceChanges: Sendable {
    init()
    mutating func formUnion(_ other: Self)
}

/// Changes that affect no decision.
struct NoChanges: InterfaceChanges {
    func formUnion(_ other: NoChanges) {}
}

extension RemoteInterface {
    mutating func remove(_ property: String) {}

    /// Sets a property, and returns `change` if its value has changed.
    mutating func set<Value: Equatable>(
        _ property: WritableKeyPath<Self, Value>, to value: Value, _ change: Changes
    ) -> Changes {
        guard self[keyPath: property] != value else { return Changes() }
        self[keyPath: property] = value
        return change
    }
}

/// The interfaces of `org.bluez` whose properties are copied.
enum RemoteInterfaceName: CaseIterable {
    // The most frequent first.
    case characteristic, device, adapter, advertisingManager, service, descriptor

    /// Creates the interface of a D-Bus name; nil for other names.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        guard let name = Self.allCases.first(where: { $0.equals(text) }) else { return nil }
        self = name
    }

    /// Whether a text is the D-Bus name.
    ///
    /// It creates no strings, because it runs for each signal.
    private func equals(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        var name = text
        return name.withUTF8 { own in
            guard own.count == other.count, let start = own.baseAddress, let otherStart = other.baseAddress else {
                return false
            }
            return memcmp(start, otherStart, own.count) == 0
        }
    }

    /// The D-Bus name.
    var text: String {
        switch self {
        case .adapter: Adapter1.interface
        case .advertisingManager: LEAdvertisingManager1.interface
        case .device: Device1.interface
        case .service: GattService1.interface
        case .characteristic: GattCharacteristic1.interface
        case .descriptor: GattDescriptor1.interface
        }
    }
}

/// Reads the properties of an interface of an object into its Swift value.
struct PropertyReader {
    private let interface: RemoteInterfaceName
    private let path: ObjectPath
    private var entries: DBusReader
    private let removed: [String]
    private var malformed: [String] = []

    /// - Parameters:
    ///   - entries: The entries of an `a{sv}`.
    ///   - removed: The names of properties that are gone.
    init(_ interface: RemoteInterfaceName, _ path: ObjectPath, _ entries: DBusReader, removed: [String] = []) {
        self.interface = interface
        self.path = path
        self.entries = entries
        self.removed = removed
    }

    /// Updates the object at a path, and adds it if it is new.
    ///
    /// - Returns: The changes, and whether the object was added; nil for an object that is neither known nor new.
    mutating func update<Object: RemoteInterface>(
        _ objects: inout [ObjectPath: Object], _ path: ObjectPath, _ isNew: Bool
    ) throws(DBusError) -> (changes: Object.Changes, isAdded: Bool)? {
        if let index = objects.index(forKey: path) { return (try read(&objects.values[index]), false) }
        guard isNew else { return nil }
        var object = Object(path: path)
        let changes = try read(&object)
        objects[path] = object
        return (changes, true)
    }

    private mutating func read<Object: RemoteInterface>(_ object: inout Object) throws(DBusError) -> Object.Changes {
        var changes = Object.Changes()
        while !entries.isAtEnd {
            var entry = try entries.dictionaryEntry()
            let name = try entry.string()
            var value = try entry.variantContent()
            do throws(DBusError) {
                changes.formUnion(try object.read(name, from: &value))
            } catch {
                malformed.append(name)
            }
        }
        for name in removed { object.remove(name) }
        return changes
    }

    /// Appends the properties whose type differs from BlueZ's documentation.
    func appendMalformed(to changes: inout [ObjectModel.Change]) {
        guard !malformed.isEmpty else { return }
        for property in malformed.sorted() {
            changes.append(.malformed(path, property: "\(interface.text).\(property)"))
        }
    }
}

extension DBusReader {
    /// Reads an `as` of UUIDs, and skips texts that are not UUIDs.
    mutating func uuids() throws(DBusError) -> [BluetoothUUID] {
        try strings().compactMap { BluetoothUUID($0)?.shortened }
    }

    /// Reads a UUID in an `s`.
    mutating func uuid() throws(DBusError) -> BluetoothUUID {
        let text = try string()
        guard let uuid = BluetoothUUID(text)?.shortened else {
            throw DBusError(name: DBusError.Name.inconsistentMessage, message: "not a UUID: \(text)")
        }
        return uuid
    }

    /// Reads an `ay`.
    mutating func data() throws(DBusError) -> Data { try withBytes { Data($0) } }
}

extension BluetoothUUID {
    /// The 16-bit form, which Apple shows, if the UUID has one; BlueZ writes every UUID with 128 bits.
    fileprivate var shortened: BluetoothUUID {
        bits16.map { BluetoothUUID($0) } ?? self
    }
}
#endif
