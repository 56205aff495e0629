import CoreBluetooth

extension ContractTrace: CBPairingAgentDelegate {
    func pairingAgent(_ agent: CBPairingAgent, didReceive request: CBPairingRequest) {
        let question: ContractEvent.Question =
            switch request.question {
            case .consent: .consent
            case .confirm: .confirm
            case .enterPasskey: .enterPasskey
            case .display: .display
            case .outOfBand: .outOfBand
            }
        var consents = false
        record(.asks(question)) { state in
            state.pairingRequests.append(request)
            consents = question == .consent && state.consentsAtOnce
        }
        if consents { request.accept() }
    }

    func pairingAgent(_ agent: CBPairingAgent, didCancel request: CBPairingRequest) { record(.asksNoMore) }

    func pairingAgent(_ agent: CBPairingAgent, didPairWith identifier: UUID, isBonded: Bool) {
        record(isBonded ? .paired : .pairedWithoutBond)
    }

    func pairingAgent(_ agent: CBPairingAgent, didFailToPairWith identifier: UUID, error: any Error) {
        record(.pairingFailed, error)
    }

    func pairingAgent(_ agent: CBPairingAgent, didUnpairFrom identifier: UUID) { record(.unpaired) }
}
