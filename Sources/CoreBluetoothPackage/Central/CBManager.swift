import BluetoothBackend
public import Foundation

/// What central and peripheral managers have in common.
///
/// Source: Apple, CBManager.
open class CBManager: NSObject {
    /// For the managers of this module.
    init(ofModule: Void) { super.init() }

    /// The state of the adapter as the delegate knows it.
    ///
    /// Readable from any thread; changes on the manager's queue.
    open var state: CBManagerState { .unknown }

    /// Whether this process may use Bluetooth, by the backend that a manager made here and now would get; never
    /// prompts.
    ///
    /// On Linux `.allowedAlways`, unless the bus refuses access.
    open class var authorization: CBManagerAuthorization {
        CBManagerAuthorization(BackendResolver.backend().authorization())
    }

    /// The older form of the static property.
    @available(*, deprecated, message: "Use the static property of the same name instead")
    open var authorization: CBManagerAuthorization { Self.authorization }

    /// `<CBCentralManager: 0x1234>`.
    open override var description: String { describe(self) }
}
