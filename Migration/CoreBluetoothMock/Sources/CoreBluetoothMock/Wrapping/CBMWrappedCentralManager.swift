import CoreBluetooth

/// A manager that passes everything to a manager of CoreBluetooth, as the base of native and mock managers.
///
/// An extension of this package. Created as ``CBMCentralManagerNative`` or ``CBMCentralManagerMock``.
///
/// Thread rule: all members may be used from any thread. Callbacks run on the manager's queue.
open class CBMWrappedCentralManager: CBMCentralManager {
    /// The manager of CoreBluetooth.
    let wrapped: CBCentralManager
    private let bridge: CentralManagerBridge
    private let wrappers = Protected(WrapperTable<CBMWrappedPeripheral>())

    /// Wraps the manager that `make` returns for a delegate and a queue.
    init(
        delegate: (any CBMCentralManagerDelegate)?, queue: DispatchQueue?,
        wrapping make: (any CBCentralManagerDelegate) -> CBCentralManager
    ) {
        bridge = CentralManagerBridge()
        wrapped = make(bridge)
        super.init(true)
        super.delegate = delegate
        bridge.gate.open(for: self, on: queue)
    }

    /// Returns the wrapper of a peripheral, which is the same as long as the peripheral lives.
    func wrap(_ peripheral: CBPeripheral) -> CBMWrappedPeripheral {
        wrappers.withLock { $0.wrapper(of: peripheral) { makeWrapper(of: peripheral) } }
    }

    /// Returns a new wrapper of a peripheral.
    func makeWrapper(of peripheral: CBPeripheral) -> CBMWrappedPeripheral {
        CBMPeripheralNative(peripheral, of: self)
    }

    /// Handles a callback, on the manager's queue: forgets the data of ended links, then calls the delegate.
    func receive(_ event: ManagerCallback) {
        switch event {
        case .stateUpdated where state != .poweredOn:
            wrappers.withLock { $0.living }.forEach { $0.forgetAttributes() }
        case .disconnected(let peripheral, _, _, _): peripheral.forgetAttributes()
        default: break
        }
        if let delegate { event.call(delegate, of: self) }
    }

    /// Returns the wrapped peripheral of a peripheral of this manager; another one is logged.
    func own(_ peripheral: any CBMPeripheral) -> CBPeripheral? {
        guard let wrapper = peripheral as? CBMWrappedPeripheral, wrapper.manager === self else {
            log.warning("API MISUSE: \(peripheral) does not belong to \(self), and is ignored")
            return nil
        }
        return wrapper.wrapped
    }

    /// The state of the adapter as the delegate knows it.
    open override var state: CBMManagerState { CBMManagerState(wrapped.state) }

    /// Whether this manager scans; follows `scanForPeripherals` and `stopScan` at once.
    open override var isScanning: Bool { wrapped.isScanning }

    /// Scans, replacing a running scan, until `stopScan` or power-off.
    open override func scanForPeripherals(withServices serviceUUIDs: [CBMUUID]?, options: [String: Any]? = nil) {
        wrapped.scanForPeripherals(withServices: serviceUUIDs, options: options)
    }

    /// Ends the scan, if there is one.
    open override func stopScan() { wrapped.stopScan() }

    /// Connects; never times out.
    open override func connect(_ peripheral: any CBMPeripheral, options: [String: Any]? = nil) {
        if let peripheral = own(peripheral) { wrapped.connect(peripheral, options: options) }
    }

    /// Ends a connection, or an attempt at one.
    open override func cancelPeripheralConnection(_ peripheral: any CBMPeripheral) {
        if let peripheral = own(peripheral) { wrapped.cancelPeripheralConnection(peripheral) }
    }

    /// Returns the peripherals with these identifiers that the system knows, in that order.
    open override func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [any CBMPeripheral] {
        wrapped.retrievePeripherals(withIdentifiers: identifiers).map { wrap($0) }
    }

    /// Returns the peripherals that are connected to the system by any app and offer one of the services.
    open override func retrieveConnectedPeripherals(
        withServices serviceUUIDs: [CBMUUID]
    ) -> [any CBMPeripheral] {
        wrapped.retrieveConnectedPeripherals(withServices: serviceUUIDs).map { wrap($0) }
    }

    /// Registers for connections of matching peripherals with the system; nil ends the registration.
    open override func registerForConnectionEvents(options: [CBMConnectionEventMatchingOption: Any]? = nil) {
        wrapped.registerForConnectionEvents(options: options)
    }
}
