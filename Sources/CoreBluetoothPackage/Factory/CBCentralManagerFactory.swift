public import Dispatch

/// Makes central managers, as code written for Nordic's CoreBluetoothMock does.
///
/// An extension of this package.
public enum CBCentralManagerFactory {
    /// A central manager over the selected radio.
    ///
    /// - Parameters:
    ///   - delegate: Who is told; held weakly.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: As of the manager's initializer.
    ///   - forceMock: Takes the shared emulator, whatever else is said.
    public static func instance(
        delegate: (any CBCentralManagerDelegate)? = nil, queue: DispatchQueue? = nil, options: [String: Any]? = nil,
        forceMock: Bool = false
    ) -> CBCentralManager {
        guard forceMock else { return CBCentralManager(delegate: delegate, queue: queue, options: options) }
        return CBCentralManager(
            backend: .custom(BackendResolver.emulator(.process)), delegate: delegate, queue: queue, options: options)
    }
}
