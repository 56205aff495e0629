import CoreBluetooth

extension ContractTrace: CBPairingAgentDelegate {
    func pairingAgent(_ agent: CBPairingAgent, didReceive request: CBPairingRequest) {
        let question =
            switch request.question {
            case .consent: "consent"
            case .confirm: "confirm"
            case .enterPasskey: "enterPasskey"
            case .display: "display"
            case .outOfBand: "outOfBand"
            }
        note(request, "asks \(question)")
    }

    func pairingAgent(_ agent: CBPairingAgent, didCancel request: CBPairingRequest) { record("asks no more", nil) }

    func pairingAgent(_ agent: CBPairingAgent, didPairWith identifier: UUID, isBonded: Bool) {
        record("paired\(isBonded ? "" : " without bond")", nil)
    }

    func pairingAgent(_ agent: CBPairingAgent, didFailToPairWith identifier: UUID, error: any Error) {
        record("pairing failed", error)
    }

    func pairingAgent(_ agent: CBPairingAgent, didUnpairFrom identifier: UUID) { record("unpaired", nil) }
}
