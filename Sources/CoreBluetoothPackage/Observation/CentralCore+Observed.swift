import BluetoothBackend
import Foundation

extension CentralCore: ObservedManager {
    package var livingObjects: [String] {
        let manager = manager.map { ["\($0)"] } ?? []
        return manager + livingPeripherals.map(\.description)
    }

    package var unansweredCommands: [String] {
        isInvalidated ? [] : read { $0.unansweredCommands }
    }

    /// A callback as an observer sees it.
    func observation(of callback: CentralCallback) -> DeliveredCallback {
        let peripheral = callback.peer.flatMap { self.peripheral($0) }
        return DeliveredCallback(
            method: callback.method, identifier: callback.peer?.uuid,
            attributes: callback.attributes.compactMap { peripheral?.attribute($0)?.uuid }, value: callback.value,
            error: callback.error?.appError,
            hasDelegate: callback.isOfPeripheral ? peripheral?.delegate != nil : delegate != nil)
    }
}

extension CentralStateMachine {
    /// What was asked of peers and is not answered.
    var unansweredCommands: [String] {
        peers.sorted { $0.key.uuid.uuidString < $1.key.uuid.uuidString }.flatMap { $1.unansweredCommands(of: $0) }
    }

    /// The same, of the peer that an object stands for.
    func unansweredCommands(of handle: PeerHandle) -> [String] {
        peer(handle)?.unansweredCommands(of: handle.id) ?? []
    }
}

extension PeerState {
    fileprivate func unansweredCommands(of id: PeerID) -> [String] {
        // Ending a subscription is like ending a link: an app need not wait for it.
        pending.filter { !$0.isLocal && !$0.kind.endsSubscription }.map { command in
            let attribute = command.kind.attribute.flatMap(database.uuid(of:)).map { " with \($0)" } ?? ""
            return "\(command.kind.call)\(attribute) on peripheral \(id)"
        }
    }
}

extension CentralCallback {
    fileprivate var method: DelegateMethod {
        switch self {
        case .willRestore: .willRestoreState
        case .stateUpdated: .didUpdateState
        case .discovered: .didDiscover
        case .connected: .didConnect
        case .connectFailed: .didFailToConnect
        case .disconnected: .didDisconnectPeripheral
        case .connectionEvent: .connectionEventDidOccur
        case .ancsAuthorizationUpdated: .didUpdateANCSAuthorization
        case .nameUpdated: .didUpdateName
        case .servicesModified: .didModifyServices
        case .readyToWrite: .isReadyToSendWriteWithoutResponse
        case .notified: .didUpdateValue
        case .answered(_, _, let answer): answer.method
        }
    }

    /// Whether it is a peripheral's delegate that receives it.
    fileprivate var isOfPeripheral: Bool {
        switch self {
        case .notified, .answered, .nameUpdated, .readyToWrite, .servicesModified: true
        default: false
        }
    }

    fileprivate var value: Data? {
        switch self {
        case .notified(_, _, let value): value
        case .answered(_, _, .characteristicRead(_, let value)), .answered(_, _, .descriptorRead(_, let value)): value
        default: nil
        }
    }

    fileprivate var peer: PeerID? {
        switch self {
        case .willRestore, .stateUpdated: nil
        case .discovered(let discovery): discovery.peer
        case .connected(let id), .connectFailed(let id, _), .disconnected(let id, _, _, _), .connectionEvent(let id, _),
            .ancsAuthorizationUpdated(let id), .nameUpdated(let id, _), .servicesModified(let id, _),
            .readyToWrite(let id), .notified(let id, _, _), .answered(let id, _, _):
            id
        }
    }

    fileprivate var attributes: [AttributeID] {
        switch self {
        case .servicesModified(_, let removed): removed
        case .notified(_, let attribute, _): [attribute]
        case .answered(_, _, let answer): answer.attribute.map { [$0] } ?? []
        default: []
        }
    }

    fileprivate var error: BackendError? {
        switch self {
        case .connectFailed(_, let error): error
        case .disconnected(_, _, _, let error): error
        case .answered(_, _, .failed(_, let error)): error
        default: nil
        }
    }
}

extension LinkAnswer {
    fileprivate var method: DelegateMethod {
        switch self {
        case .rssi: .didReadRSSI
        case .services: .didDiscoverServices
        case .includedServices: .didDiscoverIncludedServices
        case .characteristics: .didDiscoverCharacteristics
        case .descriptors: .didDiscoverDescriptors
        case .characteristicRead: .didUpdateValue
        case .descriptorRead: .didUpdateDescriptorValue
        case .characteristicWritten: .didWriteValue
        case .descriptorWritten: .didWriteDescriptorValue
        case .notifying: .didUpdateNotificationState
        case .channelOpened: .didOpen
        case .failed(let operation, _): operation.method
        }
    }

    fileprivate var attribute: AttributeID? {
        switch self {
        case .rssi, .services, .channelOpened: nil
        case .includedServices(let id, _), .characteristics(let id, _), .descriptors(let id, _),
            .characteristicRead(let id, _), .descriptorRead(let id, _), .characteristicWritten(let id),
            .descriptorWritten(let id), .notifying(let id, _):
            id
        case .failed(let operation, _): operation.attribute
        }
    }
}

extension LinkOperation {
    /// Apple's name of the call.
    fileprivate var call: String {
        switch self {
        case .rssi: "readRSSI()"
        case .services: "discoverServices(_:)"
        case .includedServices: "discoverIncludedServices(_:for:)"
        case .characteristics: "discoverCharacteristics(_:for:)"
        case .descriptors: "discoverDescriptors(for:)"
        case .readCharacteristic, .readDescriptor: "readValue(for:)"
        case .writeCharacteristic: "writeValue(_:for:type:)"
        case .writeDescriptor: "writeValue(_:for:)"
        case .notify: "setNotifyValue(_:for:)"
        case .channel: "openL2CAPChannel(_:)"
        }
    }

    fileprivate var method: DelegateMethod {
        switch self {
        case .rssi: .didReadRSSI
        case .services: .didDiscoverServices
        case .includedServices: .didDiscoverIncludedServices
        case .characteristics: .didDiscoverCharacteristics
        case .descriptors: .didDiscoverDescriptors
        case .readCharacteristic: .didUpdateValue
        case .readDescriptor: .didUpdateDescriptorValue
        case .writeCharacteristic: .didWriteValue
        case .writeDescriptor: .didWriteDescriptorValue
        case .notify: .didUpdateNotificationState
        case .channel: .didOpen
        }
    }

    fileprivate var attribute: AttributeID? {
        switch self {
        case .rssi, .services, .channel: nil
        case .includedServices(let id), .characteristics(let id), .descriptors(let id), .readCharacteristic(let id),
            .readDescriptor(let id), .writeCharacteristic(let id), .writeDescriptor(let id), .notify(let id, _):
            id
        }
    }

    fileprivate var endsSubscription: Bool {
        if case .notify(_, false) = self { true } else { false }
    }
}
