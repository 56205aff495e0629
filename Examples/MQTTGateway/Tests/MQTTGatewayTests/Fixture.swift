import BluetoothEmulator
import CoreBluetooth
import Foundation
import GatewayCore
import GatewaySimulation
import Logging
import Mosquitto
import Testing

/// Whether the tests that need a broker run: with `REQUIRE_MOSQUITTO=1` they fail without one.
let hasBroker = BrokerProcess.executable != nil || ProcessInfo.processInfo.environment["REQUIRE_MOSQUITTO"] == "1"

/// A folder, a broker, and a world of numbered devices for one test.
final class Fixture: Sendable {
    let folder: URL
    let broker: BrokerProcess
    let emulator: Emulator
    let ledger: SentLedger
    let listener: Listener

    /// - Parameter interval: The time between the values of a device, in the emulator's time.
    init(devices: Int = 2, interval: Duration = .milliseconds(50), time: EmulatorTime = .real) throws {
        emulator = Emulator(configuration: .instant, time: time)
        folder = FileManager.default.temporaryDirectory.appending(path: "mqtt-gateway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        broker = try BrokerProcess(folder: folder)
        try broker.start()
        ledger = try SentLedger(file: folder.appending(path: "test-1.sent").path, devices: devices)
        try SequenceDevice.populate(emulator, process: 1, every: interval, ledger)
        listener = try Listener(port: broker.port, name: "test")
    }

    deinit {
        broker.kill()
        do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(folder.path) remains: \(error)") }
    }

    /// Runs a body while the listener receives all messages, even if the broker is killed in between, as it keeps the
    /// listener's session.
    func listening(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await listener.listening { [broker] in
            try broker.save()
            try await body()
        }
    }

    /// Returns the configuration of the gateway `test` with the devices `device-0` and so on, each with the value
    /// `sequence` and the command `set`.
    func configuration(
        extra: String = "", selector: (Int) -> String = { "address: \"\(SequenceDevice.address($0))\"" }
    ) throws -> GatewayCore.Configuration {
        let devices = (0..<ledger.devices).map { index in
            """
              - id: device-\(index)
                \(selector(index))
                values:
                  - { id: sequence, characteristic: \(SequenceDevice.path), format: uint64, unit: "1" }
                commands:
                  - { id: level, characteristic: \(SequenceDevice.commandPath), kind: number, format: uint8,
                      minimum: 0, maximum: 100 }

            """
        }
        return try GatewayCore.Configuration(
            yaml: """
                gateway: test
                broker: { host: 127.0.0.1, port: \(broker.port) }
                queue: { file: \(folder.path)/queue.sqlite }
                \(extra)
                devices:
                \(devices.joined())
                """, file: "test.yaml")
    }

    /// Creates a gateway for the emulated devices.
    ///
    /// - Parameter logger: The logger; nil for one that writes nothing.
    func gateway(_ configuration: GatewayCore.Configuration, logger: Logger? = nil) -> Gateway {
        Gateway(
            configuration, backend: .emulator(emulator), environment: [:],
            logger: logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Runs a gateway in this process while the body runs, and stops it cleanly.
    @discardableResult
    func running(
        _ configuration: GatewayCore.Configuration? = nil, logger: Logger? = nil,
        _ body: @escaping @Sendable (GatewayMetrics) async throws -> Void
    ) async throws -> GatewayMetrics {
        let gateway = gateway(try configuration ?? self.configuration(), logger: logger)
        let (stop, stopper) = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await gateway.run(until: stop) }
            defer { stopper.finish() }
            try await body(gateway.metrics)
        }
        return gateway.metrics
    }

    /// Waits until a number of values of a device arrived.
    func values(_ count: Int, of device: Int = 0) async throws {
        try await listener.until { $0.count { $0.topic == "bluetooth/test/device-\(device)/sequence" } >= count }
    }

    /// Stops the values of the devices, and waits for the last ones.
    func lastValues() async throws {
        ledger.close()
        let counts = try SentLedger.counts(in: folder.appending(path: "test-1.sent").path)
        for (device, count) in counts.enumerated() {
            try await listener.first("bluetooth/test/device-\(device)/sequence") { message in
                (try? Content(message).number) == count
            }
        }
    }

    /// Returns the numbers of a device's values, in the order of their arrival.
    func numbers(of device: Int = 0) throws -> [Int] {
        try listener.messages(of: "bluetooth/test/device-\(device)/sequence").filter { !$0.isRetained }
            .map { try Content($0).number }
    }
}

/// A program that was built with the tests, as a process.
///
/// Invariant of `@unchecked Sendable`: one test uses it.
final class Program: @unchecked Sendable {
    private let process = Process()

    /// Starts the program, and drops its output.
    init(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        process.executableURL = folder.appending(path: name)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// Sends a signal, and waits for the end.
    ///
    /// - Returns: The exit status.
    func end(_ signal: Int32) -> Int32 {
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationStatus
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
