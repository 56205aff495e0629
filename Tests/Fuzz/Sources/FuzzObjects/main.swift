import BluetoothDBus
import CFuzzer
import Glibc

@testable import BlueZ

/// Signals in any order, about anything, of any type: the model stays consistent, and tells only what happened.
func run(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var signals = RandomSignals(UnsafeBufferPointer(start: bytes, count: count))
    let model = ObjectModel()
    var listed: [ObjectPath: RandomSignals.Interfaces] = [:]
    while let signal = signals.next() {
        do {
            switch signal {
            case .added(let path, let interfaces):
                listed[path, default: [:]].merge(interfaces) { $1 }
                check(try model.apply(Message.added(path, interfaces)), model)
            case .changed(let path, let interface, let values, let removed):
                let isKnown = model.knows(path)
                let changes = try model.apply(Message.changed(path, interface, values, removed))
                precondition(isKnown || changes.allSatisfy(\.isMalformed), "changes of an unknown object")
                check(changes, model)
            case .removed(let path, let interfaces):
                for interface in interfaces { listed[path]?[interface] = nil }
                check(try model.apply(Message.removed(path, interfaces)), model)
            case .snapshot:
                check(try model.replace(with: Message.snapshot(listed)), model)
                let again = try model.replace(with: Message.snapshot(listed))
                precondition(
                    again.allSatisfy { !$0.isMembership }, "the same snapshot again adds and removes no objects")
            }
        } catch {
            preconditionFailure("\(error)")
        }
    }
    return 0
}

/// What is told to be there is there; what is below an object exists; a device of an adapter has an identifier.
func check(_ changes: [ObjectModel.Change], _ model: ObjectModel) {
    for change in changes {
        switch change {
        case .adapterAdded(let path), .adapterChanged(let path, _): precondition(model.adapters[path] != nil)
        case .deviceAdded(let path), .deviceChanged(let path, _): precondition(model.devices[path] != nil)
        case .valueChanged(let path, _, _): precondition(model.characteristics[path] != nil)
        default: break
        }
    }
    for parent in [
        model.devices.keys.map { $0 }, model.services.keys.map { $0 }, model.characteristics.keys.map { $0 },
    ]
    .joined() {
        precondition(model.attributes(of: parent).allSatisfy(model.knows), "an attribute that is gone")
    }
    for (path, device) in model.devices {
        _ = device.advertisement
        let hasAdapter = path.parent.map { model.adapters[$0] != nil } ?? false
        precondition(!hasAdapter || device.address.isEmpty || model.peer(at: path) != nil, "a device of no identifier")
    }
}

/// The messages of `bluetoothd`.
enum Message {
    static func added(_ path: ObjectPath, _ interfaces: RandomSignals.Interfaces) throws -> DBusMessage {
        try .signal(
            path: .root, interface: ObjectModel.objectManager, member: "InterfacesAdded",
            [.objectPath(path), value(of: interfaces)])
    }

    static func removed(_ path: ObjectPath, _ interfaces: [String]) throws -> DBusMessage {
        try .signal(
            path: .root, interface: ObjectModel.objectManager, member: "InterfacesRemoved",
            [.objectPath(path), .strings(interfaces)])
    }

    static func changed(
        _ path: ObjectPath, _ interface: String, _ values: [String: DBusValue], _ removed: [String]
    ) throws -> DBusMessage {
        try .signal(
            path: path, interface: ObjectModel.properties, member: "PropertiesChanged",
            [.string(interface), .properties(values), .strings(removed)])
    }

    static func snapshot(_ objects: [ObjectPath: RandomSignals.Interfaces]) throws -> DBusMessage {
        let interfaces = DBusType.dictionary(key: .string, value: .dictionary(key: .string, value: .variant))
        let entries = objects.sorted { $0.key < $1.key }.map { path, interfaces in
            DBusDictionary.Entry(key: .objectPath(path), value: value(of: interfaces))
        }
        return try .signal(
            path: .root, interface: "test.Reply", member: "Reply",
            [.dictionary(DBusDictionary(keyType: .objectPath, valueType: interfaces, entries: entries))])
    }

    private static func value(of interfaces: RandomSignals.Interfaces) -> DBusValue {
        let entries = interfaces.sorted { $0.key < $1.key }.map { name, properties in
            DBusDictionary.Entry(key: .string(name), value: .properties(properties))
        }
        let properties = DBusType.dictionary(key: .string, value: .variant)
        return .dictionary(DBusDictionary(keyType: .string, valueType: properties, entries: entries))
    }
}

extension ObjectModel {
    fileprivate func knows(_ path: ObjectPath) -> Bool {
        adapters[path] != nil || devices[path] != nil || services[path] != nil || characteristics[path] != nil
            || descriptors[path] != nil
    }
}

extension ObjectModel.Change {
    /// Whether an object came or went.
    fileprivate var isMembership: Bool {
        switch self {
        case .adapterChanged, .deviceChanged, .mtuChanged, .valueChanged, .malformed: false
        default: true
        }
    }

    fileprivate var isMalformed: Bool {
        if case .malformed = self { true } else { false }
    }
}

var (count, arguments) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
exit(LLVMFuzzerRunDriver(&count, &arguments, run))
