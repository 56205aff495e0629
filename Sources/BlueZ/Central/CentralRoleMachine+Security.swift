#if os(Linux)
import BluetoothBackend

/// The consequences of a refused pairing for a link.
extension CentralRoleMachine {
    /// Handles that the user of this process refused a pairing, which an operation on the link needed.
    ///
    /// bluetoothd never answers that operation, nor any other on this link, and ends the link after 30 s: the kernel
    /// holds outgoing data back until the link is encrypted. So the operation fails here, and the link is ended.
    mutating func pairingRefused(_ peer: PeerID) {
        guard let link = links[peer], !link.ending.isDown, !link.ending.isClosing else { return }
        let requests = link.inFlight.filter { $0.value.command.isAttributeRequest }
        // Requests are sent one after the other.
        guard let (id, operation) = requests.min(by: { $0.key.number < $1.key.number }) else { return }
        links[peer]?.inFlight[id] = nil
        endFailed(
            peer, operation, .att(0x05, operation: operation.command.member, message: "the user refuses to pair"))
        if link.isOurs { abandonLink(peer, reason: .unknown) }
    }
}

extension CentralCommand {
    /// Whether the peer answers the command, and may require security first.
    fileprivate var isAttributeRequest: Bool {
        switch self {
        case .request(_, _, .read), .request(_, _, .write), .request(_, _, .setNotifying): true
        default: false
        }
    }
}
#endif
