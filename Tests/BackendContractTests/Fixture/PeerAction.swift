public import Foundation

/// An action of the other side of the air.
///
/// On the emulator it is a control of the world, on BlueZ one line of JSON to the peer.
enum PeerAction: Sendable {
    case reset
    case advertise(ContractPeer, Bool, name: String? = nil, manufacturerData: Data? = nil)
    /// Waits until the managers' host neither scans nor connects, so that the peer may be heard again.
    case settle
    case disconnect
    /// Ends the link by supervision timeout; the peer advertises afterwards unless it does not stay.
    case lose(stays: Bool = true)
    case notify(ContractAttribute, Data)
    case setValue(ContractAttribute, Data)
    case value(ContractAttribute)
    /// Returns the values that `commands` received, in order.
    case commands
    /// Holds the responses to reads of `stored`, or releases them.
    case hold(Bool)
    /// Waits until such a read has arrived.
    case awaitHeldRead
    case addService
    case removeService
    case requestMTU(Int)
    case connections
    case adapter(isPowered: Bool)
    case daemon(isRunning: Bool)
    /// Adds the service `secure`.
    case secure(PeerPairing = PeerPairing())
    /// Enters the passkey that the managers' host displays; the peer's user has that capability.
    case enterPasskey(Int)
    /// Deletes the peer's keys, without notification.
    case forget
    /// Connects another app of the managers' host to the peer, or disconnects it.
    case otherApp(isConnected: Bool)
    /// Ends the app with this restore identifier, as the system does, and preserves its state.
    case endApp(String)

    /// The line to the peer.
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
        case .notify(let attribute, let value):
            ["action": "notify", "characteristic": attribute.uuid, "value": value.hex]
        case .setValue(let attribute, let value):
            ["action": "setValue", "characteristic": attribute.uuid, "value": value.hex]
        case .value(let attribute): ["action": "value", "characteristic": attribute.uuid]
        case .commands: ["action": "commands"]
        case .hold(let isOn): ["action": "hold", "on": isOn]
        case .awaitHeldRead: ["action": "awaitHeldRead"]
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
        case .enterPasskey(let passkey): ["action": "enterPasskey", "passkey": passkey]
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

    /// The name in its advertisements.
    var advertisedName: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// The peer's answer to an action.
struct PeerReply: Sendable {
    var value: Data?
    var values: [Data] = []
    var count = 0
    var lines: [String] = []
}

extension Data: @retroactive ExpressibleByArrayLiteral {
    /// The bytes of a literal, so that scenarios write `[1, 2]`.
    public init(arrayLiteral bytes: UInt8...) { self.init(bytes) }

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
