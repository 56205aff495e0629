import BluetoothBackend
import BluetoothLocking
import DequeModule
import Dispatch
import Synchronization

/// What stands between a peripheral manager and its backend.
///
/// Only the state passes so far: no backend serves the role yet, each reports `.unsupported`.
final class PeripheralCore: InboxOwner, EventSink {
    typealias Event = PeripheralEvent

    /// What waits for the manager's queue.
    enum Delivery: Sendable {
        case event(PeripheralEvent)
        case settled(@Sendable () -> Void)
    }

    private struct Owner {
        weak var manager: CBPeripheralManager?
        weak var delegate: (any CBPeripheralManagerDelegate)?
    }

    let backendName: @Sendable () -> String
    private let backend: any PeripheralBackend
    private let inbox: Inbox<PeripheralCore>
    private let adapterState = Lock(AdapterState.unknown)
    // Invariant: reached under this lock.
    private let owner = Lock(Unchecked(Owner()))

    init(backend: any BluetoothBackend, options: PeripheralOptions, queue: DispatchQueue) {
        backendName = { backend.name }
        self.backend = backend.makePeripheral(options)
        inbox = Inbox(queue: queue)
    }

    var state: CBManagerState { CBManagerState(adapterState.withLock { $0 }) }

    var delegate: (any CBPeripheralManagerDelegate)? {
        get { owner.withLock { Unchecked($0.value.delegate) }.value }
        set {
            let new = Unchecked(newValue)
            owner.withLock { $0.value.delegate = new.value }
        }
    }

    func activate(for manager: CBPeripheralManager) {
        let owner = Unchecked(manager)
        self.owner.withLock { $0.value.manager = owner.value }
        backend.activate(self)
    }

    func invalidate() {
        backend.invalidate()
        for case .settled(let body) in inbox.close() { body() }
    }

    func handle(_ delivery: Delivery) {
        switch delivery {
        case .event(.stateChanged(let new)): changeState(to: new)
        case .event: break
        case .settled(let body): body()
        }
    }

    private func changeState(to new: AdapterState) {
        let isNew = adapterState.withLock { state in
            defer { state = new }
            return state != new
        }
        guard isNew, let manager = owner.withLock({ Unchecked($0.value.manager) }).value else { return }
        delegate?.peripheralManagerDidUpdateState(manager)
    }

    // MARK: EventSink

    var label: String { inbox.queue.label }

    func deliver(_ event: PeripheralEvent) {
        inbox.post(.event(event), for: self)
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) {
        if !inbox.post(.settled(body), for: self) { body() }
    }
}
