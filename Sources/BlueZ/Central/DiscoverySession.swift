#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Our one discovery session on an adapter: what is wanted, what runs, and the one call in between.
///
/// Pure.
///
/// BlueZ pitfall: a second `StartDiscovery` of one client fails with `InProgress`
/// (https://github.com/hbldh/bleak/issues/859), so there is one session per adapter and process. Where the controller
/// is stuck, it fails for ever (https://github.com/hbldh/bleak/issues/1689): it is tried again and again, and after
/// ``warningAfter`` failures in a row the log says what helps.
struct DiscoverySession: Sendable {
    /// What the controller looks for, for all programs' sessions together.
    struct Filter: Equatable, Sendable {
        var services: [BluetoothUUID]?
        var allowDuplicates = false

        /// The argument of `SetDiscoveryFilter`.
        ///
        /// BlueZ pitfall: beacons are reported every 10 s (https://github.com/bluez/bluez/issues/119). `RSSI` makes
        /// BlueZ report each change of signal strength, and keeps a filter of `Transport` alone from being a regular
        /// inquiry with pauses of 5 s; `DuplicateData` passes each packet on.
        ///
        /// BlueZ pitfall: a false crashes an old daemon on 32-bit ARM (https://github.com/bluez/bluez/issues/196), so
        /// `DuplicateData` is left out where it has its default value.
        var value: DBusValue {
            var properties: [String: DBusValue] = ["Transport": .string("le"), "RSSI": .int16(-127)]
            if allowDuplicates { properties["DuplicateData"] = .boolean(true) }
            if let services, !services.isEmpty { properties["UUIDs"] = .strings(services.map(\.fullText)) }
            return .properties(properties)
        }
    }

    /// The next call.
    enum Step: Equatable {
        case setFilter(Filter)
        case clearFilter
        case start
        case stop
    }

    /// What the managers' scans come to.
    var scan: ScanParameters?
    private var wanted: Filter?
    private var applied: Filter?
    private var isRunning = false
    private var mustRestart = false
    private var pending: Step?
    private var isPausing = false
    /// How many calls failed in a row, but for those whose failure means nothing.
    private(set) var failures = 0

    /// So many failures in a row are worth a line in the log.
    static let warningAfter = 5

    /// Whether reports are to be expected.
    var isActive: Bool { wanted != nil && isRunning }

    /// Says what is wanted from now on; nil for nothing.
    ///
    /// - Parameter restart: Begins anew, so that devices that were heard already are heard again.
    mutating func want(_ filter: Filter?, restart: Bool) {
        wanted = filter
        if restart && (isRunning || pending == .start) { mustRestart = true }
    }

    /// The call to make now, if any; its outcome must be reported with ``done(error:isDiscovering:)``.
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

    /// Takes in the outcome of the last call.
    ///
    /// - Returns: Whether to pause before the next one: see ``pauseOver()``.
    mutating func done(error: DBusError?, isDiscovering: Bool) -> Bool {
        guard let step = pending else { return false }
        pending = nil
        switch step {
        case .setFilter(let filter):
            if error == nil { applied = filter }
            isPausing = error != nil
        case .clearFilter:
            applied = nil
        case .start:
            // InProgress with discovery on: the session is there, of whatever origin.
            let isThere = error?.name == "org.bluez.Error.InProgress" && isDiscovering
            isRunning = error == nil || isThere
            isPausing = !isRunning
        case .stop:
            // BlueZ pitfall: stopping races with power and start, and its errors mean that it is stopped
            // (https://github.com/hbldh/bleak/issues/958).
            isRunning = false
            mustRestart = false
        }
        if step != .stop { failures = isPausing ? failures + 1 : 0 }
        return isPausing
    }

    /// The pause after a failed call is over.
    mutating func pauseOver() { isPausing = false }

    /// Discovery ended though this process did not ask for it.
    ///
    /// BlueZ pitfall: reports stop after hours (https://github.com/deviceplug/btleplug/issues/332).
    ///
    /// - Returns: Whether to pause before it is started again.
    mutating func discoveringEnded() -> Bool {
        guard isRunning, pending == nil, wanted != nil else { return false }
        isRunning = false
        isPausing = true
        return true
    }

    /// Power or the daemon went, and the session with it.
    mutating func reset() { self = DiscoverySession() }
}

extension BluetoothUUID {
    /// The 36 characters that BlueZ uses for every UUID.
    fileprivate var fullText: String { BluetoothUUID(value: value).text.lowercased() }
}
#endif
