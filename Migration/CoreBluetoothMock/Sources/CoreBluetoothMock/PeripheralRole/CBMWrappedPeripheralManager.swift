import CoreBluetooth

/// A peripheral manager that passes everything to one of CoreBluetooth, as the base of native and mock managers.
///
/// An extension of this package. Created as ``CBMPeripheralManagerNative`` or ``CBMPeripheralManagerMock``.
///
/// Thread rule: all members may be used from any thread. Callbacks run on the manager's queue.
open class CBMWrappedPeripheralManager: CBMPeripheralManager {
    private struct Fields {
        /// The services that were added, which are retained while they may be published.
        var services: [CBMMutableService] = []
        var centrals = WrapperTable<CBMCentral>()
    }

    /// The manager of CoreBluetooth.
    let wrapped: CBPeripheralManager
    private let bridge: PeripheralManagerBridge
    private let fields = Protected(Fields())

    /// Wraps the manager that `make` returns for a delegate and a queue.
    init(
        delegate: (any CBMPeripheralManagerDelegate)?, queue: DispatchQueue?,
        wrapping make: (any CBPeripheralManagerDelegate) -> CBPeripheralManager
    ) {
        bridge = PeripheralManagerBridge()
        wrapped = make(bridge)
        super.init(true)
        super.delegate = delegate
        bridge.gate.open(for: self, on: queue)
    }

    // MARK: Wrappers

    /// Returns a new wrapper of a central.
    func makeWrapper(of central: CBCentral) -> CBMCentral { CBMCentralNative(central) }

    /// Returns a new wrapper of a request.
    func makeWrapper(
        of request: CBATTRequest, of central: CBMCentral, at characteristic: CBMCharacteristic
    ) -> CBMATTRequest {
        CBMATTRequestNative(
            .air(request), of: central, at: characteristic, offset: request.offset, value: request.value)
    }

    func wrap(_ central: CBCentral) -> CBMCentral {
        fields.withLock { $0.centrals.wrapper(of: central) { makeWrapper(of: central) } }
    }

    /// Returns the service that wraps an object of CoreBluetooth.
    func wrap(_ service: CBService) -> CBMMutableService? { services.first { $0.wrapped === service } }

    /// Returns the characteristic that wraps an object of CoreBluetooth.
    func wrap(_ characteristic: CBCharacteristic) -> CBMMutableCharacteristic? {
        services.lazy.flatMap(\.mutables).first { $0.wrapped === characteristic }
    }

    func wrap(_ request: CBATTRequest) -> CBMATTRequest? {
        wrap(request.characteristic).map { makeWrapper(of: request, of: wrap(request.central), at: $0) }
    }

    /// The services that were added.
    var services: [CBMMutableService] { fields.withLock { $0.services } }

    // MARK: Callbacks

    /// Calls the delegate, on the manager's queue.
    func deliver(_ body: (any CBMPeripheralManagerDelegate) -> Void) {
        if let delegate { body(delegate) }
    }

    /// Reports the state to the delegate.
    func stateUpdated() { deliver { $0.peripheralManagerDidUpdateState(self) } }

    /// Records the subscribers of a characteristic.
    ///
    /// - Returns: The characteristic that wraps the object of CoreBluetooth.
    func subscribersChanged(_ characteristic: CBCharacteristic) -> CBMMutableCharacteristic? {
        let wrapper = wrap(characteristic)
        wrapper?.setSubscribers((wrapper?.wrapped.subscribedCentrals ?? []).map { wrap($0) })
        return wrapper
    }

    /// Records the answer to an addition.
    func added(_ service: CBMMutableService, _ error: (any Error)?) {
        if error != nil { forget([service]) }
    }

    /// Returns the services that a test simulates to be restored, in the order in which the system restores them.
    func restoredServices() -> [CBMMutableService] { [] }

    /// Returns the restored state with this module's objects.
    func restored(_ state: [String: Any]) -> [String: Any] {
        let objects = state[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        let known = restoredServices()
        let services = objects.enumerated().map { index, object in
            let service = known.indices.contains(index) ? known[index] : CBMMutableService(restoring: object)
            service.rebind(to: object)
            for characteristic in service.mutables {
                characteristic.setSubscribers((characteristic.wrapped.subscribedCentrals ?? []).map { wrap($0) })
            }
            return service
        }
        fields.withLock { $0.services += services }
        guard !services.isEmpty else { return state }
        return state.merging([CBMPeripheralManagerRestoredStateServicesKey: services]) { $1 }
    }

    private func forget(_ services: [CBMMutableService]) {
        fields.withLock { fields in fields.services.removeAll { known in services.contains { $0 === known } } }
    }

    // MARK: CBMPeripheralManager

    /// The state of the adapter as the delegate knows it.
    open override var state: CBMManagerState { CBMManagerState(wrapped.state) }

    /// Whether the manager advertises.
    open override var isAdvertising: Bool { wrapped.isAdvertising }

    /// Advertises as connectable until `stopAdvertising()`.
    open override func startAdvertising(_ advertisementData: [String: Any]?) {
        wrapped.startAdvertising(advertisementData)
    }

    /// Stops advertising; no callback.
    open override func stopAdvertising() { wrapped.stopAdvertising() }

    /// Requests another connection interval.
    open override func setDesiredConnectionLatency(
        _ latency: CBMPeripheralManagerConnectionLatency, for central: CBMCentral
    ) {
        if let central = central.wrapped { wrapped.setDesiredConnectionLatency(latency, for: central) }
    }

    /// Publishes a service as it is now.
    open override func add(_ service: CBMMutableService) {
        fields.withLock { fields in
            if !fields.services.contains(where: { $0 === service }) { fields.services.append(service) }
        }
        wrapped.add(service.wrapped)
    }

    /// Withdraws a service; no callback.
    open override func remove(_ service: CBMMutableService) {
        wrapped.remove(service.wrapped)
        forget([service])
    }

    /// Withdraws all services of this manager; no callback.
    open override func removeAllServices() {
        wrapped.removeAllServices()
        forget(services)
    }

    /// Answers a read or write, exactly once for each callback.
    open override func respond(to request: CBMATTRequest, withResult result: CBMATTError.Code) {
        switch request.origin {
        case .air(let original):
            original.value = request.value
            wrapped.respond(to: original, withResult: result)
        case .spec(let answer): answer(result, request.value)
        }
    }

    /// Sends a notification or indication.
    open override func updateValue(
        _ value: Data, for characteristic: CBMMutableCharacteristic, onSubscribedCentrals centrals: [CBMCentral]?
    ) -> Bool {
        let chosen = centrals.map { centrals in
            (characteristic.wrapped.subscribedCentrals ?? []).filter { centrals.contains(wrap($0)) }
        }
        return wrapped.updateValue(value, for: characteristic.wrapped, onSubscribedCentrals: chosen)
    }

    /// Listens for L2CAP channels.
    open override func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        wrapped.publishL2CAPChannel(withEncryption: encryptionRequired)
    }

    /// Stops listening.
    open override func unpublishL2CAPChannel(_ PSM: CBML2CAPPSM) { wrapped.unpublishL2CAPChannel(PSM) }
}

/// A peripheral manager over the selected backend, by default BlueZ.
///
/// Thread rule: all members may be used from any thread. Callbacks run on the manager's queue.
public class CBMPeripheralManagerNative: CBMWrappedPeripheralManager {
    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: `CBMPeripheralManagerOption…` keys.
    public init(
        delegate: (any CBMPeripheralManagerDelegate)? = nil, queue: DispatchQueue? = nil,
        options: [String: Any]? = nil
    ) {
        super.init(delegate: delegate, queue: queue) {
            CBPeripheralManager(delegate: $0, queue: queue, options: options)
        }
    }

    /// Whether this process may use Bluetooth, by the selected backend.
    public override class var authorization: CBMManagerAuthorization { CBPeripheralManager.authorization }
}

extension CBMMutableService {
    /// Creates a service that the system has restored.
    convenience init(restoring service: CBMutableService) {
        self.init(type: service.uuid, primary: service.isPrimary)
        characteristics = (service.characteristics ?? []).map { characteristic in
            CBMMutableCharacteristic(
                type: characteristic.uuid, properties: characteristic.properties, value: nil,
                permissions: (characteristic as? CBMutableCharacteristic)?.permissions ?? [])
        }
    }
}
