import BluetoothLocking
public import Dispatch
import Foundation
import Synchronization

/// The peripheral role: services that others read, advertising, L2CAP channels.
///
/// No backend serves this role yet: ``state`` becomes `.unsupported`, and every command is ignored with a log line, as
/// CoreBluetooth does in any state but `.poweredOn`. Calls are accepted from any thread; callbacks run on the manager's
/// queue, one at a time. Source: Apple, CBPeripheralManager.
open class CBPeripheralManager: CBManager {
    // Invariant of `@unchecked`: the manager is only carried to its own queue, and used there.
    private struct WeakReference: @unchecked Sendable {
        weak var manager: CBPeripheralManager?
    }

    private let currentState = Lock(CBManagerState.unknown)
    private let delegateReference = WeakDelegate<any CBPeripheralManagerDelegate>()

    /// Makes a manager without delegate, on the main queue.
    public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

    /// Makes a manager without options. See ``init(delegate:queue:options:)``.
    ///
    /// `required`, so that a protocol with this initializer can be given to the class; a subclass with designated
    /// initializers of its own has to write it too.
    public required convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Makes a manager. Its first callback is the state, later on the queue.
    ///
    /// - Parameters:
    ///   - delegate: Who is called; held weakly.
    ///   - queue: A serial queue for callbacks; nil is the main queue.
    ///   - options: See ``CBPeripheralManagerOptionRestoreIdentifierKey``. The system restores nothing, and shows no
    ///     alert.
    public init(
        delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
    ) {
        super.init(peripheralRole: ())
        delegateReference.set(delegate)
        let reference = WeakReference(manager: self)
        (queue ?? .main).async { reference.manager?.becomeUnsupported() }
    }

    /// Who is called. Held weakly and read at each callback.
    open var delegate: (any CBPeripheralManagerDelegate)? {
        get { delegateReference.delegate }
        set { delegateReference.set(newValue) }
    }

    /// What can be done with the adapter in this role. Changes on the manager's queue, just before the callback.
    open override var state: CBManagerState { currentState.withLock { $0 } }

    /// Whether the manager advertises.
    open var isAdvertising: Bool { false }

    /// The older form of ``CBManager/authorization``.
    @available(*, deprecated, message: "Use CBManager.authorization instead")
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        switch CBManager.authorization {
        case .notDetermined: .notDetermined
        case .restricted: .restricted
        case .denied: .denied
        case .allowedAlways: .authorized
        }
    }

    private func becomeUnsupported() {
        currentState.withLock { $0 = .unsupported }
        delegate?.peripheralManagerDidUpdateState(self)
    }
}
