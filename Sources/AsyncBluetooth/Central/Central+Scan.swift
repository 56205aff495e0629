public import CoreBluetooth

/// Scanning.
extension Central {
    /// Looks for devices.
    ///
    /// The scan begins with the loop and ends with it. Several at once share the radio, and each gets its own.
    ///
    /// A consumer that is late gets the newest report of each device, unless it allows duplicates; devices for which there
    /// was no room come once it has read the others. Without duplicates the last 4,096 devices are remembered.
    ///
    /// - Parameters:
    ///   - services: Only devices that advertise one of these; all if empty.
    ///   - soliciting: Also devices that look for one of these.
    ///   - allowDuplicates: Whether to deliver every report, and not only those that are new or changed.
    ///   - buffering: How many reports are kept for a slow consumer; nil for the policy of the settings.
    /// - Returns: A sequence that throws ``BluetoothError`` when the adapter cannot be used any more.
    public func scan(
        for services: [CBUUID] = [], soliciting: [CBUUID] = [], allowDuplicates: Bool = false,
        buffering: BufferingPolicy? = nil
    ) -> ValueSequence<DiscoveredPeripheral> {
        let radio = radio
        let filter = ScanFilter(
            services: Set(services), solicited: Set(soliciting), allowsDuplicates: allowDuplicates)
        let policy = (buffering ?? radio.core.settings.buffering).forScan(allowsDuplicates: allowDuplicates)
        return ValueSequence {
            let buffer = ElementBuffer<DiscoveredPeripheral>(
                policy, filter.context, radio.core.log,
                // The radio reports devices for which there was no room again, once it begins anew.
                onGapRead: { if !allowDuplicates { radio.restartScan() } })
            let number = radio.addScan(filter, buffer)
            return ElementReader(buffer, filter.context, onDeinit: DeinitAction { radio.removeScan(number) })
        }
    }

    /// Scans for the first device that matches.
    ///
    /// ```swift
    /// let lamp = try await central.first(within: .seconds(10)) { $0.advertisement.localName == "Lamp" }.peripheral
    /// ```
    ///
    /// - Parameters:
    ///   - services: Only devices that advertise one of these; all if empty.
    ///   - allowDuplicates: Whether to ask of each sighting, as for a signal strength; not only of those that tell
    ///     something new.
    ///   - limit: How long to look for it.
    ///   - isMatch: Whether a device is the one that is looked for.
    /// - Throws: ``BluetoothError`` with ``BluetoothError/Reason/timedOut(_:)`` where none matched in time, or why the
    ///   adapter cannot be used.
    public func first(
        for services: [CBUUID] = [], allowDuplicates: Bool = false, within limit: Duration,
        where isMatch: @escaping @Sendable (DiscoveredPeripheral) -> Bool = { _ in true }
    ) async throws -> DiscoveredPeripheral {
        let devices = scan(for: services, allowDuplicates: allowDuplicates)
        return try await withTimeout(limit, clock: radio.clock) {
            for try await device in devices where isMatch(device) { return device }
            // A scan ends by throwing, or is cancelled.
            throw CancellationError()
        }
    }
}

extension BufferingPolicy {
    /// The policy for a scan: without duplicates it is not the oldest report that is dropped but the newest, since its
    /// device is reported again.
    fileprivate func forScan(allowsDuplicates: Bool) -> BufferingPolicy {
        !allowsDuplicates && overflow == .dropOldest ? .oldest(limit) : self
    }
}
