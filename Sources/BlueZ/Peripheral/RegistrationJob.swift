#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule

/// Something to be registered with the daemon, or withdrawn; one after the other, in the order of the commands.
enum RegistrationJob: Equatable, Sendable {
    case addService(HostLedger.Manager, OperationID, ServiceDefinition)
    case removeService(HostLedger.Manager, AttributeID)
    case removeAllServices(HostLedger.Manager)
    case startAdvertising(HostLedger.Manager, OperationID, Advertisement)
    case stopAdvertising(HostLedger.Manager)
    /// Brings back what had to go for a service that was refused.
    case restore(HostLedger.Manager, [ApplicationTree.Application])

    /// Whether it can wait for an adapter that is on only, and is answered by the state otherwise.
    var needsPower: Bool {
        switch self {
        case .addService, .startAdvertising: true
        case .removeService, .removeAllServices, .stopAdvertising, .restore: false
        }
    }
}

/// The jobs that wait, and the registration that is under way.
struct RegistrationQueue: Sendable {
    var jobs: Deque<RegistrationJob> = []
    var current: Registration?
}

/// A registration that waits for the daemon's reply.
struct Registration: Sendable {
    /// What is registered.
    enum Kind: Sendable {
        case application(ApplicationTree.Application, replaced: [ApplicationTree.Application])
        case advertisement(ObjectPath, AdvertisementPlan)
    }

    let manager: HostLedger.Manager
    /// The command to answer; nil for what was not asked for, or was answered by the state.
    var operation: OperationID?
    var kind: Kind
}
#endif
