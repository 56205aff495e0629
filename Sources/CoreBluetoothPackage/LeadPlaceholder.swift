public import Dispatch
public import Foundation

open class CBManager: NSObject {
    init(ofModule: Void) { super.init() }
    open var state: CBManagerState { .unknown }
    open class var authorization: CBManagerAuthorization { .allowedAlways }
    @available(*, deprecated)
    open var authorization: CBManagerAuthorization { Self.authorization }
    open override var description: String { describe(self) }
}
open class CBCentralManager: CBManager {
    open weak var delegate: (any CBCentralManagerDelegate)?
    public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }
    public required convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }
    public init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
        super.init(ofModule: ())
    }
    open var isScanning: Bool { false }
    open class func supports(_ features: CBCentralManager.Feature) -> Bool { false }
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] { [] }
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] { [] }
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {}
    open func stopScan() {}
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {}
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {}
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {}
}
open class CBPeer: NSObject, NSCopying {
    public let identifier: UUID
    init(identifier: UUID) { self.identifier = identifier; super.init() }
    var mtuLength: Int { 23 }
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
open class CBPeripheral: CBPeer {
    open weak var delegate: (any CBPeripheralDelegate)?
    open var name: String? { nil }
    open var rssi: NSNumber? { nil }
    open var state: CBPeripheralState { .disconnected }
    open var services: [CBService]? { nil }
    open var canSendWriteWithoutResponse: Bool { false }
    open var ancsAuthorized: Bool { false }
    open func readRSSI() {}
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {}
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {}
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {}
    open func discoverDescriptors(for characteristic: CBCharacteristic) {}
    open func readValue(for characteristic: CBCharacteristic) {}
    open func readValue(for descriptor: CBDescriptor) {}
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int { 0 }
    open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {}
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) {}
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {}
    open func openL2CAPChannel(_ PSM: CBL2CAPPSM) {}
}
open class CBAttribute: NSObject {
    public let uuid: CBUUID
    init(uuid: CBUUID) { self.uuid = uuid; super.init() }
}
open class CBService: CBAttribute {
    open internal(set) weak var peripheral: CBPeripheral?
    public let isPrimary: Bool
    init(uuid: CBUUID, isPrimary: Bool) { self.isPrimary = isPrimary; super.init(uuid: uuid) }
    open var includedServices: [CBService]? { nil }
    open var characteristics: [CBCharacteristic]? { nil }
}
open class CBCharacteristic: CBAttribute {
    open internal(set) weak var service: CBService?
    init(uuid: CBUUID, properties: CBCharacteristicProperties) { super.init(uuid: uuid) }
    open var properties: CBCharacteristicProperties { [] }
    open var value: Data? { nil }
    open var descriptors: [CBDescriptor]? { nil }
    open var isBroadcasted: Bool { false }
    open var isNotifying: Bool { false }
}
open class CBDescriptor: CBAttribute {
    open internal(set) weak var characteristic: CBCharacteristic?
    open var value: Any? { nil }
}
