import CoreBluetooth

/// A factory of peripheral managers; the backend is chosen as in ``CBMCentralManagerFactory``.
///
/// Thread rule: all members may be used from any thread.
public class CBMPeripheralManagerFactory {
    /// Creates a manager without a delegate, with callbacks on the main queue.
    ///
    /// - Parameter forceMock: Whether to create a mock regardless of other settings.
    public static func instance(forceMock: Bool = false) -> CBMPeripheralManager {
        instance(delegate: nil, queue: nil, options: nil, forceMock: forceMock)
    }

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: `CBMPeripheralManagerOption…` keys.
    ///   - forceMock: Whether to create a mock regardless of other settings.
    public static func instance(
        delegate: (any CBMPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil,
        forceMock: Bool = false
    ) -> CBMPeripheralManager {
        BackendChoice.isMocked(forceMock: forceMock)
            ? CBMPeripheralManagerMock(delegate: delegate, queue: queue, options: options)
            : CBMPeripheralManagerNative(delegate: delegate, queue: queue, options: options)
    }
}
