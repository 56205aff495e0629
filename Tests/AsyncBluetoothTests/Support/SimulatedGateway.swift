import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import Foundation

/// A typical gateway: it finds its devices by name, keeps them connected, follows their values, and reads the charge of
/// their batteries every ten minutes.
struct SimulatedGateway: Sendable {
    static let value: CharacteristicID = "FFF0/FFF1"
    static let battery: CharacteristicID = "180F/2A19"
    private static let readInterval = Duration.seconds(600)
    private static let retry = Duration.seconds(2)
    /// The failed attempts after which a device is searched again: with a new private address, it is a new device for
    /// the host.
    private static let attempts = 3

    let central: Central
    let clock: EmulatorClock
    let ledger: GatewayLedger

    /// Serves one device until its task is cancelled.
    func serve(_ name: String) async {
        while !Task.isCancelled {
            do {
                let found = try await central.first(within: .seconds(30)) { $0.advertisement.localName == name }
                try await serve(found.peripheral, name)
            } catch {
                // The device is out of range, switched off or refused: the next attempt follows.
                ledger.withLock { $0.searches += 1 }
            }
            guard (try? await clock.sleep(for: Self.retry)) != nil else { return }
        }
    }

    /// Runs until a failure that another connection does not repair.
    private func serve(_ peripheral: Peripheral, _ name: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in peripheral.maintainConnection(
                    .backoff(maximum: .seconds(60), attempts: Self.attempts))
                {
                    if case .connected = event { ledger.withLock { $0.connections += 1 } }
                }
            }
            group.addTask {
                for try await value in peripheral.notifications(of: Self.value) { ledger.receive(value, from: name) }
            }
            group.addTask { try await readBattery(of: peripheral) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func readBattery(of peripheral: Peripheral) async throws {
        while true {
            do {
                let charge = try await peripheral.read(Self.battery)
                ledger.withLock { $0.reads += 1 }
                if charge != Data([100]) { ledger.report("a charge of \([UInt8](charge))") }
            } catch is BluetoothError {
                try Task.checkCancellation()
                ledger.withLock { $0.failedReads += 1 }
            }
            try await clock.sleep(for: Self.readInterval)
        }
    }
}

/// The values that a gateway received, and the rules that it broke.
final class GatewayLedger: Sendable {
    struct Entries: Sendable {
        /// The last number of each device.
        var last: [String: UInt32] = [:]
        var values = 0
        var connections = 0
        var searches = 0
        var reads = 0
        var failedReads = 0
        /// The first violations of rules.
        var violations: [String] = []
    }

    private let entries = Lock(Entries())

    /// The entries so far.
    var contents: Entries { entries.withLock { $0 } }

    func withLock(_ body: (inout Entries) -> Void) { entries.withLock { body(&$0) } }

    /// Records a value: the values of a device are numbers, each greater than the one before.
    func receive(_ value: Data, from name: String) {
        let number = value.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let last = contents.last[name] ?? 0
        if number <= last { report("\(name): value \(number) after value \(last)") }
        withLock { entries in
            entries.last[name] = number
            entries.values += 1
        }
    }

    func report(_ violation: String) {
        withLock { if $0.violations.count < 20 { $0.violations.append(violation) } }
    }
}
