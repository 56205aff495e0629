import CoreBluetooth

/// A peripheral that passes everything to a peripheral of CoreBluetooth, as the base of native and mock peripherals.
///
/// An extension of this package. Instances are ``CBMPeripheralNative`` or ``CBMPeripheralMock``.
///
/// Thread rule: all members may be used from any thread. Callbacks run on the manager's queue.
open class CBMWrappedPeripheral: CBMPeer, CBMPeripheral {
    private struct Fields {
        weak var delegate: (any CBMPeripheralDelegate)?
        /// The wrappers of the services of the present link.
        var services: [WrappedService] = []
    }

    /// The peripheral of CoreBluetooth.
    let wrapped: CBPeripheral
    /// The manager of the peripheral, if it is alive.
    private(set) weak var manager: CBMWrappedCentralManager?
    // Created in the initializer, and not used after it.
    private lazy var bridge = PeripheralBridge(self)
    private let fields = Protected(Fields())

    init(_ peripheral: CBPeripheral, of manager: CBMWrappedCentralManager, identifier: UUID) {
        wrapped = peripheral
        self.manager = manager
        super.init(identifier: identifier)
        peripheral.delegate = bridge
    }

    // MARK: Callbacks

    /// Handles a callback, on the manager's queue.
    func receive(_ event: PeripheralCallback) {
        if let delegate { event.call(delegate, of: self) }
    }

    // MARK: Attributes

    /// Returns the server's object of a primary service, or of one that is included in another.
    func server(of service: CBService, in parent: WrappedService?) -> CBMServiceMock? { nil }

    /// Returns the wrapper of a service, which is the same as long as the link lives.
    func wrap(_ service: CBService, in parent: WrappedService? = nil) -> WrappedService {
        if let known = fields.withLock({ $0.services.wrapper(of: service) }) { return known }
        let new = WrappedService(service, of: self, server: server(of: service, in: parent))
        return fields.withLock { $0.services.insert(new) }
    }

    /// Returns the wrapper of a characteristic; nil if its service is gone.
    func wrap(_ characteristic: CBCharacteristic) -> WrappedCharacteristic? {
        characteristic.service.map { wrap($0).wrap(characteristic) }
    }

    /// Returns the wrapper of a descriptor; nil if its characteristic is gone.
    func wrap(_ descriptor: CBDescriptor) -> WrappedDescriptor? {
        descriptor.characteristic.flatMap { wrap($0)?.wrap(descriptor) }
    }

    /// Removes services that are gone.
    ///
    /// - Returns: The wrappers of the services.
    func forget(_ services: [CBService]) -> [CBMService] {
        let wrappers = services.map { wrap($0) }
        fields.withLock { fields in
            fields.services.removeAll { wrapper in services.contains { $0 === wrapper.wrapped } }
        }
        return wrappers
    }

    /// Removes everything that was discovered on a link that has ended.
    func forgetAttributes() {
        // The wrappers are released with `old`, outside the lock.
        let old = fields.withLock { fields in
            defer { fields.services = [] }
            return fields.services
        }
        _ = old
    }

    private func wrapped(_ service: CBMService) -> CBService? {
        foreign(service, (service as? WrappedService)?.wrapped)
    }

    private func wrapped(_ characteristic: CBMCharacteristic) -> CBCharacteristic? {
        foreign(characteristic, (characteristic as? WrappedCharacteristic)?.wrapped)
    }

    private func wrapped(_ descriptor: CBMDescriptor) -> CBDescriptor? {
        foreign(descriptor, (descriptor as? WrappedDescriptor)?.wrapped)
    }

    private func foreign<Attribute>(_ object: CBMAttribute, _ attribute: Attribute?) -> Attribute? {
        if attribute == nil { log.warning("API MISUSE: \(object) was not discovered at a peripheral, and is ignored") }
        return attribute
    }

    // MARK: CBMPeripheral

    /// The delegate.
    ///
    /// Weak; looked up at each callback.
    open var delegate: (any CBMPeripheralDelegate)? {
        get { fields.withLock { $0.delegate } }
        set { fields.withLock { $0.delegate = newValue } }
    }

    /// The GAP Device Name if it is known, otherwise the advertised name; nil without either.
    open var name: String? { wrapped.name }

    /// Whether the manager is connected to the peripheral.
    open var state: CBMPeripheralState { wrapped.state }

    /// The services found so far on this connection; nil before any discovery.
    open var services: [CBMService]? { wrapped.services?.map { wrap($0) } }

    /// Whether a write without response would be accepted now.
    open var canSendWriteWithoutResponse: Bool { wrapped.canSendWriteWithoutResponse }

    /// Whether the peripheral may receive the phone's notifications (ANCS).
    open var ancsAuthorized: Bool { wrapped.ancsAuthorized }

    /// Reads the link's signal strength.
    open func readRSSI() { wrapped.readRSSI() }

    /// Finds services, all if nil or empty.
    open func discoverServices(_ serviceUUIDs: [CBMUUID]?) { wrapped.discoverServices(serviceUUIDs) }

    /// Finds included services, all if nil or empty.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBMUUID]?, for service: CBMService) {
        wrapped(service).map { wrapped.discoverIncludedServices(includedServiceUUIDs, for: $0) }
    }

    /// Finds characteristics, all if nil or empty.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBMUUID]?, for service: CBMService) {
        wrapped(service).map { wrapped.discoverCharacteristics(characteristicUUIDs, for: $0) }
    }

    /// Finds all descriptors.
    open func discoverDescriptors(for characteristic: CBMCharacteristic) {
        wrapped(characteristic).map { wrapped.discoverDescriptors(for: $0) }
    }

    /// Reads a value, however long, up to 512 bytes.
    open func readValue(for characteristic: CBMCharacteristic) {
        wrapped(characteristic).map { wrapped.readValue(for: $0) }
    }

    /// Reads a descriptor.
    open func readValue(for descriptor: CBMDescriptor) {
        wrapped(descriptor).map { wrapped.readValue(for: $0) }
    }

    /// Returns the most bytes that one `writeValue` takes: 512 with response, what one packet carries without.
    open func maximumWriteValueLength(for type: CBMCharacteristicWriteType) -> Int {
        wrapped.maximumWriteValueLength(for: type)
    }

    /// Writes a value.
    open func writeValue(_ data: Data, for characteristic: CBMCharacteristic, type: CBMCharacteristicWriteType) {
        wrapped(characteristic).map { wrapped.writeValue(data, for: $0, type: type) }
    }

    /// Writes a descriptor; traps for Client Characteristic Configuration, as Apple's does.
    open func writeValue(_ data: Data, for descriptor: CBMDescriptor) {
        wrapped(descriptor).map { wrapped.writeValue(data, for: $0) }
    }

    /// Turns notifications or indications on or off.
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBMCharacteristic) {
        wrapped(characteristic).map { wrapped.setNotifyValue(enabled, for: $0) }
    }

    /// Opens an L2CAP channel.
    open func openL2CAPChannel(_ PSM: CBML2CAPPSM) { wrapped.openL2CAPChannel(PSM) }
}

/// A peripheral of the selected backend.
public class CBMPeripheralNative: CBMWrappedPeripheral {
    /// The peripheral of CoreBluetooth.
    public var peripheral: CBPeripheral { wrapped }

    init(_ peripheral: CBPeripheral, of manager: CBMWrappedCentralManager) {
        super.init(peripheral, of: manager, identifier: peripheral.identifier)
    }

    /// The wrapped peripheral's description.
    public override var description: String { wrapped.description }
}
