import Foundation

/// An action of a central across the air.
///
/// On the emulator it is a command to the central's backend, on BlueZ one line of JSON to the peer. The central reports
/// the consequences, in the order of the air; some actions are answered, too.
enum CentralAction: Sendable {
    /// Answered with a line for each advertiser received in this time: "name=Served services=C0DE1000".
    case listen(milliseconds: Int)
    /// Connects to the advertiser of a service, or to any, and discovers all attributes: `connected`.
    ///
    /// Answered with the number of earlier links that ended and were made again.
    case connect(service: ContractAttribute? = nil)
    /// Disconnects: `disconnected("local")`.
    case disconnect
    /// Discovers all attributes again: `services`.
    case discover
    /// Discovers and reads the descriptors of a characteristic: `descriptors`.
    case descriptors(ContractAttribute)
    /// Reads: `read`, with a value or an error.
    case read(ContractAttribute)
    /// Writes, in prepared parts if the value is long: `wrote`, perhaps with an error.
    case write(ContractAttribute, Data)
    /// Sends a write command; nothing is reported.
    case command(ContractAttribute, Data)
    /// Subscribes or unsubscribes: `subscribed`, with a state or an error; then `notified` for each value.
    case subscribe(ContractAttribute, Bool = true)
    /// Answered with the link's ATT MTU as count.
    case mtu
    /// Sets what its user can see and type from now on; questions are reported as `asks`.
    case pairing(PeerCapability)
    /// Answers the last question, as its user.
    case answer(PeerAnswer)
    /// Begins a pairing: `paired`, or `pairingFailed`.
    case pair
    /// Deletes its keys, without notification.
    case forget
    /// Opens a channel: `channelOpened` or `channelRefused`; then `channelClosed`.
    case openChannel(psm: UInt16)
    /// Sends this many bytes of the pattern, as the channel accepts them.
    case send(count: Int)
    /// Waits for this many bytes of the pattern in total; other bytes are an error.
    case receive(count: Int)
    case closeChannel

    /// The line to the peer, without the central.
    var json: [String: Any] {
        switch self {
        case .listen(let milliseconds): ["do": "listen", "milliseconds": milliseconds]
        case .connect(let service):
            ["do": "connect", "service": service?.uuid].compactMapValues { $0 }
        case .disconnect: ["do": "disconnect"]
        case .discover: ["do": "discover"]
        case .descriptors(let attribute): ["do": "descriptors", "characteristic": attribute.uuid]
        case .read(let attribute): ["do": "read", "characteristic": attribute.uuid]
        case .write(let attribute, let value):
            ["do": "write", "characteristic": attribute.uuid, "value": value.hex]
        case .command(let attribute, let value):
            ["do": "command", "characteristic": attribute.uuid, "value": value.hex]
        case .subscribe(let attribute, let isOn):
            ["do": "subscribe", "characteristic": attribute.uuid, "on": isOn]
        case .mtu: ["do": "mtu"]
        case .pairing(let capability): ["do": "pairing", "capability": capability.rawValue]
        case .answer(.accept): ["do": "answer", "accept": true]
        case .answer(.reject): ["do": "answer", "accept": false]
        case .answer(.passkey(let number)): ["do": "answer", "passkey": number]
        case .pair: ["do": "pair"]
        case .forget: ["do": "forget"]
        case .openChannel(let psm): ["do": "openChannel", "psm": Int(psm)]
        case .send(let count): ["do": "send", "count": count]
        case .receive(let count): ["do": "receive", "count": count]
        case .closeChannel: ["do": "closeChannel"]
        }
    }
}

/// The centrals of the suite.
enum ContractCentral: String, Sendable, CaseIterable {
    case one, two
}

/// The input and output capability of a peer.
enum PeerCapability: String, Sendable {
    case displayOnly, displayYesNo, keyboardOnly, noInputNoOutput, keyboardDisplay
}

/// The answer of a peer's user.
enum PeerAnswer: Sendable {
    case accept, reject
    case passkey(Int)
}

/// The pairing behavior of the peer "contract".
struct PeerPairing: Sendable {
    var capability = PeerCapability.noInputNoOutput
    /// The number that it shows, if it shows one.
    var passkey = 123_456
    /// Whether its user consents, and types the number that is shown.
    var accepts = true
}
