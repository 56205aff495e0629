#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// A call of `org.bluez.Agent1` that waits for its answer.
struct AgentCallID: Hashable, Sendable {
    let number: UInt64
}

/// What the daemon asks of our agent.
enum AgentQuestion: Equatable, Sendable {
    case pairing(PairingQuestion)
    /// May the device use a service of this computer, by UUID?
    case service(String)
    /// Which PIN code, in classic Bluetooth?
    case pinCode
}

/// What becomes of a call of `org.bluez.Agent1`.
enum AgentAnswer: Equatable, Sendable {
    case accept
    case passkey(UInt32)
    case reject
}

/// A device that pairing is about.
struct PairingDevice: Equatable, Sendable {
    let path: ObjectPath
    let peer: PeerID
    var isPaired = false
    /// Whether it is connected now, by whomever.
    var isConnected = false
    /// Whether this process needs to be paired with it: for a connection that a manager asked for, or for something
    /// encrypted that is published to it.
    var isOurs = false
}

/// What comes in.
enum PairingRoleInput: Sendable {
    /// The daemon is there, or is gone.
    case daemon(isReady: Bool)
    /// Whether a connection or a publication of this process may need pairing now.
    case needChanged(Bool)
    case activated(PairingRoleMachine.Agent)
    case invalidated(PairingRoleMachine.Agent)
    /// A command, and the device that it is about, if BlueZ has it.
    case command(PairingRoleMachine.Agent, PairingCommand, PairingDevice?)
    /// `Agent1` asks about the device at a path; nil for one that this process does not know.
    case asked(AgentCallID, AgentQuestion, ObjectPath, PairingDevice?)
    /// `Agent1.Cancel`: what was asked last is void.
    case cancelled
    /// `Agent1.Release`: the daemon has forgotten the agent.
    case released
    /// All devices that are paired, and `Adapter1.Pairable` of all adapters.
    case snapshot([PairingDevice], pairable: [ObjectPath: Bool])
    /// `Device1.Paired` changed.
    case pairedChanged(PairingDevice, isPaired: Bool)
    /// A device's object is gone.
    case removed(ObjectPath)
    /// A link is over.
    case disconnected(PeerID)
    /// `Adapter1.Pairable` went on or off; nil where the adapter is gone.
    case pairableChanged(ObjectPath, isOn: Bool?)
    /// An operation failed for want of security.
    case securityFailed(PeerID)
    case reply(CallID, Result<[DBusValue], DBusError>)
    /// The time for an event that tells how a pairing ended is over.
    case timer(PeerID)
    /// The time in which bluetoothd may react to a change of our agent is over.
    case agentTimer(Int)
}

/// What goes out, in order.
enum PairingRoleEffect: Equatable, Sendable {
    case call(CallID, MethodCall)
    case answer(AgentCallID, AgentAnswer)
    case deliver(PairingRoleMachine.Agent, PairingEvent)
    /// A pairing was refused, and bluetoothd does not say what that means for the operation that needed it.
    case refused(PeerID)
    case startTimer(PeerID, Duration)
    case startAgentTimer(Int, Duration)
    case log(LogMessage)
}

extension PairingCapability {
    /// The name that `AgentManager1.RegisterAgent` knows.
    var bluezName: String {
        switch self {
        case .displayOnly: "DisplayOnly"
        case .displayYesNo: "DisplayYesNo"
        case .keyboardOnly: "KeyboardOnly"
        case .noInputNoOutput: "NoInputNoOutput"
        case .keyboardDisplay: "KeyboardDisplay"
        }
    }
}
#endif
