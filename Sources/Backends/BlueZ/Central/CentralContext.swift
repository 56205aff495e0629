#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// The state that the links of the central role share: the daemon's objects, the managers with their leases, and the effects.
///
/// Pure.
struct CentralContext: ChannelOwner {
    typealias Input = CentralRoleInput

    /// An activated manager.
    struct Manager: AdapterRoleManager {
        var state: AdapterState?
        /// The filter of its scan, which remembers the reports that the manager has received.
        var filter: ScanReportFilter?
        var connectionEvents: ConnectionEventFilter?
    }

    /// The purpose of a call that belongs to no operation of a link.
    enum CallPurpose: Sendable {
        case discovery
        case connect(PeerID)
        case disconnect(PeerID)
        case resubscription(PeerID, ObjectPath, BlueZConfiguration.NotificationMethod)
        /// A call whose outcome has no effect.
        case cleanup
    }

    let objects: ObjectModel
    let notificationMethod: BlueZConfiguration.NotificationMethod
    var watch: AdapterWatch
    var managers: [HostLedger.Manager: Manager] = [:]
    var ledger = HostLedger() {
        didSet { mustPreserve = true }
    }
    /// Whether the preserved state may be outdated.
    var mustPreserve = false
    var channels: [ChannelID: OpenChannel<PeerID>] = [:]
    var outputs = RoleOutputs<CentralRoleEffect, CallPurpose>()
    /// The time of the input.
    var date = Date(timeIntervalSince1970: 0)

    var timings: BlueZTimings { watch.timings }

    mutating func perform(_ action: WriteSocket.Action, on socket: LinkSocketID) {
        outputs.effects.append(.socket(socket, action))
    }

    mutating func perform(_ action: NotificationSockets.Action, onNotificationSocket socket: LinkSocketID) {
        outputs.effects.append(.notificationSocket(socket, action))
    }

    mutating func reportSecurityFailed(_ peer: PeerID) { outputs.effects.append(.securityFailed(peer)) }

    mutating func refresh() { outputs.effects.append(.refresh) }
}
#endif
