import Foundation

/// What a scenario asks of the other side of the air.
///
/// On the emulator a control of the world, on a real radio one line of JSON to the peer.
enum PeerAction: Sendable {
    case reset
    case advertise(ContractPeer, Bool, name: String? = nil, manufacturerData: Data? = nil)
    /// Nothing, once the managers' host has given up what it was told to: the peer may be heard again.
    case settle
    case disconnect
    /// The link ends by supervision timeout; the peer advertises afterwards unless it does not stay.
    case lose(stays: Bool = true)
    case notify(String, Data)
    case setValue(String, Data)
    case value(String)
    /// What the characteristic for commands received, in order.
    case commands
    /// While held, reads of the stored value are not answered.
    case hold(Bool)
    case addService
    case removeService
    case requestMTU(Int)
    case connections
    case adapter(isPowered: Bool)
    case daemon(isRunning: Bool)
    /// The service C0DE0006 appears, whose C0DE0601 and C0DE0602 are for encrypted links only.
    case secure(PeerPairing = PeerPairing())
    /// The peer loses its keys without a word.
    case forget
    /// Another app of the managers' host connects to the peer, or gives its connection up.
    case otherApp(isConnected: Bool)
    /// The system ends the app that gave this restore identifier, and keeps what it had.
    case endApp(String)

    /// The peer's line.
    var json: [String: Any] {
        switch self {
        case .reset: ["action": "reset"]
        case .advertise(let peer, let isOn, let name, let manufacturerData):
            [
                "action": "advertise", "peer": peer.rawValue, "on": isOn, "name": name,
                "manufacturerData": manufacturerData?.hex,
            ].compactMapValues { $0 }
        case .settle: ["action": "settle"]
        case .disconnect: ["action": "disconnect", "peer": "contract"]
        case .lose(let stays): ["action": "lose", "peer": "contract", "stay": stays]
        case .notify(let uuid, let value):
            ["action": "notify", "characteristic": ContractPeer.full(uuid), "value": value.hex]
        case .setValue(let uuid, let value):
            ["action": "setValue", "characteristic": ContractPeer.full(uuid), "value": value.hex]
        case .value(let uuid): ["action": "value", "characteristic": ContractPeer.full(uuid)]
        case .commands: ["action": "commands"]
        case .hold(let isOn): ["action": "hold", "on": isOn]
        case .addService: ["action": "addService"]
        case .removeService: ["action": "removeService"]
        case .requestMTU(let mtu): ["action": "requestMTU", "mtu": mtu]
        case .connections: ["action": "connections", "peer": "contract"]
        case .adapter(let isPowered): ["action": "adapter", "powered": isPowered]
        case .daemon(let isRunning): ["action": "daemon", "running": isRunning]
        case .secure(let pairing):
            [
                "action": "secure", "capability": pairing.capability.rawValue, "passkey": pairing.passkey,
                "accepts": pairing.accepts,
            ]
        case .forget: ["action": "forget", "peer": "contract"]
        case .endApp(let identifier): ["action": "endApp", "identifier": identifier]
        case .otherApp(let isConnected): ["action": "otherApp", "connected": isConnected]
        }
    }
}

/// The peers of the suite.
enum ContractPeer: String, Sendable {
    case contract, second
    /// A heart rate monitor, which notifies a rate each second.
    case heart

    /// The suite writes `C0DE0101`; on the air it has 128 bits.
    static func full(_ uuid: String) -> String {
        uuid.hasPrefix("C0DE") && uuid.count == 8 ? uuid + "-7A3D-4C5B-9E1F-2B6A8D4C0F01" : uuid
    }
}

/// What the peer says to an action.
struct PeerReply: Sendable {
    var value: Data?
    var values: [Data] = []
    var count = 0
    var lines: [String] = []
}

extension Data {
    /// Two upper-case digits a byte.
    var hex: String { map { String(format: "%02X", $0) }.joined() }

    init?(hex: String) {
        guard hex.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var rest = hex[...]
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        guard rest.isEmpty else { return nil }
        self.init(bytes)
    }
}
