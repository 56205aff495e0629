#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// What one manager publishes, and where on the bus.
///
/// Pure.
///
/// Each service is an application of its own, so that it can come and go alone; services that include each other share
/// one, since BlueZ resolves `Includes` within an application only.
struct ApplicationTree: Sendable {
    /// What is registered as a whole.
    struct Application: Equatable, Sendable {
        let root: ObjectPath
        /// In the order of their publishing.
        var services: [ServiceDefinition]
    }

    /// A characteristic or a descriptor of ours.
    enum Attribute: Equatable, Sendable {
        case characteristic(ServiceDefinition.Characteristic)
        case descriptor(ServiceDefinition.Descriptor)
    }

    private let base: ObjectPath
    private(set) var applications: [Application] = []
    private var attributes: [ObjectPath: Attribute] = [:]
    private var paths: [AttributeID: ObjectPath] = [:]
    /// The characteristics that centrals must encrypt the link for.
    private var encrypted: Set<ObjectPath> = []
    private var lastNumber = 0

    /// - Parameter base: Where the applications are.
    init(base: ObjectPath) { self.base = base }

    // MARK: What is where

    /// The attribute at a path.
    func attribute(at path: ObjectPath) -> Attribute? { attributes[path] }

    /// The characteristic at a path.
    func characteristic(at path: ObjectPath) -> ServiceDefinition.Characteristic? {
        if case .characteristic(let characteristic)? = attributes[path] { characteristic } else { nil }
    }

    /// Whether a characteristic requires encryption.
    var needsEncryption: Bool { !encrypted.isEmpty }

    /// The path of an attribute.
    func path(of id: AttributeID) -> ObjectPath? { paths[id] }

    /// The application of a service.
    func application(of service: AttributeID) -> Application? {
        applications.first { $0.services.contains { $0.id == service } }
    }

    // MARK: Changes

    /// What publishing a service takes: a new application with it and with all that its includes are in.
    ///
    /// - Returns: The applications that it replaces, and the new one; nil if an included service is not published.
    mutating func plan(_ service: ServiceDefinition) -> (replaced: [Application], new: Application)? {
        let replaced = applications.filter { application in
            application.services.contains { service.included.contains($0.id) }
        }
        let known = Set(replaced.flatMap { $0.services.map(\.id) })
        guard known.isSuperset(of: service.included) else { return nil }
        lastNumber += 1
        let root = base.appending("app\(lastNumber)")
        return (replaced, Application(root: root, services: replaced.flatMap(\.services) + [service]))
    }

    /// An application with the same services at a new place.
    mutating func moved(_ application: Application) -> Application {
        lastNumber += 1
        return Application(root: base.appending("app\(lastNumber)"), services: application.services)
    }

    /// Takes an application in.
    mutating func add(_ application: Application) {
        applications.append(application)
        for service in application.services {
            for characteristic in service.characteristics {
                let path = Self.path(of: characteristic.id, in: service, application)
                attributes[path] = .characteristic(characteristic)
                paths[characteristic.id] = path
                if AttributeFlags.needsEncryption(characteristic) { encrypted.insert(path) }
                for descriptor in characteristic.descriptors {
                    let descriptorPath = path.appending("desc\(descriptor.id.digits)")
                    attributes[descriptorPath] = .descriptor(descriptor)
                    paths[descriptor.id] = descriptorPath
                }
            }
        }
    }

    /// Takes an application out.
    mutating func remove(_ application: Application) {
        applications.removeAll { $0.root == application.root }
        forget(below: application.root)
    }

    /// Takes one service out of an application that has others.
    ///
    /// - Returns: Its path.
    mutating func remove(_ service: AttributeID, from application: Application) -> ObjectPath? {
        guard let index = applications.firstIndex(where: { $0.root == application.root }),
            let definition = application.services.first(where: { $0.id == service })
        else { return nil }
        applications[index].services.removeAll { $0.id == service }
        let path = Self.path(of: definition, application)
        forget(below: path)
        return path
    }

    private mutating func forget(below path: ObjectPath) {
        let gone = attributes.keys.filter { $0.isBelow(path) }
        for path in gone {
            attributes[path] = nil
            encrypted.remove(path)
        }
        paths = paths.filter { !$0.value.isBelow(path) }
    }

    // MARK: Objects

    /// What the daemon is to see of an application, the root last: what it lists is there by then.
    static func objects(of application: Application) -> [ExportedObject] {
        application.services.flatMap { objects(of: $0, application) }
            + [ExportedObject(kind: .application, path: application.root)]
    }

    private static func objects(of service: ServiceDefinition, _ application: Application) -> [ExportedObject] {
        let path = path(of: service, application)
        let included = application.services.filter { service.included.contains($0.id) }
        var properties: [String: DBusValue] = [
            "UUID": .string(service.uuid.text), "Primary": .boolean(service.isPrimary),
        ]
        if !included.isEmpty {
            properties["Includes"] = .objectPaths(included.map { Self.path(of: $0, application) })
        }
        let characteristics = service.characteristics.flatMap { objects(of: $0, service, application) }
        return [ExportedObject(kind: .service, path: path, properties: properties)] + characteristics
    }

    private static func objects(
        of characteristic: ServiceDefinition.Characteristic, _ service: ServiceDefinition, _ application: Application
    ) -> [ExportedObject] {
        let path = path(of: characteristic.id, in: service, application)
        var properties: [String: DBusValue] = [
            "UUID": .string(characteristic.uuid.text),
            "Service": .objectPath(Self.path(of: service, application)),
            "Flags": .strings(AttributeFlags.flags(of: characteristic)),
        ]
        // Its being there makes BlueZ say who subscribes. `WriteAcquired` stays away: BlueZ would acknowledge writes,
        // and mix those of several centrals (https://github.com/bluez/bluez/issues/827).
        if characteristic.canNotify { properties["NotifyAcquired"] = .boolean(false) }
        let descriptors = characteristic.descriptors.map { descriptor in
            ExportedObject(
                kind: .descriptor, path: path.appending("desc\(descriptor.id.digits)"),
                properties: [
                    "UUID": .string(descriptor.uuid.text), "Characteristic": .objectPath(path),
                    "Flags": .strings(["read"]),
                ])
        }
        return [ExportedObject(kind: .characteristic, path: path, properties: properties)] + descriptors
    }

    /// Paths sort in the order of publishing, in which BlueZ takes them: what is included comes first.
    private static func path(of service: ServiceDefinition, _ application: Application) -> ObjectPath {
        application.root.appending("service\(service.id.digits)")
    }

    private static func path(
        of characteristic: AttributeID, in service: ServiceDefinition, _ application: Application
    ) -> ObjectPath {
        path(of: service, application).appending("char\(characteristic.digits)")
    }
}

extension AttributeID {
    /// Eight digits.
    fileprivate var digits: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

extension ObjectPath {
    /// This path with one more element, which must be made of `[A-Za-z0-9_]`.
    func appending(_ element: String) -> ObjectPath {
        guard let path = ObjectPath((text == "/" ? "" : text) + "/" + element) else {
            preconditionFailure("not an element of an object path: \(element)")
        }
        return path
    }
}
#endif
