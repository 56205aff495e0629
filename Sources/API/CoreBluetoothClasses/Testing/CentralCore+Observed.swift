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

    func observation(of callback: CentralCallback) -> DeliveredCallback {
        switch callback {
        case .willRestore: observed(.willRestoreState)
        case .stateUpdated: observed(.didUpdateState)
        case .discovered(let discovery): observed(.didDiscover, discovery.peer)
        case .connected(let id): observed(.didConnect, id)
        case .connectFailed(let id, let error): observed(.didFailToConnect, id, error)
        case .disconnected(let id, _, _, let error): observed(.didDisconnectPeripheral, id, error)
        case .connectionEvent(let id, _): observed(.connectionEventDidOccur, id)
        case .ancsAuthorizationUpdated(let id): observed(.didUpdateANCSAuthorization, id)
        case .nameUpdated(let id, _): observed(.didUpdateName, by: id)
        case .servicesModified(let id, let removed): observed(.didModifyServices, by: id, removed)
        case .readyToWrite(let id): observed(.isReadyToSendWriteWithoutResponse, by: id)
        case .notified(let id, let attribute, let value): observed(.didUpdateValue, by: id, [attribute], value)
        case .subscriptionEnded(let id, let attribute, let error):
            observed(.didUpdateNotificationState, by: id, [attribute], nil, error)
        case .response(let id, _, let request, let response):
            observed(
                request.names { peripheral(id)?.attribute($0) is CBDescriptor }.method, by: id,
                request.attribute.map { [$0] } ?? [], response.value, response.error)
        }
    }

    private func observed(
        _ method: DelegateMethod, _ peer: PeerID? = nil, _ error: BackendError? = nil
    ) -> DeliveredCallback {
        DeliveredCallback(
            method: method, identifier: peer?.uuid, error: error?.appError, hasDelegate: delegate != nil)
    }

    private func observed(
        _ method: DelegateMethod, by id: PeerID, _ attributes: [AttributeID] = [], _ value: Data? = nil,
        _ error: BackendError? = nil
    ) -> DeliveredCallback {
        let peripheral = peripheral(id)
        return DeliveredCallback(
            method: method, identifier: id.uuid, attributes: attributes.compactMap { peripheral?.attribute($0)?.uuid },
            value: value, error: error?.appError, hasDelegate: peripheral?.delegate != nil)
    }
}

extension CentralStateMachine {
    /// The requests to peers without a response.
    var unansweredCommands: [String] {
        peers.sorted { $0.key.uuid.uuidString < $1.key.uuid.uuidString }.flatMap { $1.unansweredCommands(of: $0) }
    }

    /// The requests without a response to the peer that an object represents.
    func unansweredCommands(of handle: PeerHandle) -> [String] {
        peer(handle)?.unansweredCommands(of: handle.id) ?? []
    }

    /// Whether the peer that an object represents is connected or being connected.
    func isInUse(_ handle: PeerHandle) -> Bool { [.connecting, .connected].contains(peer(handle)?.state) }
}

extension PeerState {
    fileprivate func unansweredCommands(of id: PeerID) -> [String] {
        // An app that ends the link takes its requests back.
        guard state != .disconnecting else { return [] }
        // Ending a subscription is like ending a link: an app need not wait for it.
        return client.pending.filter { $0.localResponse == nil && !$0.request.endsSubscription }.map { pending in
            let attribute = pending.request.attribute.flatMap(client.database.uuid(of:)).map { " with \($0)" } ?? ""
            let call = pending.request.names { client.database[$0]?.record.descriptor != nil }.call
            return "\(call)\(attribute) on peripheral \(id)"
        }
    }
}

extension LinkResponse {
    fileprivate var value: Data? { if case .value(let value) = self { value } else { nil } }

    fileprivate var error: BackendError? { if case .failure(let error) = self { error } else { nil } }
}

extension LinkRequest {
    /// Apple's names of the call and of the delegate's method for its result.
    fileprivate func names(isDescriptor: (AttributeID) -> Bool) -> (call: String, method: DelegateMethod) {
        switch self {
        case .readRSSI: ("readRSSI()", .didReadRSSI)
        case .discoverServices: ("discoverServices(_:)", .didDiscoverServices)
        case .discoverIncludedServices: ("discoverIncludedServices(_:for:)", .didDiscoverIncludedServices)
        case .discoverCharacteristics: ("discoverCharacteristics(_:for:)", .didDiscoverCharacteristics)
        case .discoverDescriptors: ("discoverDescriptors(for:)", .didDiscoverDescriptors)
        case .read(let id): ("readValue(for:)", isDescriptor(id) ? .didUpdateDescriptorValue : .didUpdateValue)
        case .write(let id, _, _) where isDescriptor(id): ("writeValue(_:for:)", .didWriteDescriptorValue)
        case .write: ("writeValue(_:for:type:)", .didWriteValue)
        case .setNotifying: ("setNotifyValue(_:for:)", .didUpdateNotificationState)
        case .openChannel: ("openL2CAPChannel(_:)", .didOpen)
        }
    }

    fileprivate var endsSubscription: Bool {
        if case .setNotifying(_, false) = self { true } else { false }
    }
}
