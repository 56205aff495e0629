import CoreBluetooth

/// A manager over the selected backend, by default BlueZ.
///
/// The selection is that of `CBCentralManager(delegate:queue:options:)`.
///
/// Thread rule: all members may be used from any thread. Callbacks run on the manager's queue.
public class CBMCentralManagerNative: CBMWrappedCentralManager {
    /// Creates a manager without a delegate, with callbacks on the main queue.
    public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

    /// Creates a manager without options.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    public convenience init(delegate: (any CBMCentralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: `CBMCentralManagerOption…` keys.
    public init(delegate: (any CBMCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]?) {
        super.init(delegate: delegate, queue: queue) { CBCentralManager(delegate: $0, queue: queue, options: options) }
    }

    /// Whether this process may use Bluetooth, by the selected backend.
    public override var authorization: CBMManagerAuthorization { CBCentralManager.authorization }

    /// Whether this process may use Bluetooth, by the selected backend.
    public override class var authorization: CBMManagerAuthorization { CBCentralManager.authorization }

    /// Returns whether the selected backend has these features.
    public override class func supports(_ features: CBMCentralManager.Feature) -> Bool {
        CBCentralManager.supports(features)
    }
}
