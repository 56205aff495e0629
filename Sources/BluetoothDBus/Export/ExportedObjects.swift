#if os(Linux)
/// The objects that a connection exports.
///
/// Pure.
struct ExportedObjects: Sendable {
    /// One object.
    private struct Object: Sendable {
        /// By name.
        var interfaces: [String: DBusInterface]
        /// Whether it lists what is below it.
        let isManager: Bool
    }

    /// An object that is gone.
    struct Removed: Equatable, Sendable {
        let path: ObjectPath
        let interfaces: [String]
        /// Who has to tell of it, if anybody.
        let manager: ObjectPath?
    }

    /// What every object has.
    private let standard: [DBusInterface]
    /// What objects have, too, that list what is below them.
    private let manager: DBusInterface
    /// What paths have that only lead to objects.
    private let introspectable: DBusInterface
    private var objects: [ObjectPath: Object] = [:]

    init(properties: DBusInterface, introspectable: DBusInterface, manager: DBusInterface) {
        standard = [introspectable, properties]
        self.introspectable = introspectable
        self.manager = manager
    }

    // MARK: Changes

    /// Adds an object, in place of one at the same path.
    ///
    /// - Returns: The object above that has to tell of it, if there is one.
    mutating func add(_ interfaces: [DBusInterface], at path: ObjectPath, isManager: Bool) -> ObjectPath? {
        objects[path] = Object(
            interfaces: Dictionary(interfaces.map { ($0.name, $0) }) { $1 }, isManager: isManager)
        return manager(above: path)
    }

    /// Removes an object and all below it.
    ///
    /// - Returns: What is gone, the deepest first.
    mutating func remove(_ path: ObjectPath) -> [Removed] {
        let gone = objects.filter { $0.key == path || $0.key.isBelow(path) }.sorted { $0.key > $1.key }
        for (path, _) in gone { objects[path] = nil }
        // Managers that go along have nothing to tell any more.
        return gone.map { path, object in
            Removed(path: path, interfaces: object.interfaces.keys.sorted(), manager: manager(above: path))
        }
    }

    /// Changes properties; those that are not there, or of another type, are left alone.
    ///
    /// - Returns: What was changed.
    mutating func set(_ values: [String: DBusValue], of interface: String, at path: ObjectPath) -> [String: DBusValue] {
        values.filter { name, value in
            guard let old = objects[path]?.interfaces[interface]?.properties[name], old.value.type == value.type
            else { return false }
            objects[path]?.interfaces[interface]?.properties[name]?.value = value
            return true
        }
    }

    private func manager(above path: ObjectPath) -> ObjectPath? {
        var ancestor = path.parent
        while let candidate = ancestor {
            if objects[candidate]?.isManager == true { return candidate }
            ancestor = candidate.parent
        }
        return nil
    }

    // MARK: What is where

    /// The interfaces at a path, by name within each group; none where nothing is.
    func interfaces(at path: ObjectPath) -> [DBusInterface] {
        guard let object = objects[path] else { return children(of: path).isEmpty ? [] : [introspectable] }
        let own = object.interfaces.sorted { $0.key < $1.key }.map(\.value)
        return standard + (object.isManager ? [manager] : []) + own
    }

    /// The names of the next steps below a path, sorted.
    func children(of path: ObjectPath) -> [String] {
        let start = path == .root ? 1 : path.text.utf8.count + 1
        let names = objects.keys.filter { $0.isBelow(path) }.map { below in
            String(below.text.dropFirst(start).prefix { $0 != "/" })
        }
        return Set(names).sorted()
    }

    /// The method that a call means.
    ///
    /// - Parameter interface: nil finds it in any.
    /// - Throws: What is unknown of it, or the wrong signature.
    func method(
        _ member: String, of interface: String?, at path: ObjectPath, signature: String
    ) throws(DBusError) -> DBusInterface.Method {
        let known = interfaces(at: path)
        guard !known.isEmpty else {
            throw DBusError(name: DBusError.Name.unknownObject, message: "no object at \(path)")
        }
        let wanted = known.filter { interface == nil || $0.name == interface }
        guard !wanted.isEmpty else {
            throw DBusError(name: DBusError.Name.unknownInterface, message: "no such interface at \(path)")
        }
        guard let method = wanted.lazy.compactMap({ $0.methods[member] }).first else {
            throw DBusError(name: DBusError.Name.unknownMethod, message: "no method \(member) at \(path)")
        }
        guard method.arguments.text == signature else {
            let text = "\(member) takes (\(method.arguments.text)), not (\(signature))"
            throw DBusError(name: DBusError.Name.invalidArguments, message: text)
        }
        return method
    }

    /// The properties of an interface.
    func properties(of interface: String, at path: ObjectPath) throws(DBusError) -> [String: DBusInterface.Property] {
        guard let found = interfaces(at: path).first(where: { $0.name == interface }) else {
            throw DBusError(name: DBusError.Name.unknownInterface, message: "no such interface at \(path)")
        }
        return found.properties
    }

    /// A property of an interface.
    func property(
        _ name: String, of interface: String, at path: ObjectPath
    ) throws(DBusError) -> DBusInterface.Property {
        guard let property = try properties(of: interface, at: path)[name] else {
            throw DBusError(name: DBusError.Name.unknownProperty, message: "no such property of \(interface)")
        }
        return property
    }

    // MARK: Lists

    /// The answer of `GetManagedObjects`: an `a{oa{sa{sv}}}`.
    func managed(below manager: ObjectPath) -> DBusValue {
        let paths = objects.keys.filter { $0.isBelow(manager) }.sorted()
        return .dictionary(
            DBusDictionary(
                keyType: .objectPath,
                valueType: .dictionary(key: .string, value: .dictionary(key: .string, value: .variant)),
                entries: paths.map { .init(key: .objectPath($0), value: description(of: $0)) }))
    }

    /// The interfaces of an object with their properties: an `a{sa{sv}}`.
    func description(of path: ObjectPath) -> DBusValue {
        let interfaces = objects[path]?.interfaces.sorted { $0.key < $1.key } ?? []
        return .dictionary(
            DBusDictionary(
                keyType: .string, valueType: .dictionary(key: .string, value: .variant),
                entries: interfaces.map {
                    .init(key: .string($0.key), value: .properties($0.value.properties.mapValues(\.value)))
                }))
    }
}
#endif
