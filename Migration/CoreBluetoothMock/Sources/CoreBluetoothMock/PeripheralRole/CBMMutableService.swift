import CoreBluetooth

/// A service of the local GATT database.
///
/// Change it before it is added to a ``CBMPeripheralManager``: while it is published, changes are ignored with a log
/// line.
///
/// Thread rule: use it from one thread, or from the manager's queue.
open class CBMMutableService: CBMService,
    // Invariant: that of the superclass; mutable state is under a lock.
    @unchecked Sendable
{
    private let held: Protected<CBMutableService>

    /// The service of CoreBluetooth.
    var wrapped: CBMutableService { held.withLock { $0 } }

    /// Creates a service that is not published yet.
    ///
    /// - Parameters:
    ///   - UUID: The service's type.
    ///   - isPrimary: Whether it is a primary service; a secondary one is meant to be included by another.
    public init(type UUID: CBMUUID, primary isPrimary: Bool) {
        held = Protected(BridgedService(type: UUID, primary: isPrimary))
        super.init(uuid: UUID, isPrimary: isPrimary)
        (wrapped as? BridgedService)?.owner = self
    }

    /// The services that this one includes, which must be published before.
    open override var includedServices: [CBMService]? {
        get { super.includedServices }
        set {
            let services = newValue?.compactMap { $0 as? CBMMutableService }
            wrapped.includedServices = services?.map(\.wrapped)
            if wrapped.includedServices?.count == services?.count {
                fields.withLock { $0.includedServices = services }
            }
        }
    }

    /// The service's characteristics; setting them makes this their `service`.
    open override var characteristics: [CBMCharacteristic]? {
        get { super.characteristics }
        set {
            let characteristics = newValue?.compactMap { $0 as? CBMMutableCharacteristic }
            let objects = characteristics?.map(\.wrapped)
            wrapped.characteristics = objects
            guard wrapped.characteristics.map({ ObjectIdentifiers($0) }) == objects.map({ ObjectIdentifiers($0) })
            else {
                return
            }
            for old in super.characteristics ?? [] where old.optionalService === self { old.attach(to: nil) }
            fields.withLock { $0.characteristics = characteristics }
            for characteristic in characteristics ?? [] { characteristic.attach(to: self) }
        }
    }

    /// The service's characteristics.
    var mutables: [CBMMutableCharacteristic] {
        (characteristics ?? []).compactMap { $0 as? CBMMutableCharacteristic }
    }

    /// Wraps the service that the system has restored, with its characteristics.
    func rebind(to service: CBMutableService) {
        held.withLock { $0 = service }
        for (characteristic, object) in zip(mutables, service.characteristics ?? []) {
            if let object = object as? CBMutableCharacteristic { characteristic.rebind(to: object) }
        }
    }
}

/// The identities of objects, in their order.
private struct ObjectIdentifiers: Equatable {
    let values: [ObjectIdentifier]
    init(_ objects: [AnyObject]) { values = objects.map { ObjectIdentifier($0) } }
}

/// A service that knows its wrapper.
final class BridgedService: CBMutableService {
    weak var owner: CBMMutableService?
}
