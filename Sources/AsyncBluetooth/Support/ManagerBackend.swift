import CoreBluetooth

#if canImport(Darwin)
/// A backend, of which Apple's platforms offer no choice: the type has no values there.
public enum CBBackendSelection: Sendable {}
#endif

extension CBCentralManager {
    /// Creates a manager on a backend; nil for the one that is selected for the task or the process.
    convenience init(
        on backend: CBBackendSelection?, delegate: any CBCentralManagerDelegate, queue: DispatchQueue,
        options: [String: Any]?
    ) {
        #if !canImport(Darwin)
        if let backend {
            self.init(backend: backend, delegate: delegate, queue: queue, options: options)
            return
        }
        #endif
        self.init(delegate: delegate, queue: queue, options: options)
    }
}

extension CBPeripheralManager {
    /// Creates a manager on a backend; nil for the one that is selected for the task or the process.
    convenience init(
        on backend: CBBackendSelection?, delegate: any CBPeripheralManagerDelegate, queue: DispatchQueue,
        options: [String: Any]?
    ) {
        #if !canImport(Darwin)
        if let backend {
            self.init(backend: backend, delegate: delegate, queue: queue, options: options)
            return
        }
        #endif
        self.init(delegate: delegate, queue: queue, options: options)
    }
}
