#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule

/// A registration with the daemon, or its withdrawal; jobs run one at a time, in the order of the commands.
enum RegistrationJob: Equatable, Sendable {
    case addService(HostLedger.Manager, OperationID, ServiceDefinition)
    case removeService(HostLedger.Manager, AttributeID)
    case removeAllServices(HostLedger.Manager)
    case startAdvertising(HostLedger.Manager, OperationID, Advertisement)
    /// Registers the advertisement again that a connection has ended.
    case continueAdvertising(HostLedger.Manager)
    case stopAdvertising(HostLedger.Manager)
    /// Registers again the applications that were withdrawn for a service that the daemon refused.
    case restore(HostLedger.Manager, [ApplicationTree.Application])

    /// Whether the job needs a powered adapter; after a loss of power, the state answers it.
    var needsPower: Bool {
        switch self {
        case .addService, .startAdvertising, .continueAdvertising: true
        case .removeService, .removeAllServices, .stopAdvertising, .restore: false
        }
    }
}

/// The waiting jobs, and the running registration.
struct RegistrationQueue: Sendable {
    var jobs: Deque<RegistrationJob> = []
    var current: Registration?
}

/// A registration that waits for the daemon's reply.
struct Registration: Sendable {
    /// The object of the registration.
    enum Kind: Sendable {
        case application(ApplicationTree.Application, replaced: [ApplicationTree.Application])
        case advertisement(ObjectPath, AdvertisementPlan)
    }

    let manager: HostLedger.Manager
    /// The command to answer; nil if no app requested the registration, or the state has answered it.
    var operation: OperationID?
    /// Whether it registers an advertisement again that a connection has ended.
    var continuesAdvertising = false
    var kind: Kind
}
#endif
