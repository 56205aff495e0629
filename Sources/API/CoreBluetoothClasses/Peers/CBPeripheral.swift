import BluetoothBackend
import BluetoothSupport
import BluetoothValues
public import Foundation

/// A remote peripheral.
///
/// Created by a central manager, which does not keep it alive: keep a reference as long as you use it. Callbacks run on
/// the manager's queue; methods may be called from any thread and are logged and ignored while the peripheral is not
/// connected. Commands are carried out in order. Source: Apple, CBPeripheral.
open class CBPeripheral: CBPeer {
    struct Fields {
        weak var delegate: (any CBPeripheralDelegate)?
        var name: String?
        var address: String?
        var rssi: NSNumber?
        var services: [CBService]?
        /// Everything that was discovered on the link, by identity.
        ///
        /// Services that vanished stay until it ends (S73).
        var attributes: [AttributeID: CBAttribute] = [:]
    }

    let core: CentralCore
    let handle: PeerHandle
    // Invariant: accessed under this lock; the objects in it are used on the manager's queue or by the caller.
    let fields: LockedState<Fields>

    init(core: CentralCore, handle: PeerHandle, name: String?) {
        self.core = core
        self.handle = handle
        fields = LockedState(Fields(name: name))
        super.init(identifier: handle.id.uuid)
    }

    deinit {
        core.released(handle)
    }

    /// The delegate.
    ///
    /// Weak; looked up at each delivery.
    open var delegate: (any CBPeripheralDelegate)? {
        get { fields.withLock { $0.delegate } }
        set { fields.withLock { $0.delegate = newValue } }
    }

    /// The GAP Device Name if it is known, otherwise the advertised name; nil without either.
    open var name: String? { fields.withLock { $0.name } }

    /// The signal strength that `readRSSI()` last read, in dBm.
    @available(*, deprecated, message: "Use the argument of peripheral(_:didReadRSSI:error:) instead")
    open var rssi: NSNumber? { fields.withLock { $0.rssi } }

    /// Whether this manager is connected to the peripheral.
    open var state: CBPeripheralState { core.read { $0.peer(handle)?.state ?? .disconnected } }

    /// The services found so far on this connection; nil before any discovery.
    open var services: [CBService]? { fields.withLock { $0.services } }

    /// Whether a write without response would be accepted now; when it becomes true again,
    /// `peripheralIsReady(toSendWriteWithoutResponse:)` is called.
    open var canSendWriteWithoutResponse: Bool {
        core.read { machine in
            guard let peer = machine.peer(handle), peer.state == .connected else { return false }
            return peer.client.writeCredits > 0
        }
    }

    /// Whether the peripheral may receive the phone's notifications (ANCS); always false over BlueZ.
    open var ancsAuthorized: Bool { core.read { $0.peer(handle)?.isANCSAuthorized ?? false } }

    /// Whether the object still represents its device: a manager that has forgotten the device creates another object
    /// for it.
    package var isCurrent: Bool { core.read { $0.peer(handle) != nil } }

    /// The address that the device last used, if the backend knows it; for listings.
    package var address: String? { fields.withLock { $0.address } }

    /// The ATT MTU of the link in bytes; 23 without a link.
    package override var mtuLength: Int { core.read { $0.peer(handle)?.client.mtu ?? ATTLimits.minimumMTU } }

    /// Returns the most bytes that one `writeValue` takes: 512 with response, what one packet carries without.
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        switch type {
        case .withResponse: ATTLimits.longestValue
        case .withoutResponse: core.read { $0.peer(handle)?.client.maximumCommandLength ?? 20 }
        }
    }

    // MARK: Commands

    /// Reads the link's signal strength: `peripheral(_:didReadRSSI:error:)`.
    open func readRSSI() {
        request(.readRSSI)
    }

    /// Finds services, all if nil or empty: `peripheral(_:didDiscoverServices:)`.
    ///
    /// Results accumulate in `services`.
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        warnIfDelegateIsNil("Discovering services for peripheral", "peripheral:didDiscoverServices:")
        request(.discoverServices(serviceUUIDs.filter))
    }

    /// Finds included services: `peripheral(_:didDiscoverIncludedServicesFor:error:)`.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
        request(at: service) { .discoverIncludedServices(of: $0, includedServiceUUIDs.filter) }
    }

    /// Finds characteristics, all if nil or empty: `peripheral(_:didDiscoverCharacteristicsFor:error:)`.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
        guard let attribute = reference(of: service) else { return }
        warnIfDelegateIsNil(
            "Discovering characteristics on peripheral", "peripheral:didDiscoverCharacteristicsForService:error:")
        request(.discoverCharacteristics(of: attribute.id, characteristicUUIDs.filter), within: attribute)
    }

    /// Finds all descriptors: `peripheral(_:didDiscoverDescriptorsFor:error:)`.
    open func discoverDescriptors(for characteristic: CBCharacteristic) {
        request(at: characteristic) { .discoverDescriptors(of: $0) }
    }

    /// Reads a value, however long, up to 512 bytes: `peripheral(_:didUpdateValueFor:error:)`.
    open func readValue(for characteristic: CBCharacteristic) { request(at: characteristic) { .read($0) } }

    /// Reads a descriptor: `peripheral(_:didUpdateValueFor:error:)`.
    open func readValue(for descriptor: CBDescriptor) { request(at: descriptor) { .read($0) } }

    /// Writes a value.
    ///
    /// - Parameters:
    ///   - data: At most `maximumWriteValueLength(for:)` bytes. More than 512 with response fail with
    ///     `invalidAttributeValueLength`; a command that does not fit is dropped with a log line.
    ///   - characteristic: The characteristic to write, discovered on this connection.
    ///   - type: With response: `peripheral(_:didWriteValueFor:error:)`. Without: no callback, and dropped with a log
    ///     line while `canSendWriteWithoutResponse` is false.
    open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
        guard let attribute = reference(of: characteristic) else { return }
        switch type {
        case .withResponse:
            core.transition { [handle] in $0.write(handle, to: attribute, data) }
        case .withoutResponse:
            let properties = characteristic.properties.backendProperties
            core.transition { [handle] in $0.writeCommand(handle, to: attribute, properties: properties, data) }
        }
    }

    /// Writes a descriptor: `peripheral(_:didWriteValueFor:error:)`.
    ///
    /// Traps for Client Characteristic Configuration (2902), as Apple's does: use `setNotifyValue(_:for:)`.
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
        precondition(
            descriptor.uuid.bluetoothUUID.bits16 != 0x2902,
            "Client Characteristic Configuration descriptors must be configured using "
                + "setNotifyValue:forCharacteristic:")
        guard let attribute = reference(of: descriptor) else { return }
        core.transition { [handle] in $0.write(handle, to: attribute, data) }
    }

    /// Turns notifications (or indications, if notifications are not supported) on or off:
    /// `peripheral(_:didUpdateNotificationStateFor:error:)`.
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
        guard let attribute = reference(of: characteristic) else { return }
        let properties = characteristic.properties.backendProperties
        core.transition { [handle] in $0.setNotify(handle, attribute, properties: properties, enabled) }
    }

    /// Opens an L2CAP channel: `peripheral(_:didOpen:error:)`.
    ///
    /// - Parameter PSM: The channel's number, 1...255; the peripheral's are 128...255 as a rule. Others fail with
    ///   `invalidParameters`.
    open func openL2CAPChannel(_ PSM: CBL2CAPPSM) {
        core.transition { [handle] in $0.openChannel(handle, psm: PSM) }
    }

    private func request(_ request: LinkRequest, within attribute: AttributeReference? = nil) {
        core.transition { [handle] in $0.request(handle, request, within: attribute) }
    }

    private func request(at attribute: CBAttribute, _ request: (AttributeID) -> LinkRequest) {
        guard let attribute = reference(of: attribute) else { return }
        self.request(request(attribute.id), within: attribute)
    }

    /// Returns the reference on the link; an attribute of the app, which no peripheral has, is logged and ignored.
    private func reference(of attribute: CBAttribute) -> AttributeReference? {
        if attribute.reference == nil { core.log(.localAttribute("\(attribute)")) }
        return attribute.reference
    }

    /// Logs a call whose answer is lost because the delegate is nil (S65).
    private func warnIfDelegateIsNil(_ action: String, _ method: String) {
        guard state == .connected, delegate == nil else { return }
        core.log(.delegateIsNil("\(action) \(self)", method))
    }

    /// `<CBPeripheral: 0x1234, identifier = …, name = …, mtu = 23, state = connected>`.
    open override var description: String {
        describe(
            self,
            [
                "identifier": identifier.uuidString, "name": name ?? "(null)", "mtu": "\(mtuLength)",
                "state": "\(state)",
            ])
    }
}

extension [CBUUID]? {
    /// The UUIDs of the list; nil for all, since an empty list means the same (S56).
    fileprivate var filter: [BluetoothUUID]? {
        flatMap { $0.isEmpty ? nil : $0.map(\.bluetoothUUID) }
    }
}

/// The state of a peripheral's connection with a manager.
///
/// Source: Apple, CBPeripheralState.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBPeripheralState: Int, Sendable {
    /// The peripheral is not connected, and no connection is wanted.
    case disconnected = 0
    /// A connection is wanted.
    case connecting = 1
    /// The link is up.
    case connected = 2
    /// The link is being closed.
    case disconnecting = 3
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}
