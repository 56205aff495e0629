#if os(Linux)
import BluetoothDBus

/// The objects of a service and the values of their properties, with the signals for changes.
///
/// Pure. Changes of one object are collected, as in `bluetoothd`, until ``flush()``: a new object is announced with its
/// values at that time, and several changes of an interface become one signal.
///
/// Source: BlueZ, `gdbus/object.c`.
struct ObjectTree: Sendable {
    typealias Properties = [String: DBusValue]

    /// A broadcast signal.
    struct Signal: Equatable, Sendable {
        let path: ObjectPath
        let interface: String
        let member: String
        let body: [DBusValue]
    }

    /// The interfaces that are added and removed together with the others of an object.
    private static let standard = [StandardInterface.introspectable.name, StandardInterface.properties.name]

    private struct Pending: Sendable {
        /// The interfaces that are announced with the next flush.
        var added: Set<String> = []
        /// The changed properties by interface, each in the order of its first change.
        var changed: [String: [String]] = [:]
    }

    /// The properties of the objects, by interface.
    private var objects: [ObjectPath: [String: Properties]] = [:]
    /// The number of objects below each path, so that introspection and lookups need not search.
    private var children: [ObjectPath: [String: Int]] = [:]
    private var pending: [ObjectPath: Pending] = [:]
    /// The paths of `pending`, in the order of their first changes.
    private var order: [ObjectPath] = []

    // MARK: Contents

    /// The names of an object's interfaces, sorted; nil if there is no object.
    func interfaces(at path: ObjectPath) -> [String]? { objects[path]?.keys.sorted() }

    func properties(of interface: String, at path: ObjectPath) -> Properties? { objects[path]?[interface] }

    func has(_ interface: String, at path: ObjectPath) -> Bool { objects[path]?[interface] != nil }

    /// The paths of all objects, sorted.
    var paths: [ObjectPath] { objects.keys.sorted() }

    /// The names of the elements directly below a path, sorted.
    func children(of path: ObjectPath) -> [String] { children[path]?.keys.sorted() ?? [] }

    /// Whether an object exists at or below a path.
    func leads(to path: ObjectPath) -> Bool { path == .root || objects[path] != nil || children[path] != nil }

    /// The reply to `GetManagedObjects`: an `a{oa{sa{sv}}}`.
    var managedObjects: DBusValue { .managedObjects(objects) }

    // MARK: Changes

    /// Adds interfaces to an object, which is created with the standard interfaces if it does not exist.
    mutating func add(_ interfaces: [String: Properties], at path: ObjectPath) {
        var added = interfaces
        if objects[path] == nil {
            objects[path] = [:]
            count(path, +1)
            added[StandardInterface.introspectable.name] = [:]
        }
        if !has(StandardInterface.properties.name, at: path), interfaces.values.contains(where: { !$0.isEmpty }) {
            added[StandardInterface.properties.name] = [:]
        }
        for (name, properties) in added {
            objects[path]?[name] = properties
            change(path) { $0.added.insert(name) }
        }
    }

    /// Removes some interfaces of an object, or the object.
    ///
    /// - Returns: The signals of earlier changes, and that of the removal unless the object was not announced.
    mutating func remove(_ path: ObjectPath, only interfaces: [String]? = nil) -> [Signal] {
        guard let object = objects[path] else { return [] }
        var gone = (interfaces ?? object.keys.sorted()).filter { object[$0] != nil }
        let left = object.keys.filter { !gone.contains($0) }
        if left.allSatisfy(Self.standard.contains) { gone += left.sorted() }
        let unannounced = pending[path]?.added ?? []
        var signals: [Signal] = []
        let announced = gone.filter { !unannounced.contains($0) }
        if !announced.isEmpty {
            signals = flush()
            signals.append(
                Signal(
                    path: .root, interface: StandardInterface.objectManager.name, member: "InterfacesRemoved",
                    body: [.objectPath(path), .strings(announced)]))
        }
        for name in gone {
            objects[path]?[name] = nil
            pending[path]?.added.remove(name)
            pending[path]?.changed[name] = nil
        }
        if objects[path]?.isEmpty == true {
            objects[path] = nil
            pending[path] = nil
            order.removeAll { $0 == path }
            count(path, -1)
        }
        return signals
    }

    /// Changes a property; nil removes it.
    ///
    /// - Parameter isRepeated: Whether an equal value is signalled again.
    mutating func set(
        _ value: DBusValue?, of property: String, _ interface: String, at path: ObjectPath, isRepeated: Bool = false
    ) {
        guard has(interface, at: path) else { return }
        let isEqual = objects[path]?[interface]?[property] == value
        guard !isEqual || isRepeated else { return }
        if !isEqual { objects[path]?[interface]?[property] = value }
        change(path) { pending in
            guard !pending.added.contains(interface),
                pending.changed[interface]?.contains(property) != true
            else { return }
            pending.changed[interface, default: []].append(property)
        }
    }

    /// Removes a property that is temporarily absent, without a signal, as in `bluetoothd`.
    mutating func hide(_ property: String, of interface: String, at path: ObjectPath) {
        objects[path]?[interface]?[property] = nil
    }

    private mutating func change(_ path: ObjectPath, _ body: (inout Pending) -> Void) {
        if pending[path] == nil { order.append(path) }
        body(&pending[path, default: Pending()])
    }

    // MARK: Signals

    /// Returns the signals of all changes since the last flush, in the order of the first change of each object.
    mutating func flush() -> [Signal] {
        guard !order.isEmpty else { return [] }
        let changes = exchange(&pending, with: [:])
        return exchange(&order, with: []).flatMap { path in changes[path].map { signals(of: $0, at: path) } ?? [] }
    }

    private func signals(of change: Pending, at path: ObjectPath) -> [Signal] {
        guard let object = objects[path] else { return [] }
        var signals: [Signal] = []
        if !change.added.isEmpty {
            let added = object.filter { change.added.contains($0.key) }
            signals.append(
                Signal(
                    path: .root, interface: StandardInterface.objectManager.name, member: "InterfacesAdded",
                    body: [.objectPath(path), .interfaces(added)]))
        }
        for (interface, names) in change.changed.sorted(by: { $0.key < $1.key }) where !names.isEmpty {
            let present = object[interface] ?? [:]
            let values = present.filter { names.contains($0.key) }
            signals.append(
                Signal(
                    path: path, interface: StandardInterface.properties.name, member: "PropertiesChanged",
                    body: [
                        .string(interface), .properties(values), .strings(names.filter { present[$0] == nil }),
                    ]))
        }
        return signals
    }

    /// Adds `step` to the number of objects below each ancestor of a path.
    private mutating func count(_ path: ObjectPath, _ step: Int) {
        var child = path
        while let parent = child.parent {
            let name = String(child.lastElement)
            let number = (children[parent]?[name] ?? 0) + step
            children[parent, default: [:]][name] = number > 0 ? number : nil
            if children[parent]?.isEmpty == true { children[parent] = nil }
            child = parent
        }
    }
}
#endif
