import BluetoothBackend
import Foundation

/// Observes the managers of one test, for the testing library.
///
/// Called on any thread, never under a lock of the manager's.
package protocol ManagerObserver: AnyObject, Sendable {
    /// A manager was created; the observer retains it weakly.
    func managerCreated(_ manager: any ObservedManager)
    /// A delegate method has returned, or would have been called had there been a delegate.
    func delivered(_ callback: DeliveredCallback)
    /// A manager or a peripheral was released while these commands had no answer.
    func commandsAbandoned(_ commands: [String])
    /// A connected or connecting peripheral was released; no delegate receives its events from now on.
    func peripheralReleased(_ identifier: UUID)
}

/// A manager as its observer sees it, which lives as long as the manager or one of its objects does.
package protocol ObservedManager: AnyObject, Sendable {
    /// The living objects among the manager and those that it created.
    var livingObjects: [String] { get }
    /// The label of the queue of its callbacks.
    var label: String { get }
    /// The requests without a response.
    var unansweredCommands: [String] { get }
    /// Calls `body` when everything delivered so far has been handled.
    func afterDelivery(_ body: @escaping @Sendable () -> Void)
}

package struct DeliveredCallback: Sendable {
    package var method: DelegateMethod
    /// The peripheral or central that the call concerns.
    package var identifier: UUID?
    /// The services, characteristics or descriptors of the call.
    package var attributes: [CBUUID] = []
    package var value: Data?
    package var error: (any Error)?
    package var hasDelegate = true
}

/// The place where managers find their observer.
package enum Observation {
    /// The observer of the managers that this task and its child tasks create.
    @TaskLocal package static var observer: (any ManagerObserver)?
}

/// A method of a delegate, named by the last part of its name, as in tests.
package enum DelegateMethod: String, CaseIterable, Sendable {
    // Of both managers.
    case didUpdateState, willRestoreState
    // CBCentralManagerDelegate
    case didDiscover, didConnect, didFailToConnect, didDisconnectPeripheral, connectionEventDidOccur
    case didUpdateANCSAuthorization
    // CBPeripheralDelegate
    case didUpdateName, didModifyServices, didReadRSSI, didDiscoverServices, didDiscoverIncludedServices
    case didDiscoverCharacteristics, didDiscoverDescriptors, didUpdateValue, didWriteValue
    case didUpdateNotificationState, didUpdateDescriptorValue, didWriteDescriptorValue
    case isReadyToSendWriteWithoutResponse
    // CBPeripheralDelegate and CBPeripheralManagerDelegate
    case didOpen
    // CBPeripheralManagerDelegate
    case didStartAdvertising, didAdd, didSubscribe, didUnsubscribe, isReadyToUpdateSubscribers
    case didReceiveRead, didReceiveWrite, didPublishL2CAPChannel, didUnpublishL2CAPChannel
    // CBPairingAgentDelegate
    case didReceivePairingRequest, didCancelPairingRequest, didPair, didFailToPair, didUnpair
}

extension PairingCore: ObservedManager {
    package var livingObjects: [String] {
        agent.map { ["<CBPairingAgent: \($0.capability)>"] } ?? []
    }
}

extension PairingMachine {
    /// The app's calls without a result, and the questions of pairings without an answer.
    ///
    /// A number that is shown requires no answer.
    var unansweredCommands: [String] {
        let asked = calls.sorted { $0.key < $1.key }.map { "\($0.value.kind) of peer \($0.value.peer)" }
        let questions = requests.sorted { $0.key < $1.key }.map(\.value).filter { $0.question.wantsAnswer }
        return asked + questions.map { "pairing question \"\($0.question.kindName)\" of peer \($0.peer)" }
    }
}

extension PairingQuestion {
    fileprivate var wantsAnswer: Bool {
        switch self {
        case .display: false
        case .consent, .confirm, .enterPasskey, .outOfBand: true
        }
    }
}

extension PairingMachine.Callback {
    /// The callback as an observer sees it; nil if it calls no delegate method.
    ///
    /// A question that is cancelled no longer has a peer.
    var observed: DeliveredCallback? {
        switch self {
        case .requested(_, let peer, _): DeliveredCallback(method: .didReceivePairingRequest, identifier: peer.uuid)
        case .cancelled: DeliveredCallback(method: .didCancelPairingRequest)
        case .paired(let peer, _): DeliveredCallback(method: .didPair, identifier: peer.uuid)
        case .failed(let peer, let error):
            DeliveredCallback(method: .didFailToPair, identifier: peer.uuid, error: error.appError)
        case .unpaired(let peer): DeliveredCallback(method: .didUnpair, identifier: peer.uuid)
        case .finished, .forgotten: nil
        }
    }
}
