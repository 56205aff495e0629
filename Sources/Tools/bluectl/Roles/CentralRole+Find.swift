import AsyncBluetooth
import CoreBluetoothClasses

/// The search for the device that the user named.
extension CentralRole {
    /// The time for which a scan continues after a device with the right name is found, in case another one has it.
    private static let searchForOthers = Duration.seconds(1)

    /// Finds the device of a query.
    ///
    /// - Throws: A failure if no device was found in time, or several have the name.
    func find(_ query: DeviceQuery) async throws -> Peripheral {
        if query == .last {
            guard let peripheral else {
                throw Failure(.failed, "\".\" is the device that was connected last, and there is none")
            }
            return peripheral
        }
        if case .identifier(let identifier) = query, let known = try await known([identifier]).first { return known }
        // A device that is connected already may not advertise.
        let own = peripherals.filter { $0.state == .connected && query.matches(DeviceRecord($0)) }
        if own.count == 1 { return own[0] }
        if let match = try await connected().first(where: { query.matches(DeviceRecord($0)) }) { return match }
        return try await scan(for: query)
    }

    /// Returns the devices with these identifiers that the system knows.
    func known(_ identifiers: [UUID]) async throws -> [Peripheral] {
        try await step("looking for the device") { try await self.central.peripherals(identifiers: identifiers) }
    }

    /// Returns the devices that any program is connected to.
    func connected() async throws -> [Peripheral] {
        try await step("looking for the device") { try await self.central.connectedPeripherals() }
    }

    private func scan(for query: DeviceQuery) async throws -> Peripheral {
        console.progress("Looking for \(query.text)…")
        defer { console.clearProgress() }
        let matches = Matches()
        do {
            try await step("looking for the device") { try await self.search(for: matches, of: query) }
        } catch let failure as Failure where failure.status == .timedOut && matches.found.isEmpty {
            throw Failure(
                .timedOut,
                "there is no device \(query.text) in range: \(failure.description)" + matches.heard.text(besides: query)
            )
        } catch let failure as Failure where failure.status == .timedOut {
            // The limit ended the search for others; the device was found.
        }
        guard let first = matches.found.first else {
            throw Failure(.failed, "there is no device \(query.text) in range")
        }
        guard matches.found.count == 1 else { throw Self.ambiguous(query, matches.found.map(\.record)) }
        return first.peripheral
    }

    @MainActor
    private final class Matches {
        var found: [(peripheral: Peripheral, record: DeviceRecord)] = []
        /// The devices that do not match.
        var heard = ScanTable()
    }

    /// Scans until the only possible device is found, or for a while after the first of several.
    private func search(for matches: Matches, of query: DeviceQuery) async throws {
        let (firstMatch, match) = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.collect(matches, of: query) { match.yield() } }
            group.addTask {
                for await _ in firstMatch { break }
                try await Task.sleep(for: Self.searchForOthers)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Scans until the only possible device is found.
    ///
    /// - Parameter found: Called for each device that matches.
    private func collect(
        _ matches: Matches, of query: DeviceQuery, found: @Sendable () -> Void
    ) async throws {
        for try await report in central.scan() {
            onHeard?(report.peripheral)
            let record = DeviceRecord(report)
            guard query.matches(record) else {
                matches.heard.update(record)
                continue
            }
            if matches.found.contains(where: { $0.peripheral == report.peripheral }) { continue }
            matches.found.append((report.peripheral, record))
            if query.isUnique { return }
            found()
        }
    }

    static func ambiguous(_ query: DeviceQuery, _ devices: [DeviceRecord]) -> Failure {
        let list = devices.map { ($0.address.map { "\($0) " } ?? "") + $0.identifier.uuidString }.sorted()
        return Failure(.failed, "several devices are named \(query.text): choose \(list.joined(separator: ", "))")
    }
}
