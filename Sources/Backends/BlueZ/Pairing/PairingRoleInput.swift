#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The purpose of a timer of the pairing role; at most one timer of each purpose runs.
enum PairingTimer: Hashable, Sendable {
    /// The period in which bluetoothd may react to a change of the agent.
    case agentChange
    /// The wait for an event that shows the outcome of a pairing.
    case outcome(PeerID)
    /// The wait for the outcome of a bonded peer's new pairing, after its questions were answered.
    case rebond(PeerID)
}

/// An input of the pairing role.
enum PairingRoleInput: RoleInput {
    typealias Event = PairingEvent

    case daemon(DaemonEvent)
    /// Whether a connection or a publication of this process may need pairing now.
    case needChanged(Bool)
    /// A call of `Agent1`, and whether this process needs pairing with its device: for a connection that a manager
    /// requested, or for a published attribute that requires encryption.
    case called(IncomingCall, isNeeded: Bool)
    /// An operation failed because of missing security.
    case securityFailed(PeerID)
    case reply(CallID, Result<MethodReply, DBusError>)
    case timer(PairingTimer)
    case activated(HostLedger.Manager)
    case command(HostLedger.Manager, PairingCommand)
    case invalidated(HostLedger.Manager)
}

/// An effect of the pairing role; effects are performed in order.
enum PairingRoleEffect: RoleEffect, Equatable {
    case call(CallID, MethodCall)
    case answer(IncomingCall.Number, [DBusValue])
    case refuse(IncomingCall.Number, DBusError)
    case deliver(HostLedger.Manager, PairingEvent)
    /// A pairing was refused, and bluetoothd does not report the consequence for the operation that needed it.
    case refused(PeerID)
    case startTimer(PairingTimer, Duration)
    case stopTimer(PairingTimer)
    case log(LogMessage)
}

extension PairingCapability {
    /// The name for `AgentManager1.RegisterAgent`.
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
