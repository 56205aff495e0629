import CoreBluetooth

// An app with protocols in front of the classes, for tests without an adapter.

protocol CentralManaging: AnyObject {
    var state: CBManagerState { get }
    var isScanning: Bool { get }
    var delegate: (any CBCentralManagerDelegate)? { get set }
    init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?)
    func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral]
    func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]?)
    func stopScan()
    func connect(_ peripheral: CBPeripheral, options: [String: Any]?)
    func cancelPeripheralConnection(_ peripheral: CBPeripheral)
}

extension CBCentralManager: CentralManaging {}

protocol PeripheralManaging: AnyObject {
    var isAdvertising: Bool { get }
    init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?)
    func startAdvertising(_ advertisementData: [String: Any]?)
    func stopAdvertising()
    func add(_ service: CBMutableService)
    func updateValue(
        _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool
}

extension CBPeripheralManager: PeripheralManaging {}

protocol PeripheralProtocol: AnyObject {
    var identifier: UUID { get }
    var name: String? { get }
    var state: CBPeripheralState { get }
    var services: [CBService]? { get }
    var delegate: (any CBPeripheralDelegate)? { get set }
    var canSendWriteWithoutResponse: Bool { get }
    func discoverServices(_ serviceUUIDs: [CBUUID]?)
    func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int
    func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType)
    func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic)
    func readRSSI()
}

extension CBPeripheral: PeripheralProtocol {}

func makeManager<Manager: CentralManaging>(_ type: Manager.Type, queue: DispatchQueue) -> Manager {
    type.init(delegate: nil, queue: queue)
}

func makeManager<Manager: PeripheralManaging>(_ type: Manager.Type, queue: DispatchQueue) -> Manager {
    type.init(delegate: nil, queue: queue)
}

/// Returns the text that an app shows for an error.
func explanation(of error: any Error) -> String {
    if case CBError.encryptionTimedOut = error { return "pair again" }
    if let code = (error as? CBError)?.code {
        switch code {
        case .connectionTimeout, .peripheralDisconnected: return "out of range"
        case .peerRemovedPairingInformation: return "forget the device"
        case .unkownDevice: return "unknown device"
        default: return error.localizedDescription
        }
    }
    let foundation = error as NSError
    switch (foundation.domain, foundation.code) {
    case (CBATTErrorDomain, 0x80...0x9F): return "the device refused: \(foundation.code)"
    case (CBErrorDomain, let code): return CBError(_nsError: foundation).localizedDescription + " \(code)"
    default: return foundation.localizedDescription
    }
}

/// Returns a name for each state, in a form that also compiles with later states.
func name(of state: CBPeripheralState) -> String {
    switch state {
    case .disconnected: "disconnected"
    case .connecting: "connecting"
    case .connected: "connected"
    case .disconnecting: "disconnecting"
    @unknown default: "state \(state.rawValue)"
    }
}
