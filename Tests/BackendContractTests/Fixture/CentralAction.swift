import Foundation

/// What a scenario asks of a central across the air.
///
/// On the emulator a command to a central's backend, on a real radio one line of JSON to the peer. What comes of an action
/// is told in the central's lines, in radio order; some are answered.
enum CentralAction: Sendable {
    /// Answers a line for each advertiser heard for so long: "name=Served services=C0DE1000".
    case listen(milliseconds: Int)
    /// Connects to the advertiser of a service, or to any, and finds all attributes: "connected".
    case connect(service: String? = nil)
    /// "disconnected local".
    case disconnect
    /// Finds all attributes again: "services C0DE1000 C0DE2000".
    case discover
    /// Finds and reads the descriptors of a characteristic: "descriptors C0DE100A 2901=74657874 2902=0000".
    case descriptors(String)
    /// "read C0DE1001 0102", or "read C0DE1001 ! 2".
    case read(String)
    /// Prepared where it is long: "wrote C0DE1001", or "wrote C0DE1001 ! 3".
    case write(String, Data)
    /// Tells nothing.
    case command(String, Data)
    /// "subscribed C0DE1003 true", or "subscribed C0DE1003 ! 5"; then "notified C0DE1003 0102" for each value.
    case subscribe(String, Bool = true)
    /// Answers the link's ATT MTU as count.
    case mtu
    /// What its user can see and type from now on; questions are lines such as "asks enterPasskey".
    case pairing(PeerCapability)
    /// Its user answers the last question.
    case answer(PeerAnswer)
    /// Begins a pairing: "paired", or "pairing failed".
    case pair
    /// Loses its keys without a word.
    case forget
    /// "channel open", or "channel ! 6"; then "channel closed".
    case openChannel(psm: UInt16)
    /// Sends so many bytes of the pattern, as there is room.
    case send(count: Int)
    /// Waits for so many bytes of the pattern in all; others are refused.
    case receive(count: Int)
    case closeChannel

    /// The line, but for the central.
    var json: [String: Any] {
        switch self {
        case .listen(let milliseconds): ["do": "listen", "milliseconds": milliseconds]
        case .connect(let service):
            ["do": "connect", "service": service.map(ContractPeer.full)].compactMapValues { $0 }
        case .disconnect: ["do": "disconnect"]
        case .discover: ["do": "discover"]
        case .descriptors(let uuid): ["do": "descriptors", "characteristic": ContractPeer.full(uuid)]
        case .read(let uuid): ["do": "read", "characteristic": ContractPeer.full(uuid)]
        case .write(let uuid, let value):
            ["do": "write", "characteristic": ContractPeer.full(uuid), "value": value.hex]
        case .command(let uuid, let value):
            ["do": "command", "characteristic": ContractPeer.full(uuid), "value": value.hex]
        case .subscribe(let uuid, let isOn):
            ["do": "subscribe", "characteristic": ContractPeer.full(uuid), "on": isOn]
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

/// What a peer can show and ask.
enum PeerCapability: String, Sendable {
    case displayOnly, displayYesNo, keyboardOnly, noInputNoOutput, keyboardDisplay
}

/// What a peer's user says.
enum PeerAnswer: Sendable {
    case accept, reject
    case passkey(Int)
}

/// How the peer "contract" pairs.
struct PeerPairing: Sendable {
    var capability = PeerCapability.noInputNoOutput
    /// The number that it shows, where it shows one.
    var passkey = 123_456
    /// Whether its user agrees; who agrees also types what is shown.
    var accepts = true
}
