#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule

/// Services and advertisements, registered with the daemon one after the other.
extension PeripheralRoleMachine {
    static let gattManager = "org.bluez.GattManager1"
    static let advertisingManager = "org.bluez.LEAdvertisingManager1"

    mutating func enqueue(_ job: RegistrationJob) { registrations.jobs.append(job) }

    mutating func runJobs() {
        while registrations.current == nil, let job = registrations.jobs.popFirst() {
            switch job {
            case .addService(let manager, let operation, let service): add(service, operation, of: manager)
            case .removeService(let manager, let id): remove(id, of: manager)
            case .removeAllServices(let manager): removeAllServices(of: manager)
            case .startAdvertising(let manager, let operation, let advertisement):
                startAdvertising(AdvertisementPlan(advertisement), operation, of: manager)
            case .continueAdvertising(let manager):
                guard let plan = managers[manager]?.advertisement?.plan else { continue }
                startAdvertising(plan, nil, of: manager, continues: true)
            case .stopAdvertising(let manager): endAdvertising(of: manager)
            case .restore(let manager, let applications): restore(applications, of: manager)
            }
        }
    }

    /// Drops the jobs that need power after a loss of power: the state answers them, and the running registration too.
    mutating func dropJobsThatNeedPower() {
        registrations.jobs.removeAll(where: \.needsPower)
        registrations.current?.operation = nil
        registrations.current?.continuesAdvertising = false
    }

    mutating func registrationReplied(_ error: DBusError?) {
        guard let registration = registrations.current else { return }
        registrations.current = nil
        switch registration.kind {
        case .application(let application, let replaced):
            applicationReplied(registration, application, replaced: replaced, error)
        case .advertisement(let path, let plan): advertisementReplied(registration, path, plan, error)
        }
    }

    private mutating func fail(_ registration: Registration, _ error: BackendError) {
        guard let operation = registration.operation else { return }
        deliver(registration.manager, .operationFailed(operation: operation, error: error))
    }

    // MARK: Services

    private mutating func add(_ service: ServiceDefinition, _ operation: OperationID, of manager: HostLedger.Manager) {
        guard managers[manager] != nil else { return }
        guard let (replaced, new) = managers[manager]?.applications.plan(service) else {
            let error = BackendError(
                .invalidParameters, operation: "RegisterApplication", message: "an included service is not published")
            return deliver(manager, .operationFailed(operation: operation, error: error))
        }
        for application in replaced { unregister(application, of: manager, isReported: true) }
        register(new, operation, of: manager, replacing: replaced)
    }

    private mutating func register(
        _ application: ApplicationTree.Application, _ operation: OperationID?, of manager: HostLedger.Manager,
        replacing replaced: [ApplicationTree.Application] = []
    ) {
        managers[manager]?.applications.add(application)
        for object in ApplicationTree.objects(of: application) { perform(.export(object)) }
        registrations.current = Registration(
            manager: manager, operation: operation, kind: .application(application, replaced: replaced))
        callAdapter(
            .registration, Self.gattManager, "RegisterApplication",
            [.objectPath(application.root), .properties([:])])
    }

    private mutating func applicationReplied(
        _ registration: Registration, _ application: ApplicationTree.Application,
        replaced: [ApplicationTree.Application], _ error: DBusError?
    ) {
        guard let error else {
            guard managers[registration.manager] != nil else { return withdraw(application) }
            if let operation = registration.operation {
                deliver(registration.manager, .serviceAdded(operation: operation))
            }
            return
        }
        managers[registration.manager]?.applications.remove(application)
        // The registration may have been late rather than refused.
        withdraw(application)
        log(.warning, "a service was refused: \(error)")
        fail(registration, ServerError.publishing(error))
        if !replaced.isEmpty { registrations.jobs.prepend(.restore(registration.manager, replaced)) }
    }

    private mutating func restore(_ applications: [ApplicationTree.Application], of manager: HostLedger.Manager) {
        guard let first = applications.first, let moved = managers[manager]?.applications.moved(first) else { return }
        let rest = Array(applications.dropFirst())
        if !rest.isEmpty { registrations.jobs.prepend(.restore(manager, rest)) }
        register(moved, nil, of: manager)
    }

    private mutating func remove(_ id: AttributeID, of manager: HostLedger.Manager) {
        guard let application = managers[manager]?.applications.application(of: id) else { return }
        guard application.services.count > 1 else { return unregister(application, of: manager, isReported: false) }
        // BlueZ removes a service from its application when its object is removed.
        guard let path = managers[manager]?.applications.remove(id, from: application) else { return }
        expireRequests { $0.path.isBelow(path) }
        endSubscriptions(below: path, of: manager, isReported: false)
        perform(.withdraw(path))
    }

    private mutating func removeAllServices(of manager: HostLedger.Manager) {
        for application in managers[manager]?.applications.applications ?? [] {
            unregister(application, of: manager, isReported: false)
        }
    }

    private mutating func unregister(
        _ application: ApplicationTree.Application, of manager: HostLedger.Manager, isReported: Bool
    ) {
        expireRequests { $0.path.isBelow(application.root) }
        endSubscriptions(below: application.root, of: manager, isReported: isReported)
        managers[manager]?.applications.remove(application)
        withdraw(application)
    }

    private mutating func withdraw(_ application: ApplicationTree.Application) {
        callAdapter(.cleanup, Self.gattManager, "UnregisterApplication", [.objectPath(application.root)])
        perform(.withdraw(application.root))
    }

    /// Withdraws everything that a manager published, because the manager is gone.
    mutating func withdrawAll(of manager: HostLedger.Manager) {
        registrations.jobs.removeAll { $0.manager == manager }
        removeAllServices(of: manager)
        endAdvertising(of: manager)
    }

    // MARK: Advertising

    private mutating func startAdvertising(
        _ plan: AdvertisementPlan, _ operation: OperationID?, of manager: HostLedger.Manager, continues: Bool = false
    ) {
        guard managers[manager] != nil else { return }
        endAdvertising(of: manager)
        let path = path(of: manager).appending("advertisement\(outputs.newNumber())")
        perform(.export(ExportedObject(kind: .advertisement, path: path, properties: plan.properties)))
        registrations.current = Registration(
            manager: manager, operation: operation, continuesAdvertising: continues, kind: .advertisement(path, plan))
        callAdapter(
            .registration, Self.advertisingManager, "RegisterAdvertisement", [.objectPath(path), .properties([:])])
    }

    private mutating func advertisementReplied(
        _ registration: Registration, _ path: ObjectPath, _ plan: AdvertisementPlan, _ error: DBusError?
    ) {
        let manager = registration.manager
        guard let error else {
            // Power is off, or the manager is gone.
            guard managers[manager] != nil, registration.operation != nil || registration.continuesAdvertising else {
                return withdraw(path)
            }
            managers[manager]?.advertisement = (path, plan)
            if let operation = registration.operation {
                deliver(manager, .advertisingStarted(operation: operation))
            }
            return
        }
        perform(.withdraw(path))
        if registration.continuesAdvertising {
            log(.warning, "advertising did not continue after a connection: \(error)")
            return deliver(manager, .advertisingEnded)
        }
        var shorter = plan
        if ServerError.isTooLong(error), registration.operation != nil, let dropped = shorter.dropLast() {
            log(.info, "there is no room to advertise service \(dropped)")
            return startAdvertising(shorter, registration.operation, of: manager)
        }
        // The registration may have been late rather than refused.
        if error.name == DBusError.Name.noReply { withdraw(path) }
        fail(registration, ServerError.advertising(error))
    }

    /// Registers all advertisements again, because a central has connected.
    ///
    /// BlueZ pitfall: a controller with extended advertising ends the set to which a central connects, and Linux enables it
    /// again only when that link ends. With legacy advertising, Linux does so at once.
    mutating func continueAdvertising() {
        guard let adapter = watch.adapter, objects.advertisers[adapter]?.isExtended == true else { return }
        for (manager, state) in managers.sorted(by: { $0.key < $1.key }) where state.advertisement != nil {
            enqueue(.continueAdvertising(manager))
        }
    }

    /// Ends a manager's advertisement, if it has one.
    mutating func endAdvertising(of manager: HostLedger.Manager) {
        guard let path = managers[manager]?.advertisement?.path else { return }
        managers[manager]?.advertisement = nil
        withdraw(path)
    }

    private mutating func withdraw(_ advertisement: ObjectPath) {
        callAdapter(.cleanup, Self.advertisingManager, "UnregisterAdvertisement", [.objectPath(advertisement)])
        perform(.withdraw(advertisement))
    }

    /// Handles that the daemon has ended the advertisement by itself.
    mutating func released(_ call: IncomingCall, by manager: HostLedger.Manager) {
        perform(.answer(call.number, []))
        guard managers[manager]?.advertisement?.path == call.path else { return }
        managers[manager]?.advertisement = nil
        perform(.withdraw(call.path))
        deliver(manager, .advertisingEnded)
    }
}

extension RegistrationJob {
    fileprivate var manager: HostLedger.Manager {
        switch self {
        case .addService(let manager, _, _), .removeService(let manager, _), .removeAllServices(let manager),
            .startAdvertising(let manager, _, _), .continueAdvertising(let manager), .stopAdvertising(let manager),
            .restore(let manager, _):
            manager
        }
    }
}
#endif
