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
            method: callback.method { peripheral?.attribute($0) is CBDescriptor }, identifier: callback.peer?.uuid,
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
        pending.filter { $0.localResponse == nil && !$0.request.endsSubscription }.map { pending in
            let attribute = pending.request.attribute.flatMap(database.uuid(of:)).map { " with \($0)" } ?? ""
            return "\(pending.request.call(isDescriptor: database.isDescriptor))\(attribute) on peripheral \(id)"
        }
    }
}

extension CentralCallback {
    fileprivate func method(isDescriptor: (AttributeID) -> Bool) -> DelegateMethod {
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
        case .response(_, _, let request, _): request.method(isDescriptor: isDescriptor)
        }
    }

    /// Whether it is a peripheral's delegate that receives it.
    fileprivate var isOfPeripheral: Bool {
        switch self {
        case .notified, .response, .nameUpdated, .readyToWrite, .servicesModified: true
        default: false
        }
    }

    fileprivate var value: Data? {
        switch self {
        case .notified(_, _, let value): value
        case .response(_, _, _, .value(let value)): value
        default: nil
        }
    }

    fileprivate var peer: PeerID? {
        switch self {
        case .willRestore, .stateUpdated: nil
        case .discovered(let discovery): discovery.peer
        case .connected(let id), .connectFailed(let id, _), .disconnected(let id, _, _, _), .connectionEvent(let id, _),
            .ancsAuthorizationUpdated(let id), .nameUpdated(let id, _), .servicesModified(let id, _),
            .readyToWrite(let id), .notified(let id, _, _), .response(let id, _, _, _):
            id
        }
    }

    fileprivate var attributes: [AttributeID] {
        switch self {
        case .servicesModified(_, let removed): removed
        case .notified(_, let attribute, _): [attribute]
        case .response(_, _, let request, _): request.attribute.map { [$0] } ?? []
        default: []
        }
    }

    fileprivate var error: BackendError? {
        switch self {
        case .connectFailed(_, let error): error
        case .disconnected(_, _, _, let error): error
        case .response(_, _, _, .failure(let error)): error
        default: nil
        }
    }
}

extension LinkRequest {
    /// Apple's name of the call.
    fileprivate func call(isDescriptor: (AttributeID) -> Bool) -> String {
        switch self {
        case .readRSSI: "readRSSI()"
        case .discoverServices: "discoverServices(_:)"
        case .discoverIncludedServices: "discoverIncludedServices(_:for:)"
        case .discoverCharacteristics: "discoverCharacteristics(_:for:)"
        case .discoverDescriptors: "discoverDescriptors(for:)"
        case .read: "readValue(for:)"
        case .write(let id, _): isDescriptor(id) ? "writeValue(_:for:)" : "writeValue(_:for:type:)"
        case .setNotifying: "setNotifyValue(_:for:)"
        case .openChannel: "openL2CAPChannel(_:)"
        }
    }

    fileprivate func method(isDescriptor: (AttributeID) -> Bool) -> DelegateMethod {
        switch self {
        case .readRSSI: .didReadRSSI
        case .discoverServices: .didDiscoverServices
        case .discoverIncludedServices: .didDiscoverIncludedServices
        case .discoverCharacteristics: .didDiscoverCharacteristics
        case .discoverDescriptors: .didDiscoverDescriptors
        case .read(let id): isDescriptor(id) ? .didUpdateDescriptorValue : .didUpdateValue
        case .write(let id, _): isDescriptor(id) ? .didWriteDescriptorValue : .didWriteValue
        case .setNotifying: .didUpdateNotificationState
        case .openChannel: .didOpen
        }
    }

    fileprivate var endsSubscription: Bool {
        if case .setNotifying(_, false) = self { true } else { false }
    }
}
