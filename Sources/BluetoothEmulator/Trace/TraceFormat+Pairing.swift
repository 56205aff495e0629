import BluetoothBackend

extension TraceFormat {
    static func text(_ command: PairingCommand) -> String {
        switch command {
        case .setCapability(let capability): "setCapability \(capability.rawValue)"
        case .pair(let peer, let operation): "pair \(peer) #\(operation)"
        case .unpair(let peer, let operation): "unpair \(peer) #\(operation)"
        case .answer(let request, .accept): "answer \(request) accept"
        case .answer(let request, .reject): "answer \(request) reject"
        case .answer(let request, .passkey(let number)): "answer \(request) \(number)"
        }
    }

    static func text(_ event: PairingEvent) -> String {
        switch event {
        case .requested(let request, let peer, let question): "requested \(request) \(peer) \(text(question))"
        case .cancelled(let request): "cancelled \(request)"
        case .paired(let peer, let operation, let isBonded):
            "paired \(peer)\(text(operation))\(isBonded ? " bonded" : "")"
        case .pairingFailed(let peer, let operation, let error): "pairingFailed \(peer)\(text(operation)) \(error)"
        case .unpaired(let peer, let operation): "unpaired \(peer)\(text(operation))"
        }
    }

    private static func text(_ operation: OperationID?) -> String { operation.map { " #\($0)" } ?? "" }

    private static func text(_ question: PairingQuestion) -> String {
        switch question {
        case .consent: "consent"
        case .confirm(let passkey): "confirm \(passkey)"
        case .enterPasskey: "enterPasskey"
        case .display(let passkey): "display \(passkey)"
        case .outOfBand: "outOfBand"
        }
    }
}
