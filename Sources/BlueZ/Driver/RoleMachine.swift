#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// The pure part of a role: inputs go in, effects come out.
protocol RoleMachine: Sendable {
    associatedtype Input: RoleMachineInput
    associatedtype Effect: Sendable

    /// The manager of an open L2CAP channel.
    func owner(of channel: ChannelID) -> HostLedger.Manager?

    /// Whether the role has to do with a change of the daemon's objects.
    static func concerns(_ change: ObjectModel.Change) -> Bool

    /// How many devices out of reach are remembered; nil before a manager said so.
    var rememberedPeers: Int? { get }

    /// Remembers so many devices that are out of reach, or more if another manager wants that.
    mutating func remember(atLeast limit: Int)

    /// Handles one input.
    ///
    /// - Parameter date: The time of it, for events that carry one.
    /// - Returns: What to do, in this order.
    mutating func handle(_ input: Input, at date: Date) -> [Effect]
}

extension RoleMachine {
    /// How many devices out of reach are remembered.
    var peerLimit: Int { rememberedPeers ?? CentralOptions.defaultRememberedPeers }

    /// An empty directory of the devices of an adapter.
    func newDirectory(of adapterAddress: String) -> PeerDirectory {
        PeerDirectory(adapterAddress: adapterAddress, limit: peerLimit)
    }
}

/// The inputs of either role.
protocol RoleMachineInput: Sendable {
    associatedtype Command: Sendable
    associatedtype Event: RoleEvent
    associatedtype Timer: Hashable, Sendable

    static func daemon(_ event: DaemonEvent) -> Self
    static func reply(_ call: CallID, _ result: Result<[DBusValue], DBusError>) -> Self
    static func channelEnded(_ channel: ChannelID) -> Self
    static func timer(_ timer: Timer) -> Self
    static func activated(_ manager: HostLedger.Manager) -> Self
    static func command(_ manager: HostLedger.Manager, _ command: Command) -> Self
    static func invalidated(_ manager: HostLedger.Manager) -> Self
}

/// The events of a role, which include those of its channels.
protocol RoleEvent: Sendable {
    static func channel(_ channel: ChannelID, _ event: ChannelEvent) -> Self
}

extension CentralEvent: RoleEvent {}
extension PeripheralEvent: RoleEvent {}

extension CentralRoleInput: RoleMachineInput {
    typealias Event = CentralEvent
}

extension PeripheralRoleInput: RoleMachineInput {
    typealias Event = PeripheralEvent
}

extension CentralRoleMachine: RoleMachine {
    func owner(of channel: ChannelID) -> HostLedger.Manager? { channels[channel]?.manager }
}

extension PeripheralRoleMachine: RoleMachine {
    func owner(of channel: ChannelID) -> HostLedger.Manager? { channels[channel]?.manager }

    mutating func handle(_ input: PeripheralRoleInput, at _: Date) -> [PeripheralRoleEffect] { handle(input) }
}
#endif
