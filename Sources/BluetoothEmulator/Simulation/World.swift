import BluetoothBackend
import BluetoothSupport
import DequeModule

/// The emulated world: hosts, devices, links and what is due, as one value.
///
/// Pure and synchronous: inputs go in, ``step(until:)`` does one thing, outputs come out. It knows no thread, no lock
/// and no real clock. Everything is numbered in the order of birth and iterated in that order, so the same seed and
/// the same inputs give the same outputs.
struct World: Sendable {
    let configuration: EmulatorConfiguration
    let delays: ProcedureDelays
    let seed: UInt64
    /// The wall date of the world's beginning.
    let origin: Date
    var queue = WorldQueue()
    var outputs = Deque<WorldOutput>()
    var hosts: [Host] = []
    var managers = SlotTable<Manager>()
    var devices = SlotTable<Device>()
    /// Those of all devices.
    var addresses: Set<DeviceAddress> = []
    var links = SlotTable<Link>()
    var channels: [ChannelID: Channel] = [:]
    var lastChannel: UInt64 = 0
    var trace: Trace
    var receptionRandom: SeededGenerator
    var faultRandom: SeededGenerator
    var lastAlarm: UInt64 = 0
    var alarms: [UInt64: WorldQueue.Token] = [:]
    var securityRandom: SeededGenerator
    var lossRandom: SeededGenerator
    /// Whether packets may get lost on some link.
    var isLossy: Bool
    var lastRequest: UInt64 = 0
    var lastScan: UInt64 = 0
    var lastPairing: UInt64 = 0
    /// The last placeholder in a ledger for a terminated app; 0 and 1 stand for other apps and for pairing.
    var lastPlaceholder: UInt32 = 1
    var lastQuestion: UInt64 = 0
    /// How many steps were made.
    var steps: UInt64 = 0
    /// How many advertising packets were sent.
    var packets: UInt64 = 0

    init(configuration: EmulatorConfiguration, seed: UInt64, origin: Date, traceLimit: Int) {
        self.configuration = configuration
        delays = ProcedureDelays(configuration)
        self.seed = seed
        self.origin = origin
        trace = Trace(limit: traceLimit)
        receptionRandom = SeededGenerator(seed: seed, stream: "reception")
        faultRandom = SeededGenerator(seed: seed, stream: "faults")
        securityRandom = SeededGenerator(seed: seed, stream: "security")
        lossRandom = SeededGenerator(seed: seed, stream: "loss")
        isLossy = configuration.packetLossRate > 0
    }

    var now: Nanoseconds { queue.now }

    /// The wall date of an instant.
    var date: Date { origin.addingTimeInterval(Double(now) / 1e9) }

    /// Takes an input in; it is handled by a later step.
    mutating func submit(_ input: WorldInput) {
        queue.enqueue(input)
    }

    /// Does the next thing that is due no later than `limit`.
    ///
    /// - Returns: Whether there was one; if not, the time is now `limit`.
    mutating func step(until limit: Nanoseconds) -> Bool {
        guard let work = queue.next(until: limit) else { return false }
        steps &+= 1
        switch work {
        case .input(let input): take(input)
        case .event(let event): happen(event)
        }
        return true
    }

    private mutating func take(_ input: WorldInput) {
        trace.record(input, device: input.device.flatMap { devices[$0]?.name }, at: now)
        switch input {
        case .central(let manager, let command): handle(command, of: manager)
        case .peripheral(let manager, let command): handle(command, of: manager)
        case .activate(let manager):
            managers[manager]?.isActive = true
            queue.schedule(.tellState(manager), at: now + configuration.stateDelay.nanoseconds)
        case .pairing(let manager, let command): handle(command, of: manager)
        case .device(let device, let control): apply(control, to: device)
        case .host(let host, let control): apply(control, to: host)
        case .deviceAdded(let device):
            limitAdvertising(device)
            if let period = devices[device]?.addressRotation {
                queue.schedule(.rotateAddress(device), at: now + period.nanoseconds, isPeriodic: true)
            }
            wake(device)
        case .answered(let link, let request, let response): answered(link, request, response)
        }
    }

    private mutating func happen(_ event: WorldEvent) {
        switch event {
        case .answer(let link): answer(link)
        case .advertise(let device, let set, let generation): advertise(device, set, generation)
        case .finish(let link): finish(link)
        case .performPostponed(let link): performPostponed(link)
        case .continueRead(let link): continueRead(link)
        case .changeParameters(let link): changeParameters(of: link)
        case .advertisingOver(let device, let set, let enabling): advertisingOver(device, set, enabling)
        case .rotateAddress(let device): rotationDue(device)
        case .rotateHostAddress(let host): rotationDue(host)
        case .transmit(let link): transmit(link)
        case .peerTransmit(let link): sendOutgoing(link)
        case .established(let host, let device, let epoch, let isAdmitted):
            established(host, device, epoch, isAdmitted: isAdmitted)
        case .supervision(let link): supervisionExpired(link)
        case .transactionTimeout(let link): transactionExpired(link)
        case .channelTransmit(let channel, let side): transmit(channel, side)
        case .channelCredits(let channel, let bytes, let side): grantCredits(on: channel, to: side, bytes)
        case .pairingFeatures, .pairingKeys, .pairingTimeout, .encryptionTimeout: secure(event)
        case .remoteClose(let link): terminate(link, reason: .remote)
        case .localClose(let link): localClose(link)
        case .tellLocal(let manager, let link, let epoch): tellLocal(manager, link, epoch)
        case .becomeReadyToWrite(let manager, let link): becomeReadyToWrite(manager, link)
        case .tellState(let manager): tellState(manager)
        case .listen(let manager, let number, let parameters): listen(manager, number, parameters)
        case .adapterBack(let host, let epoch): adapterBack(host, epoch)
        case .notifyTimer(let device, let attribute): notifyTimerFired(device, attribute)
        case .deviceTimer(let device, let number, let generation): handlerTimerFired(device, number, generation)
        case .alarm(let number):
            alarms[number] = nil
            outputs.append(.alarm(number))
        }
    }

    private mutating func secure(_ event: WorldEvent) {
        switch event {
        case .pairingFeatures(let link, let number): pairingFeatures(link, number)
        case .pairingKeys(let link, let number): pairingKeys(link, number)
        case .pairingTimeout(let link, let number): pairingTimedOut(link, number)
        case .encryptionTimeout(let host, let device, let epoch): encryptionTimedOut(device, on: host, epoch)
        default: break
        }
    }

    /// Sends an event to a central manager.
    mutating func emit(_ event: CentralEvent, to manager: Ref<Manager>) {
        trace.record(event, to: manager, at: now)
        outputs.append(.central(manager, event))
    }

    /// Sends an event to a peripheral manager.
    mutating func emit(_ event: PeripheralEvent, to manager: Ref<Manager>) {
        guard managers.contains(manager) else { return }
        trace.record(event, to: manager, at: now)
        outputs.append(.peripheral(manager, event))
    }

    // MARK: Alarms

    /// Schedules a call that the clock owes.
    mutating func addAlarm(after delay: Nanoseconds) -> UInt64 {
        lastAlarm += 1
        let (due, overflow) = now.addingReportingOverflow(max(0, delay))
        alarms[lastAlarm] = queue.scheduleCancellable(.alarm(lastAlarm), at: overflow ? .max : due)
        return lastAlarm
    }

    mutating func cancelAlarm(_ number: UInt64) {
        guard let token = alarms.removeValue(forKey: number) else { return }
        queue.cancel(token)
    }
}
