#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// What the daemon asks of our agent.
enum AgentQuestion: Equatable, Sendable {
    case pairing(PairingQuestion)
    /// May the device use a service of this computer, by UUID?
    case service(String)
    /// Which PIN code, in classic Bluetooth?
    case pinCode
}

/// What a timer of the pairing role is for; at most one of each runs.
enum PairingTimer: Hashable, Sendable {
    /// bluetoothd may react to a change of our agent.
    case agentChange
    /// An event may come that shows how a pairing ended.
    case outcome(PeerID)
    /// A bonded peer pairs anew, and its questions are answered.
    case rebond(PeerID)
}

/// What comes in.
enum PairingRoleInput: RoleInput {
    typealias Event = PairingEvent

    case daemon(DaemonEvent)
    /// Whether a connection or a publication of this process may need pairing now.
    case needChanged(Bool)
    /// A call of `Agent1`, and whether this process needs to be paired with the device that it is about: for a connection
    /// that a manager asked for, or for something encrypted that is published to it.
    case called(IncomingCall, isNeeded: Bool)
    /// An operation failed because of missing security.
    case securityFailed(PeerID)
    case reply(CallID, Result<[DBusValue], DBusError>)
    case timer(PairingTimer)
    case activated(HostLedger.Manager)
    case command(HostLedger.Manager, PairingCommand)
    case invalidated(HostLedger.Manager)
}

/// What goes out, in order.
enum PairingRoleEffect: RoleEffect, Equatable {
    case call(CallID, MethodCall)
    case answer(IncomingCall.Number, [DBusValue])
    case refuse(IncomingCall.Number, DBusError)
    case deliver(HostLedger.Manager, PairingEvent)
    /// A pairing was refused, and bluetoothd does not say what that means for the operation that needed it.
    case refused(PeerID)
    case startTimer(PairingTimer, Duration)
    case stopTimer(PairingTimer)
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
