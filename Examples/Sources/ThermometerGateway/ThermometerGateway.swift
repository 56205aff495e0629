import AsyncBluetooth
import BluetoothProfiles
import CoreBluetooth

/// A gateway that connects to each thermometer in range, and prints its temperatures.
struct ThermometerGateway {
    /// The largest number of thermometers, as any device can advertise as one, with changing addresses; others are
    /// ignored.
    let limit = 32
    private let central = Central()

    /// Runs until its task is cancelled.
    func run() async throws {
        var known: Set<UUID> = []
        try await withThrowingDiscardingTaskGroup { group in
            for try await found in central.scan(for: [HealthThermometerService.uuid]) {
                let thermometer = found.peripheral
                guard known.count < limit, known.insert(thermometer.identifier).inserted else { continue }
                group.addTask { await keepConnected(thermometer) }
                group.addTask { try await forwardTemperatures(of: thermometer) }
            }
        }
    }

    /// Reconnects after each lost link, with growing pauses.
    private func keepConnected(_ thermometer: Peripheral) async {
        for await event in thermometer.maintainConnection() { log("\(event)") }
    }

    private func forwardTemperatures(of thermometer: Peripheral) async throws {
        while !Task.isCancelled {
            do {
                for try await measurement in HealthThermometerClient(thermometer).measurements {
                    Reading(thermometer, measurement).write()
                }
            } catch {
                // A device that is not a thermometer, or sends malformed values, is tried again later.
                log("\(error)")
                try await Task.sleep(for: .seconds(10))
            }
        }
    }

    private func log(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
}
