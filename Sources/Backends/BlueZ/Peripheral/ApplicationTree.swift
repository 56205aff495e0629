#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The services that one manager publishes, and their paths on the bus.
///
/// Pure.
///
/// Each service is a separate application, so that it can be added and removed alone. Services that include each other
/// share one, because BlueZ resolves `Includes` only within an application.
struct ApplicationTree: Sendable {
    /// A group of services that is registered as a whole.
    struct Application: Equatable, Sendable {
        let root: ObjectPath
        /// The services, in the order in which they were published.
        var services: [ServiceDefinition]
    }

    /// A published characteristic or descriptor.
    enum Attribute: Equatable, Sendable {
        case characteristic(ServiceDefinition.Characteristic)
        case descriptor(ServiceDefinition.Descriptor)
    }

    private let base: ObjectPath
    private(set) var applications: [Application] = []
    private var attributes: [ObjectPath: Attribute] = [:]
    private var paths: [AttributeID: ObjectPath] = [:]
    /// The characteristics that require an encrypted link.
    private var encrypted: Set<ObjectPath> = []
    private var lastNumber = 0

    /// - Parameter base: The parent path of the applications.
    init(base: ObjectPath) { self.base = base }

    // MARK: Lookup

    /// Returns the attribute at a path.
    func attribute(at path: ObjectPath) -> Attribute? { attributes[path] }

    /// Returns the characteristic at a path.
    func characteristic(at path: ObjectPath) -> ServiceDefinition.Characteristic? {
        if case .characteristic(let characteristic)? = attributes[path] { characteristic } else { nil }
    }

    /// Whether any characteristic requires encryption.
    var needsEncryption: Bool { !encrypted.isEmpty }

    /// Returns the path of an attribute.
    func path(of id: AttributeID) -> ObjectPath? { paths[id] }

    /// Returns the application of a service.
    func application(of service: AttributeID) -> Application? {
        applications.first { $0.services.contains { $0.id == service } }
    }

    // MARK: Changes

    /// Plans the publication of a service: a new application that contains it and the applications of its included
    /// services.
    ///
    /// - Returns: The replaced applications, and the new one; nil if an included service is not published.
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

    /// Returns an application with the same services at a new path.
    mutating func moved(_ application: Application) -> Application {
        lastNumber += 1
        return Application(root: base.appending("app\(lastNumber)"), services: application.services)
    }

    /// Adds an application.
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

    /// Removes an application.
    mutating func remove(_ application: Application) {
        applications.removeAll { $0.root == application.root }
        forget(below: application.root)
    }

    /// Removes one service of an application that has others.
    ///
    /// - Returns: The path of the service.
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

    /// Returns the objects of an application; the root comes last, so that the objects that it lists exist by then.
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
        // The property makes BlueZ report subscribers. `WriteAcquired` is omitted: with it BlueZ would acknowledge
        // writes, and mix those of several centrals (https://github.com/bluez/bluez/issues/827).
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

    /// Returns the path of a service; paths sort in the order of publication, which BlueZ follows: included services
    /// first.
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
    /// The number in eight hexadecimal digits.
    fileprivate var digits: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
#endif
