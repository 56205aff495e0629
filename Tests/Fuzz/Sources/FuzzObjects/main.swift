import BluetoothDBus
import CFuzzer
import Glibc

@testable import BlueZ

/// Applies signals in any order, about any object, of any type: the model stays consistent, and reports only real
/// changes.
func run(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var signals = RandomSignals(UnsafeBufferPointer(start: bytes, count: count))
    let model = ObjectModel()
    var listed: [ObjectPath: DaemonMessage.Interfaces] = [:]
    while let signal = signals.next(listed) {
        do {
            switch signal {
            case .snapshot:
                check(try model.replace(with: signal.message), model)
                let again = try model.replace(with: signal.message)
                precondition(
                    again.allSatisfy { !$0.isMembership }, "the same snapshot again adds and removes no objects")
            case .propertiesChanged(let path, _, _, _):
                let isKnown = model.knows(path)
                let changes = try model.apply(signal.message)
                precondition(isKnown || changes.allSatisfy(\.isMalformed), "changes of an unknown object")
                check(changes, model)
            default:
                if case .interfacesAdded(let path, let interfaces) = signal {
                    listed[path, default: [:]].merge(interfaces) { $1 }
                }
                if case .interfacesRemoved(let path, let interfaces) = signal {
                    for interface in interfaces { listed[path]?[interface] = nil }
                }
                check(try model.apply(signal.message), model)
            }
        } catch {
            preconditionFailure("\(error)")
        }
    }
    return 0
}

/// Checks that reported objects exist, that the parents of objects exist, and that a device of an adapter has an
/// identifier.
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

extension ObjectModel {
    fileprivate func knows(_ path: ObjectPath) -> Bool {
        adapters[path] != nil || devices[path] != nil || services[path] != nil || characteristics[path] != nil
            || descriptors[path] != nil
    }
}

extension ObjectModel.Change {
    /// Whether an object was added or removed.
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
