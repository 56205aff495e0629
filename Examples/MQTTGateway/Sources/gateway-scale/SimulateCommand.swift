import ArgumentParser
import BluetoothEmulator
import CoreBluetooth
import Dispatch
import Foundation
import GatewayCore
import GatewaySimulation
import Logging

/// The command that runs one gateway, and its devices in the same process.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Runs one gateway with emulated devices in the same process; SIGUSR1 silences the devices.")

    @Option(help: "The gateway's name in topics.") var name: String
    @Option(help: "The folder of the queue and of the counts of what was sent.") var folder: String
    @Option(help: "The broker's port on 127.0.0.1.") var port: UInt16
    @Option(help: "The number of devices.") var devices: Int
    @Option(help: "The milliseconds between two values of a device.") var interval: Int
    @Option(help: "The number of this process, from 1: part of each value.") var process: UInt32

    func run() async throws {
        let stop = TerminationSignals.sequence(limit: .seconds(15))
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        let ledger = try SentLedger(file: Self.ledger(folder, name, process), devices: devices)
        let silence = Self.silence(ledger)
        let emulator = Emulator(configuration: .instant)
        try SequenceDevice.populate(emulator, process: process, every: .milliseconds(interval), ledger)
        let configuration = try GatewayCore.Configuration(yaml: yaml, file: "\(name).yaml")
        let gateway = Gateway(configuration, backend: .emulator(emulator), logger: Logger(label: name))
        try await gateway.run(until: stop)
        silence.cancel()
    }

    /// Returns the file that counts the values that a process sent.
    static func ledger(_ folder: String, _ name: String, _ process: UInt32) -> String {
        "\(folder)/\(name)-\(process).sent"
    }

    private static func silence(_ ledger: SentLedger) -> any DispatchSourceSignal {
        signal(SIGUSR1, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGUSR1)
        source.setEventHandler { ledger.close() }
        source.resume()
        return source
    }

    private var yaml: String {
        let head = """
            gateway: \(name)
            broker: { host: 127.0.0.1, port: \(port) }
            topics: { base: scale, discovery: "off" }
            queue: { file: \(folder)/\(name).sqlite }
            devices:

            """
        return head
            + (0..<devices).map { index in
                """
                  - id: device-\(index)
                    address: "\(SequenceDevice.address(index))"
                    values: [{ id: sequence, characteristic: \(SequenceDevice.path), format: uint64 }]

                """
            }.joined()
    }
}
