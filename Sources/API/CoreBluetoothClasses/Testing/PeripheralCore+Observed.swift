import BluetoothBackend

extension PeripheralCore: ObservedManager {
    package var livingObjects: [String] {
        manager.map { ["\($0)"] } ?? []
    }

    package var unansweredCommands: [String] {
        isInvalidated ? [] : read { $0.unansweredCommands }
    }

    func observation(of callback: PeripheralCallback) -> DeliveredCallback {
        switch callback {
        case .willRestore: observed(.willRestoreState)
        case .stateUpdated: observed(.didUpdateState)
        case .advertisingStarted(let error): observed(.didStartAdvertising, error: error)
        case .added(let operation, let error):
            observed(.didAdd, [addition(operation)?.uuid].compactMap { $0 }, error: error)
        case .subscribed(let id, let attribute, _): observed(.didSubscribe, uuids(of: [attribute]), by: id)
        case .unsubscribed(let id, let attribute): observed(.didUnsubscribe, uuids(of: [attribute]), by: id)
        case .readReceived(_, let id, let attribute, _, _): observed(.didReceiveRead, uuids(of: [attribute]), by: id)
        case .writeReceived(_, let id, let parts, _):
            observed(.didReceiveWrite, uuids(of: parts.map(\.attribute)), by: id)
        case .readyToUpdate: observed(.isReadyToUpdateSubscribers)
        case .channelPublished(_, let error): observed(.didPublishL2CAPChannel, error: error)
        case .channelUnpublished(_, let error): observed(.didUnpublishL2CAPChannel, error: error)
        case .channelOpened(_, _, let id): observed(.didOpen, by: id)
        }
    }

    private func uuids(of attributes: [AttributeID]) -> [CBUUID] { attributes.compactMap { characteristic($0)?.uuid } }

    private func observed(
        _ method: DelegateMethod, _ uuids: [CBUUID] = [], by central: PeerID? = nil, error: BackendError? = nil
    ) -> DeliveredCallback {
        DeliveredCallback(
            method: method, identifier: central?.uuid, attributes: uuids, error: error?.appError,
            hasDelegate: delegate != nil)
    }
}

extension PeripheralStateMachine {
    /// The app's calls without a result, and the requests of centrals without a response.
    var unansweredCommands: [String] {
        let added = additions.unanswered.map { operation in
            let uuid = database.service(addedBy: operation).flatMap { database.service($0)?.definition.uuid }
            return "add(_:)" + (uuid.map { " of service \($0)" } ?? "")
        }
        let advertised = advertising.answers.unanswered.map { _ in "startAdvertising(_:)" }
        let published = channels.publishing.map { _ in "publishL2CAPChannel(withEncryption:)" }
        let unpublished = channels.unpublishing.values.sorted().map { "unpublishL2CAPChannel(_:) of \($0)" }
        let held = requests.sorted { $0.key < $1.key }.map { request in
            let verb = request.value.kind == .write ? "write to" : "read of"
            let uuid = database.characteristic(request.value.attribute)?.uuid
            return "\(verb) \(uuid?.description ?? "a characteristic") by central \(request.value.central)"
        }
        return added + advertised + published + unpublished + held
    }
}
