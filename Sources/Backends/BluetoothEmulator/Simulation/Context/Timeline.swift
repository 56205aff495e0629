import BluetoothBackend
import BluetoothSupport

typealias WorldQueue = EventQueue<WorldEvent, WorldInput>

/// The time of a world: its scheduled events, its wall-clock date, and the alarms of its clock.
struct Timeline: Sendable {
    var queue = WorldQueue()
    /// The wall-clock date at which the world began.
    let origin: Date
    private var alarms: [UInt64: WorldQueue.Token] = [:]
    private var lastAlarm: UInt64 = 0

    init(origin: Date) { self.origin = origin }

    var date: Date { origin.addingTimeInterval(Double(queue.now) / 1e9) }

    /// Schedules an alarm of the clock.
    mutating func addAlarm(after delay: Nanoseconds) -> UInt64 {
        lastAlarm += 1
        let (due, overflow) = queue.now.addingReportingOverflow(max(0, delay))
        alarms[lastAlarm] = queue.scheduleCancellable(.alarm(lastAlarm), at: overflow ? .max : due)
        return lastAlarm
    }

    mutating func cancelAlarm(_ number: UInt64) {
        guard let token = alarms.removeValue(forKey: number) else { return }
        queue.cancel(token)
    }

    mutating func cancelAlarms() {
        for alarm in alarms.keys.sorted() { cancelAlarm(alarm) }
    }

    mutating func alarmFired(_ number: UInt64) { alarms[number] = nil }
}

/// The random numbers of a world that belong to no device; each purpose has a separate stream.
struct RandomStreams: Sendable {
    let seed: UInt64
    var faults: SeededGenerator
    var security: SeededGenerator

    init(seed: UInt64) {
        self.seed = seed
        faults = SeededGenerator(seed: seed, stream: "faults")
        security = SeededGenerator(seed: seed, stream: "security")
    }
}

/// Numbers the requests, scans, pairings and questions of a world.
struct IdentifierGenerator: Sendable {
    private var lastRequest: UInt64 = 0
    private var lastScan: UInt64 = 0
    private var lastPairing: UInt64 = 0
    private var lastQuestion: UInt64 = 0
    /// The last placeholder; 0 and 1 represent other apps and pairing.
    private var lastPlaceholder: UInt32 = 1

    mutating func nextRequest() -> UInt64 { Self.next(&lastRequest) }

    mutating func nextScan() -> UInt64 { Self.next(&lastScan) }

    mutating func nextPairing() -> UInt64 { Self.next(&lastPairing) }

    mutating func nextQuestion() -> PairingRequestID { PairingRequestID(rawValue: Self.next(&lastQuestion)) }

    /// Returns a number under which a ledger registers a terminated app; no manager has it.
    mutating func nextPlaceholder() -> Ref<Manager> { Ref(slot: .max, serial: Self.next(&lastPlaceholder)) }

    private static func next<Number: FixedWidthInteger>(_ last: inout Number) -> Number {
        last += 1
        return last
    }
}
