import BluetoothBackend
import Foundation

extension PairingCore: ObservedManager {
    package var livingObjects: [String] {
        agent.map { ["<CBPairingAgent: \($0.capability)>"] } ?? []
    }
}

extension PairingMachine {
    /// What the app asked and was not told, and what a pairing asked and the app did not answer.
    ///
    /// A number that is shown asks for nothing.
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
    /// As an observer sees it; nil for what no delegate method tells.
    ///
    /// A question that is cancelled has no peer any more.
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
