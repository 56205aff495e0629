import CoreBluetooth

/// A peripheral without a backend, for previews of user interfaces.
///
/// All its services exist at once, and each request calls its delegate method at once, without an error. Mock managers
/// retrieve it by its identifier or its services, in any state.
///
/// Thread rule: all members may be used from any thread; callbacks run on the thread of the request.
open class CBMPeripheralPreview: NSObject, CBMPeripheral,
    // Invariant: mutable state is under the lock of `fields`.
    @unchecked Sendable
{
    private struct Fields {
        weak var delegate: (any CBMPeripheralDelegate)?
        var services: [CBMService]?
        var state: CBMPeripheralState
    }

    private let mock: CBMPeripheralSpec
    private let fields: Protected<Fields>

    /// Creates a preview of a spec.
    ///
    /// - Parameters:
    ///   - mock: The spec, whose identifier, name, services and mtu are shown.
    ///   - state: The initial state.
    public init(_ mock: CBMPeripheralSpec, state: CBMPeripheralState = .disconnected) {
        self.mock = mock
        fields = Protected(Fields(services: mock.services, state: state))
        super.init()
        MockWorlds.current.world.add(self)
    }

    // MARK: For managers

    /// Returns whether it is connected and has one of the services.
    func isConnected(offering services: [CBMUUID]) -> Bool {
        state == .connected && (self.services ?? []).contains { services.contains($0.uuid) }
    }

    func connect(by manager: CBMCentralManager) {
        fields.withLock { $0.state = .connected }
        manager.delegate?.centralManager(manager, didConnect: self)
    }

    func disconnect(by manager: CBMCentralManager) {
        let wasConnected = fields.withLock { fields in
            defer { fields.state = .disconnected }
            return fields.state != .disconnected
        }
        guard wasConnected else { return }
        manager.delegate?.centralManager(
            manager, didDisconnectPeripheral: self, timestamp: Date().timeIntervalSinceReferenceDate,
            isReconnecting: false, error: nil)
    }

    // MARK: CBMPeripheral

    /// The identifier of the spec.
    open var identifier: UUID { mock.identifier }

    /// The delegate; weak.
    open var delegate: (any CBMPeripheralDelegate)? {
        get { fields.withLock { $0.delegate } }
        set { fields.withLock { $0.delegate = newValue } }
    }

    /// The name of the spec.
    open var name: String? { mock.name }

    /// The shown state of the connection.
    open var state: CBMPeripheralState { fields.withLock { $0.state } }

    /// The services: initially all of the spec.
    open var services: [CBMService]? {
        get { fields.withLock { $0.services } }
        set { fields.withLock { $0.services = newValue } }
    }

    /// Always true.
    open var canSendWriteWithoutResponse: Bool { true }

    /// Always false.
    open var ancsAuthorized: Bool { false }

    /// Answers with the signal strength of the spec's proximity.
    open func readRSSI() {
        delegate?.peripheral(self, didReadRSSI: NSNumber(value: mock.proximity.RSSI), error: nil)
    }

    /// Answers at once.
    open func discoverServices(_ serviceUUIDs: [CBMUUID]?) { delegate?.peripheral(self, didDiscoverServices: nil) }

    /// Answers at once.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBMUUID]?, for service: CBMService) {
        delegate?.peripheral(self, didDiscoverIncludedServicesFor: service, error: nil)
    }

    /// Answers at once.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBMUUID]?, for service: CBMService) {
        delegate?.peripheral(self, didDiscoverCharacteristicsFor: service, error: nil)
    }

    /// Answers at once.
    open func discoverDescriptors(for characteristic: CBMCharacteristic) {
        delegate?.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: nil)
    }

    /// Answers at once, with the value of the characteristic.
    open func readValue(for characteristic: CBMCharacteristic) {
        delegate?.peripheral(self, didUpdateValueFor: characteristic, error: nil)
    }

    /// Answers at once, with the value of the descriptor.
    open func readValue(for descriptor: CBMDescriptor) {
        delegate?.peripheral(self, didUpdateValueFor: descriptor, error: nil)
    }

    /// Returns the mtu of the spec less 3, in bytes.
    open func maximumWriteValueLength(for type: CBMCharacteristicWriteType) -> Int { (mock.mtu ?? 23) - 3 }

    /// Answers a write with response at once; nothing is stored.
    open func writeValue(_ data: Data, for characteristic: CBMCharacteristic, type: CBMCharacteristicWriteType) {
        guard type == .withResponse else { return }
        delegate?.peripheral(self, didWriteValueFor: characteristic, error: nil)
    }

    /// Answers at once; nothing is stored.
    open func writeValue(_ data: Data, for descriptor: CBMDescriptor) {
        delegate?.peripheral(self, didWriteValueFor: descriptor, error: nil)
    }

    /// Answers at once and sets `isNotifying`.
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBMCharacteristic) {
        characteristic.isNotifying = enabled
        delegate?.peripheral(self, didUpdateNotificationStateFor: characteristic, error: nil)
    }

    /// Answers that channels are not supported.
    open func openL2CAPChannel(_ PSM: CBML2CAPPSM) {
        delegate?.peripheral(self, didOpen: nil, error: CBMError(.operationNotSupported))
    }
}
