import BluetoothDBus
import CFuzzer
import Glibc

@testable import BlueZ

/// Signals in any order, about anything, of any type: the tree stays consistent, and says only what happened.
func run(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var signals = RandomSignals(UnsafeBufferPointer(start: bytes, count: count))
    var tree = ObjectTree()
    var objects: [ObjectPath: ObjectTree.Interfaces] = [:]
    while let signal = signals.next() {
        switch signal {
        case .added(let path, let interfaces):
            objects[path, default: [:]].merge(interfaces) { $1 }
            check(tree.add(path, interfaces), tree)
        case .changed(let path, let interface, let values, let removed):
            let isKnown = tree.knows(path)
            let changes = tree.change(path, interface, values, removing: removed)
            precondition(isKnown || changes.isEmpty, "changes of an unknown object")
            check(changes, tree)
        case .removed(let path, let interfaces):
            for interface in interfaces { objects[path]?[interface] = nil }
            check(tree.remove(path, interfaces), tree)
        case .snapshot:
            check(tree.replace(with: objects), tree)
            precondition(
                tree.replace(with: objects).allSatisfy { !$0.isMembership },
                "the same snapshot again adds and removes no objects")
        }
    }
    return 0
}

/// What is told to be there is there; what is below an object exists.
func check(_ changes: [ObjectTree.Change], _ tree: ObjectTree) {
    for change in changes {
        switch change {
        case .adapterAdded(let path), .adapterChanged(let path, _): precondition(tree.adapters[path] != nil)
        case .deviceAdded(let path), .deviceChanged(let path, _): precondition(tree.devices[path] != nil)
        case .mtuChanged(let path, _), .valueChanged(let path, _): precondition(tree.characteristics[path] != nil)
        default: break
        }
    }
    for parent in [tree.devices.keys.map { $0 }, tree.services.keys.map { $0 }, tree.characteristics.keys.map { $0 }]
        .joined()
    {
        precondition(tree.attributes(of: parent).allSatisfy(tree.knows), "an attribute that is gone")
    }
    for device in tree.devices.values { _ = device.advertisement }
}

extension ObjectTree {
    fileprivate func knows(_ path: ObjectPath) -> Bool {
        adapters[path] != nil || devices[path] != nil || services[path] != nil || characteristics[path] != nil
            || descriptors[path] != nil
    }
}

extension ObjectTree.Change {
    /// Whether an object came or went.
    fileprivate var isMembership: Bool {
        switch self {
        case .adapterChanged, .deviceChanged, .mtuChanged, .valueChanged, .malformed: false
        default: true
        }
    }
}

var (count, arguments) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
exit(LLVMFuzzerRunDriver(&count, &arguments, run))
