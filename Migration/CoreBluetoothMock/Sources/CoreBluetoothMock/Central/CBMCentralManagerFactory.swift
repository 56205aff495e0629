import CoreBluetooth

/// Makes central managers.
///
/// The backend is chosen in this order: a mock where `forceMock` says so; a mock where the task's backend selection
/// (`CBManager.withBackend`, or a test's trait) names an emulator; what `COREBLUETOOTH_BACKEND` says, `bluez` for a native
/// manager and `emulator` for a mock; a mock, with one line in the log, where this process has simulated something; a native
/// manager.
///
/// Thread rule: all members may be used from any thread.
public class CBMCentralManagerFactory {
    /// A manager without a delegate, with callbacks on the main queue.
    ///
    /// - Parameter forceMock: Makes a mock, whatever else is said.
    public static func instance(forceMock: Bool = false) -> CBMCentralManager {
        instance(delegate: nil, queue: nil, options: nil, forceMock: forceMock)
    }

    /// A manager without options.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - forceMock: Makes a mock, whatever else is said.
    public static func instance(
        delegate: (any CBMCentralManagerDelegate)?, queue: DispatchQueue?, forceMock: Bool = false
    ) -> CBMCentralManager {
        instance(delegate: delegate, queue: queue, options: nil, forceMock: forceMock)
    }

    /// A manager.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: `CBMCentralManagerOption…` keys.
    ///   - forceMock: Makes a mock, whatever else is said.
    public static func instance(
        delegate: (any CBMCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]?,
        forceMock: Bool = false
    ) -> CBMCentralManager {
        BackendChoice.isMocked(forceMock: forceMock)
            ? CBMCentralManagerMock(delegate: delegate, queue: queue, options: options)
            : CBMCentralManagerNative(delegate: delegate, queue: queue, options: options)
    }
}
