#if os(Linux)
/// The objects that a connection exports.
///
/// Pure.
struct ExportedObjects: Sendable {
    private struct Object: Sendable {
        /// The interfaces, by name.
        let interfaces: [String: DBusInterface]
        /// Whether it lists the objects below it.
        let isManager: Bool
    }

    struct Removed: Equatable, Sendable {
        let path: ObjectPath
        let interfaces: [String]
        /// The object manager that must report the removal, if there is one.
        let manager: ObjectPath?
    }

    /// The interface of every object, in addition to its own.
    var standard: DBusInterface?
    /// The additional interface of objects that list the objects below them.
    var manager: DBusInterface?
    private var objects: [ObjectPath: Object] = [:]

    // MARK: Changes

    /// Adds an object, and replaces one at the same path.
    mutating func add(_ interfaces: [DBusInterface], at path: ObjectPath, isManager: Bool) {
        objects[path] = Object(
            interfaces: Dictionary(interfaces.map { ($0.name, $0) }) { $1 }, isManager: isManager)
    }

    /// Removes an object and all objects below it.
    ///
    /// - Returns: The removed objects, the deepest first.
    mutating func remove(_ path: ObjectPath) -> [Removed] {
        let gone = objects.filter { $0.key == path || $0.key.isBelow(path) }.sorted { $0.key > $1.key }
        for (path, _) in gone { objects[path] = nil }
        // Managers that are removed too report nothing.
        return gone.map { path, object in
            Removed(path: path, interfaces: object.interfaces.keys.sorted(), manager: manager(above: path))
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

    // MARK: Contents of a path

    /// The interfaces at a path; none if there is no object.
    private func interfaces(at path: ObjectPath) -> [DBusInterface] {
        guard let object = objects[path] else { return [] }
        return [standard, object.isManager ? manager : nil].compactMap(\.self) + object.interfaces.values
    }

    /// The method that a call selects.
    ///
    /// - Parameter interface: The interface; nil searches all interfaces.
    /// - Throws: An error if the object, the interface or the method is unknown, or if the signature is wrong.
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

    func interface(_ name: String, at path: ObjectPath) throws(DBusError) -> DBusInterface {
        guard let found = interfaces(at: path).first(where: { $0.name == name }) else {
            throw DBusError(name: DBusError.Name.unknownInterface, message: "no such interface at \(path)")
        }
        return found
    }

    func property(_ name: String, of interface: String, at path: ObjectPath) throws(DBusError) -> DBusValue {
        guard let property = try self.interface(interface, at: path).properties[name] else {
            throw DBusError(name: DBusError.Name.unknownProperty, message: "no such property of \(interface)")
        }
        return property
    }

    // MARK: Lists

    /// The result of `GetManagedObjects`: an `a{oa{sa{sv}}}`.
    func managed(below manager: ObjectPath) -> DBusValue {
        .managedObjects(objects.filter { $0.key.isBelow(manager) }.mapValues { $0.interfaces.mapValues(\.properties) })
    }
}
#endif
