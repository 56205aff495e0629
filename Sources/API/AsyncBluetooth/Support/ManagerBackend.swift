#if canImport(Darwin)
import CoreBluetooth

/// A backend selection; Apple's platforms offer no choice, so values of the type cannot be created there.
public struct CBBackendSelection: Sendable {
    private init() {}
}

extension CBCentralManager {
    convenience init(
        backend: CBBackendSelection, delegate: any CBCentralManagerDelegate, queue: DispatchQueue,
        options: [String: Any]?
    ) { self.init(delegate: delegate, queue: queue, options: options) }
}

extension CBPeripheralManager {
    convenience init(
        backend: CBBackendSelection, delegate: any CBPeripheralManagerDelegate, queue: DispatchQueue,
        options: [String: Any]?
    ) { self.init(delegate: delegate, queue: queue, options: options) }
}
#endif
