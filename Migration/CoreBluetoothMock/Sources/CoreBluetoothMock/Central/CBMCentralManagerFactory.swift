import CoreBluetooth

/// A factory of central managers.
///
/// The backend is chosen in this order: a mock if `forceMock` is true; a mock if the task's backend selection
/// (`CBManager.withBackend`, or a test's trait) names an emulator; the value of `COREBLUETOOTH_BACKEND`, `bluez` for a
/// native manager and `emulator` for a mock; a mock, with one line in the log, if this process has simulated something;
/// a native manager.
///
/// Thread rule: all members may be used from any thread.
public class CBMCentralManagerFactory {
    /// Creates a manager without a delegate, with callbacks on the main queue.
    ///
    /// - Parameter forceMock: Whether to create a mock regardless of other settings.
    public static func instance(forceMock: Bool = false) -> CBMCentralManager {
        instance(delegate: nil, queue: nil, options: nil, forceMock: forceMock)
    }

    /// Creates a manager without options.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - forceMock: Whether to create a mock regardless of other settings.
    public static func instance(
        delegate: (any CBMCentralManagerDelegate)?, queue: DispatchQueue?, forceMock: Bool = false
    ) -> CBMCentralManager {
        instance(delegate: delegate, queue: queue, options: nil, forceMock: forceMock)
    }

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: `CBMCentralManagerOption…` keys.
    ///   - forceMock: Whether to create a mock regardless of other settings.
    public static func instance(
        delegate: (any CBMCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]?,
        forceMock: Bool = false
    ) -> CBMCentralManager {
        BackendChoice.isMocked(forceMock: forceMock)
            ? CBMCentralManagerMock(delegate: delegate, queue: queue, options: options)
            : CBMCentralManagerNative(delegate: delegate, queue: queue, options: options)
    }
}
