import AsyncBluetooth
import CoreBluetooth
import Foundation
import Logging
import Synchronization

/// A session that finds one device, keeps it connected, publishes its values, and runs its commands.
struct DeviceSession: Sendable {
    /// The waits between attempts to find a device, and after a device that does not match the configuration.
    static let retries: ClosedRange<Duration> = .seconds(2)...(.seconds(60))
    /// The time limit of one search.
    static let searchLimit = Duration.seconds(30)
    /// The number of failed attempts to connect after which a device that is selected by its name is searched again: it
    /// may have changed its address, and is then a new device for the host.
    static let attempts = 3
    /// The number of values of one characteristic that may wait for the queue; further ones replace the oldest, and are
    /// counted.
    static let bufferLimit = 256

    let device: DeviceConfiguration
    let central: Central
    let presence: DevicePresence
    let values: ValuePublisher
    let commands: CommandRunner
    let logger: Logger

    /// Runs until its task is cancelled.
    func run() async {
        await withTaskGroup { group in
            group.addTask { await commands.run() }
            group.addTask { await keepServing() }
        }
    }

    private func keepServing() async {
        var delay = Self.retries.lowerBound
        while !Task.isCancelled {
            let start = ContinuousClock.now
            do {
                try await serve(find())
            } catch is CancellationError {
                // The loop ends.
            } catch {
                logger.warning("the device cannot be served", metadata: ["error": "\(error)", "retry": "\(delay)"])
            }
            commands.setPeripheral(nil)
            await presence.set(device.id, isConnected: false)
            // A device that worked for a while is tried again soon.
            if ContinuousClock.now - start > Self.retries.upperBound { delay = Self.retries.lowerBound }
            guard (try? await Task.sleep(for: delay)) != nil else { return }
            delay = min(delay * 2, Self.retries.upperBound)
        }
    }

    private func find() async throws -> Peripheral {
        switch device.selector {
        case .address(let address):
            return try await central.peripheral(address: address, within: Self.searchLimit)
        case .identifier(let identifier):
            // The system may not know a device that it has not heard lately: on BlueZ, for 30 seconds.
            if let known = try await central.peripherals(identifiers: [identifier]).first { return known }
            return try await central.first(within: Self.searchLimit) { $0.peripheral.identifier == identifier }
                .peripheral
        case .localName(let name):
            // A device that is connected already, as after a process was killed, does not advertise.
            if let known = try await central.connectedPeripherals().first(where: { $0.name == name }) { return known }
            return try await central.first(within: Self.searchLimit) { $0.advertisement.localName == name }.peripheral
        }
    }

    // MARK: A device that was found

    /// Runs until a failure that another connection does not repair.
    private func serve(_ peripheral: Peripheral) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await maintain(peripheral) }
            for (characteristic, source) in sources {
                group.addTask {
                    switch source {
                    case .notifications: try await follow(characteristic, of: peripheral)
                    case .reads(let interval): try await read(characteristic, of: peripheral, each: interval)
                    }
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// The characteristics, each once regardless of the number of its values.
    private var sources: [(CharacteristicID, ValueConfiguration.Source)] {
        var seen: Set<String> = []
        return device.values.map { ($0.characteristic, $0.source) }.filter { seen.insert("\($0)").inserted }
    }

    private func maintain(_ peripheral: Peripheral) async {
        let attempts = if case .localName = device.selector { Self.attempts as Int? } else { nil as Int? }
        for await event in peripheral.maintainConnection(.backoff(maximum: .seconds(60), attempts: attempts)) {
            if case .connected = event {
                commands.setPeripheral(peripheral)
                await presence.set(device.id, isConnected: true)
            } else {
                logger.debug("\(event)")
                commands.setPeripheral(nil)
                await presence.set(device.id, isConnected: false)
            }
        }
    }

    private func follow(_ characteristic: CharacteristicID, of peripheral: Peripheral) async throws {
        var dropped = 0
        var iterator = peripheral.notifications(of: characteristic, buffering: .newest(Self.bufferLimit))
            .makeAsyncIterator()
        while let data = try await iterator.next() {
            values.countDropped(iterator.droppedCount - dropped)
            dropped = iterator.droppedCount
            await values.publish(data, of: characteristic, .notifications)
        }
    }

    private func read(
        _ characteristic: CharacteristicID, of peripheral: Peripheral, each interval: Duration
    ) async throws {
        while true {
            do {
                let data = try await peripheral.read(characteristic)
                await values.publish(data, of: characteristic, .reads(every: interval))
            } catch let error as BluetoothError where error.isOfTheLink {
                logger.debug("a value was not read", metadata: ["error": "\(error)"])
                try await Task.sleep(for: min(interval, Self.searchLimit))
                continue
            }
            try await Task.sleep(for: interval)
        }
    }
}

extension BluetoothError {
    /// Whether the next connection may succeed where this one failed.
    fileprivate var isOfTheLink: Bool {
        switch reason {
        case .disconnected, .connectionFailed, .timedOut, .cancelled: true
        default: false
        }
    }
}
