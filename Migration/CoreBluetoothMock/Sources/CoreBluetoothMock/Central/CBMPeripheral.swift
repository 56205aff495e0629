import CoreBluetooth

/// A remote peripheral: native, mock, preview or a client's fake.
///
/// Callbacks run on the queue of the manager that it came from; members may be used from any thread. Commands are
/// logged and ignored while the peripheral is not connected. Compare peripherals by `identifier`, or by `===` within a
/// manager.
public protocol CBMPeripheral: AnyObject {
    /// The device's identifier on this host.
    var identifier: UUID { get }
    /// The delegate; weak.
    var delegate: (any CBMPeripheralDelegate)? { get set }
    /// The GAP Device Name if it is known, otherwise the advertised name; nil without either.
    var name: String? { get }
    /// Whether the manager is connected to the peripheral.
    var state: CBMPeripheralState { get }
    /// The services found so far on this connection; nil before any discovery.
    var services: [CBMService]? { get }
    /// Whether a write without response would be accepted now.
    var canSendWriteWithoutResponse: Bool { get }
    /// Whether the peripheral may receive the phone's notifications (ANCS).
    var ancsAuthorized: Bool { get }

    /// Reads the link's signal strength: `peripheral(_:didReadRSSI:error:)`.
    func readRSSI()
    /// Finds services, all if nil or empty: `peripheral(_:didDiscoverServices:)`.
    func discoverServices(_ serviceUUIDs: [CBMUUID]?)
    /// Finds included services: `peripheral(_:didDiscoverIncludedServicesFor:error:)`.
    func discoverIncludedServices(_ includedServiceUUIDs: [CBMUUID]?, for service: CBMService)
    /// Finds characteristics: `peripheral(_:didDiscoverCharacteristicsFor:error:)`.
    func discoverCharacteristics(_ characteristicUUIDs: [CBMUUID]?, for service: CBMService)
    /// Finds all descriptors: `peripheral(_:didDiscoverDescriptorsFor:error:)`.
    func discoverDescriptors(for characteristic: CBMCharacteristic)
    /// Reads a value: `peripheral(_:didUpdateValueFor:error:)`.
    func readValue(for characteristic: CBMCharacteristic)
    /// Reads a descriptor: `peripheral(_:didUpdateValueFor:error:)`.
    func readValue(for descriptor: CBMDescriptor)
    /// Returns the most bytes that one `writeValue` takes.
    func maximumWriteValueLength(for type: CBMCharacteristicWriteType) -> Int
    /// Writes a value; with a response, `peripheral(_:didWriteValueFor:error:)` follows.
    func writeValue(_ data: Data, for characteristic: CBMCharacteristic, type: CBMCharacteristicWriteType)
    /// Writes a descriptor: `peripheral(_:didWriteValueFor:error:)`.
    func writeValue(_ data: Data, for descriptor: CBMDescriptor)
    /// Turns notifications or indications on or off: `peripheral(_:didUpdateNotificationStateFor:error:)`.
    func setNotifyValue(_ enabled: Bool, for characteristic: CBMCharacteristic)
    /// Opens an L2CAP channel: `peripheral(_:didOpen:error:)`.
    func openL2CAPChannel(_ PSM: CBML2CAPPSM)
}
