#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule
import FoundationEssentials

/// The peripheral role on one adapter, for all of this process's managers.
///
/// Pure, as ``CentralRoleMachine`` is: its inputs are commands, signals, calls, replies and timers; its outputs are
/// calls, objects, answers, events and timers.
struct PeripheralRoleMachine: AdapterRoleMachine {
    typealias Input = PeripheralRoleInput

    /// An activated manager.
    struct Manager: AdapterRoleManager {
        var state: AdapterState?
        var applications: ApplicationTree
        /// Its registered advertisement, with the path of the object.
        var advertisement: (path: ObjectPath, plan: AdvertisementPlan)?
        /// The credit sessions by central; a central's first subscription begins a new one.
        var sessions: [PeerID: CreditLedger.Session] = [:]
        /// The PSMs on which it listens for L2CAP channels, and whether these require encryption.
        var listeners: [UInt16: Bool] = [:]
    }

    /// A read or write that the app has not answered.
    struct Request: Sendable {
        let manager: HostLedger.Manager
        let call: IncomingCall.Number
        let peer: PeerID
        let path: ObjectPath
    }

    /// The purpose of a call.
    enum CallPurpose: Sendable {
        case registration
        /// A round trip, whose reply shows that earlier messages have reached the daemon.
        case roundTrip([CreditLedger.Session: Int])
        /// A call whose outcome has no effect.
        case cleanup
    }

    let timings: PeripheralTimings
    private let base: ObjectPath

    let objects: ObjectModel
    var watch: AdapterWatch
    var managers: [HostLedger.Manager: Manager] = [:]
    var centrals = Centrals()
    var subscriptions = Subscriptions()
    var requests: [RequestID: Request] = [:]
    var registrations = RegistrationQueue()
    var credits = CreditLedger()
    var channels: [ChannelID: OpenChannel<UInt16>] = [:]
    var outputs = RoleOutputs<PeripheralRoleEffect, CallPurpose>()

    /// - Parameter base: The parent path of this role's objects.
    init(
        selector: AdapterSelector, objects: ObjectModel, base: ObjectPath,
        adapterTimings: BlueZTimings = BlueZTimings(), timings: PeripheralTimings = PeripheralTimings()
    ) {
        self.objects = objects
        self.base = base
        self.timings = timings
        watch = AdapterWatch(selector, adapterTimings) { $0.supportsPeripheral }
    }

    /// Processes one input.
    ///
    /// - Returns: The effects to perform, in this order.
    mutating func handle(_ input: PeripheralRoleInput, at _: Date) -> [PeripheralRoleEffect] {
        switch input {
        case .daemon(.phase(let phase)):
            if phase != .ready { centrals.expected = [:] }
            daemonChanged(phase)
        case .daemon(.changed(let changes)): for change in changes { apply(change) }
        case .daemon(.snapshot(let changes)):
            updateState()
            for change in changes { apply(change) }
        case .reply(let call, let result): replied(call, result)
        case .called(let call): handle(call)
        case .socket(let socket, let event): handle(event, of: socket)
        case .listening(let manager, let operation, let result, let isEncryptionRequired):
            listening(manager, operation, result, isEncryptionRequired: isEncryptionRequired)
        case .channelAccepted(let psm, let opening, let address): accepted(psm, opening, from: address)
        case .channelEnded(let channel): channelEnded(channel)
        case .timer(let key): if endTimer(key) { fired(key) }
        case .activated(let manager): activate(manager)
        case .command(let manager, let command): if managers[manager] != nil { handle(command, from: manager) }
        case .invalidated(let manager): invalidate(manager)
        }
        runJobs()
        roundTrip()
        pairingNeedChanged(to: state == .poweredOn && isEncryptionRequired)
        return outputs.removeEffects()
    }

    /// Whether a published attribute or channel requires encryption.
    private var isEncryptionRequired: Bool {
        managers.values.contains { $0.applications.needsEncryption || $0.listeners.values.contains(true) }
    }

    // MARK: Effects

    mutating func perform(_ effect: PeripheralRoleEffect) { outputs.effects.append(effect) }

    /// Calls a manager interface of the adapter.
    mutating func callAdapter(_ purpose: CallPurpose, _ interface: String, _ member: String, _ body: [DBusValue]) {
        guard let adapter = watch.adapter else { return }
        call(purpose, adapter, interface, member, body, deadline: timings.registration)
    }

    /// Returns the parent path of a manager's objects.
    func path(of manager: HostLedger.Manager) -> ObjectPath { base.appending("manager\(manager)") }

    /// Returns the manager whose object is at a path.
    func manager(of path: ObjectPath) -> HostLedger.Manager? {
        managers.keys.first { path.isBelow(self.path(of: $0)) }
    }

    func needsPairing(with device: ObjectPath) -> Bool {
        outputs.mayNeedPairing && isOurs(device) && objects.devices[device]?.isConnected == true
    }

    // MARK: Dispatch

    /// Whether the role uses a change; it uses neither advertisements nor attributes of remote devices.
    static func concerns(_ change: ObjectModel.Change) -> Bool {
        switch change {
        case .adapterAdded, .adapterChanged, .adapterRemoved, .deviceAdded, .deviceRemoved: true
        case .deviceChanged(_, let changes): !changes.isDisjoint(with: [.address, .connected, .paired])
        default: false
        }
    }

    private mutating func apply(_ change: ObjectModel.Change) {
        switch change {
        case .adapterAdded, .adapterChanged, .adapterRemoved: updateState()
        case .deviceAdded(let path): deviceAdded(path)
        case .deviceChanged(let path, let changes): deviceChanged(path, changes)
        case .deviceRemoved(let path, let device, let peer): if let peer { deviceRemoved(path, device, peer) }
        default: break
        }
    }

    private mutating func handle(_ command: PeripheralCommand, from manager: HostLedger.Manager) {
        switch command {
        case .removeService(let id): enqueue(.removeService(manager, id))
        case .removeAllServices: enqueue(.removeAllServices(manager))
        case .stopAdvertising: enqueue(.stopAdvertising(manager))
        default: if state == .poweredOn { handleWhenOn(command, from: manager) }
        }
    }

    private mutating func handleWhenOn(_ command: PeripheralCommand, from manager: HostLedger.Manager) {
        switch command {
        case .addService(let operation, let service): enqueue(.addService(manager, operation, service))
        case .startAdvertising(let operation, let advertisement):
            enqueue(.startAdvertising(manager, operation, advertisement))
        case .respond(let request, let code, let value): respond(manager, request, code, value)
        case .updateValue(let attribute, let value, let centrals): update(manager, attribute, value, centrals)
        case .setConnectionLatency: log(.debug, "BlueZ has no call for the latency of a connection")
        case .publishChannel(let operation, let isEncryptionRequired):
            publishChannel(manager, operation, isEncryptionRequired: isEncryptionRequired)
        case .unpublishChannel(let operation, let psm): unpublishChannel(manager, operation, psm)
        case .channel(let channel, let command): use(channel, command, by: manager)
        // Handled in every state.
        case .removeService, .removeAllServices, .stopAdvertising: break
        }
    }

    private mutating func replied(_ id: CallID, _ result: Result<MethodReply, DBusError>) {
        switch purpose(of: id) {
        case .registration: registrationReplied(result.failure)
        case .roundTrip(let sessions): roundTripCompleted(sessions)
        case .cleanup, nil: break
        }
    }

    private mutating func fired(_ timer: PeripheralTimer) {
        switch timer {
        case .adapterReturn: adapterReturnTimedOut()
        case .request(let request): expire(request)
        case .leaving(let peer): confirmLeaving(peer)
        case .quiescence(let path): settle(path)
        }
    }
}
#endif
