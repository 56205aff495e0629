#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The discovery session of this process on an adapter: the wanted filter, the running one, and the call in flight.
///
/// Pure.
///
/// BlueZ pitfall: a second `StartDiscovery` of one client fails with `InProgress`
/// (https://github.com/hbldh/bleak/issues/859), so each adapter has one session per process. If the controller is
/// stuck, it fails forever (https://github.com/hbldh/bleak/issues/1689): the session tries again, and after
/// ``warningAfter`` failures in a row the log names a remedy.
struct DiscoverySession: Sendable {
    /// The discovery filter that is requested; the controller applies those of all programs together.
    struct Filter: Equatable, Sendable {
        var services: [BluetoothUUID]?
        var allowDuplicates = false

        /// The argument of `SetDiscoveryFilter`.
        ///
        /// BlueZ pitfall: beacons are reported every 10 s (https://github.com/bluez/bluez/issues/119). `RSSI` makes
        /// BlueZ report each change of signal strength, and keeps a filter of `Transport` alone from being a regular
        /// inquiry with pauses of 5 s; `DuplicateData` passes each packet on.
        ///
        /// BlueZ pitfall: the value false crashes an old daemon on 32-bit ARM
        /// (https://github.com/bluez/bluez/issues/196), so `DuplicateData` is omitted if it has its default value.
        var value: DBusValue {
            var properties: [String: DBusValue] = ["Transport": .string("le"), "RSSI": .int16(-127)]
            if allowDuplicates { properties["DuplicateData"] = .boolean(true) }
            if let services, !services.isEmpty { properties["UUIDs"] = .strings(services.map(\.fullText)) }
            return .properties(properties)
        }
    }

    /// A call of the session.
    enum Step: Equatable {
        case setFilter(Filter)
        case clearFilter
        case start
        case stop
    }

    /// The outcome of a call.
    enum Outcome {
        /// The next call can follow.
        case finished
        /// The call is repeated after a pause; see ``pauseOver()``.
        case refused
        /// The kernel refused to end the discovery; the next call can follow.
        ///
        /// BlueZ pitfall: if the machine is suspended meanwhile, Linux 6.12 starts no other discovery until the adapter
        /// is switched off. The daemon believes that the old one goes on, so `StartDiscovery` succeeds.
        case stuck
    }

    /// The merged parameters of the managers' scans.
    var scan: ScanParameters?
    private var wanted: Filter?
    private var applied: Filter?
    private var isRunning = false
    private var mustRestart = false
    private var pending: Step?
    private var isPausing = false
    /// The number of calls that failed in a row, except those whose failure has no meaning.
    private(set) var failures = 0

    /// The number of failures in a row that the log reports.
    static let warningAfter = 5

    private static let inProgress = "org.bluez.Error.InProgress"

    /// Whether devices are being reported.
    var isActive: Bool { wanted != nil && isRunning }

    /// Sets the wanted filter; nil ends discovery.
    ///
    /// - Parameter restart: Whether to start again, so that devices that were reported are reported again.
    mutating func want(_ filter: Filter?, restart: Bool) {
        wanted = filter
        if restart && (isRunning || pending == .start) { mustRestart = true }
    }

    /// Returns the call to make now, if any; the caller reports its outcome with ``done(error:isDiscovering:)``.
    mutating func nextStep() -> Step? {
        guard pending == nil, !isPausing else { return nil }
        pending = step
        return pending
    }

    private var step: Step? {
        guard let wanted else {
            if isRunning { return .stop }
            return applied == nil ? nil : .clearFilter
        }
        if mustRestart && isRunning { return .stop }
        if applied != wanted { return .setFilter(wanted) }
        return isRunning ? nil : .start
    }

    /// Processes the reply to the last call, and returns the outcome.
    mutating func done(error: DBusError?, isDiscovering: Bool) -> Outcome {
        guard let step = pending else { return .finished }
        pending = nil
        let isInProgress = error?.name == Self.inProgress && isDiscovering
        switch step {
        case .setFilter(let filter):
            if error == nil { applied = filter }
            isPausing = error != nil
        case .clearFilter:
            applied = nil
        case .start:
            // InProgress while discovery is on: a session exists already.
            isRunning = error == nil || isInProgress
            isPausing = !isRunning
        case .stop:
            // BlueZ pitfall: stopping races with power and start, and its errors mean that discovery has stopped
            // (https://github.com/hbldh/bleak/issues/958).
            isRunning = false
            mustRestart = false
            return isInProgress ? .stuck : .finished
        }
        failures = isPausing ? failures + 1 : 0
        return isPausing ? .refused : .finished
    }

    /// Ends the pause after a failed call.
    mutating func pauseOver() { isPausing = false }

    /// Handles an end of discovery that this process did not request.
    ///
    /// BlueZ pitfall: reports stop after hours (https://github.com/deviceplug/btleplug/issues/332).
    ///
    /// - Returns: Whether to pause before discovery is started again.
    mutating func discoveringEnded() -> Bool {
        guard isRunning, pending == nil, wanted != nil else { return false }
        isRunning = false
        isPausing = true
        return true
    }

    /// Discards the session, which ended with the power or the daemon.
    mutating func reset() { self = DiscoverySession() }
}

extension BluetoothUUID {
    /// The UUID in the 36 characters that BlueZ uses.
    fileprivate var fullText: String { BluetoothUUID(value: value).text.lowercased() }
}
#endif
