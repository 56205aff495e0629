import BluetoothBackend
import Foundation

extension PeripheralCore: ObservedManager {
    package var livingObjects: [String] {
        manager.map { ["\($0)"] } ?? []
    }

    package var unansweredCommands: [String] {
        isInvalidated ? [] : read { $0.unansweredCommands }
    }

    /// A callback as an observer sees it.
    func observation(of callback: PeripheralCallback) -> DeliveredCallback {
        var uuids = callback.attributes.compactMap { characteristic($0)?.uuid }
        if case .added(let operation, _) = callback, let service = addition(operation) { uuids = [service.uuid] }
        return DeliveredCallback(
            method: callback.method, identifier: callback.central?.uuid, attributes: uuids,
            error: callback.error?.appError, hasDelegate: delegate != nil)
    }
}

extension PeripheralStateMachine {
    /// What the app asked and was not told, and what centrals asked and the app did not answer.
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

extension PeripheralCallback {
    fileprivate var method: DelegateMethod {
        switch self {
        case .willRestore: .willRestoreState
        case .stateUpdated: .didUpdateState
        case .advertisingStarted: .didStartAdvertising
        case .added: .didAdd
        case .subscribed: .didSubscribe
        case .unsubscribed: .didUnsubscribe
        case .readReceived: .didReceiveRead
        case .writeReceived: .didReceiveWrite
        case .readyToUpdate: .isReadyToUpdateSubscribers
        case .channelPublished: .didPublishL2CAPChannel
        case .channelUnpublished: .didUnpublishL2CAPChannel
        case .channelOpened: .didOpen
        }
    }

    fileprivate var central: PeerID? {
        switch self {
        case .subscribed(let id, _, _), .unsubscribed(let id, _), .readReceived(_, let id, _, _, _),
            .writeReceived(_, let id, _, _), .channelOpened(_, _, let id):
            id
        case .willRestore, .stateUpdated, .advertisingStarted, .added, .readyToUpdate, .channelPublished,
            .channelUnpublished:
            nil
        }
    }

    fileprivate var attributes: [AttributeID] {
        switch self {
        case .subscribed(_, let id, _), .unsubscribed(_, let id), .readReceived(_, _, let id, _, _): [id]
        case .writeReceived(_, _, let parts, _): parts.map(\.attribute)
        default: []
        }
    }

    fileprivate var error: BackendError? {
        switch self {
        case .advertisingStarted(let error), .added(_, let error), .channelPublished(_, let error),
            .channelUnpublished(_, let error):
            error
        default: nil
        }
    }
}
