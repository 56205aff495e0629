import CoreBluetoothPackage

/// From what the user wrote to a device.
extension Session {
    /// How long a scan goes on once a device of the right name is found, to see whether there is another.
    private static let settling = Duration.seconds(1)

    /// The device that is meant.
    ///
    /// - Throws: A failure: none was found in time, or several bear the name.
    func find(_ query: DeviceQuery) async throws -> CBPeripheral {
        if query == .last {
            guard let peripheral else {
                throw Failure(.failed, "\".\" is the device that was connected last, and there is none")
            }
            return peripheral
        }
        if case .identifier(let identifier) = query,
            let known = central.retrievePeripherals(withIdentifiers: [identifier]).first
        {
            return known
        }
        // A device that is connected already may not advertise.
        let own = peripherals.filter { $0.state == .connected && query.matches(DeviceRecord($0)) }
        if own.count == 1 { return own[0] }
        let connected = central.retrieveConnectedPeripherals(withServices: ["1800", "1801"].map(CBUUID.init(string:)))
        if let match = connected.first(where: { query.matches(DeviceRecord($0)) }) { return match }
        return try await scan(for: query)
    }

    private func scan(for query: DeviceQuery) async throws -> CBPeripheral {
        console.progress("Looking for \(query.text)…")
        var found: [(peripheral: CBPeripheral, record: DeviceRecord)] = []
        var settling: Task<Void, Never>?
        defer {
            settling?.cancel()
            onDiscovery = nil
            stopScan()
            console.clearProgress()
        }
        onDiscovery = { [weak self] peripheral, record in
            guard query.matches(record), !found.contains(where: { $0.record.identifier == record.identifier }) else {
                return
            }
            found.append((peripheral, record))
            if query.isUnique { self?.answer(.discovery) }
            guard !query.isUnique, settling == nil else { return }
            settling = Task { [weak self] in
                do {
                    try await Task.sleep(for: Self.settling)
                } catch {
                    return
                }
                self?.answer(.discovery)
            }
        }
        do {
            try await perform(.discovery) { startScan() }
        } catch let failure as Failure where failure.status == .timedOut && found.isEmpty {
            throw Failure(.timedOut, "there is no device \(query.text) in reach: \(failure.description)")
        } catch let failure as Failure where failure.status == .timedOut {
            // The time was too short to settle; what was found counts.
        }
        guard let first = found.first else { throw Failure(.failed, "there is no device \(query.text) in reach") }
        guard found.count == 1 else { throw Self.ambiguous(query, found.map(\.record)) }
        return first.peripheral
    }

    static func ambiguous(_ query: DeviceQuery, _ devices: [DeviceRecord]) -> Failure {
        let list = devices.map { ($0.address.map { "\($0) " } ?? "") + $0.identifier.uuidString }.sorted()
        return Failure(.failed, "several devices are named \(query.text): choose \(list.joined(separator: ", "))")
    }
}
