import AsyncBluetooth
import Foundation
import Logging
import Synchronization

/// A runner that writes the commands of one device, one after the other, and publishes their results.
final class CommandRunner: Sendable {
    /// The time limit of a write.
    static let timeLimit = Duration.seconds(10)

    private let device: DeviceConfiguration
    private let commands: AsyncStream<PendingCommand>
    private let results: CommandResults
    private let peripheral = Mutex<Peripheral?>(nil)

    init(_ device: DeviceConfiguration, _ commands: AsyncStream<PendingCommand>, _ results: CommandResults) {
        self.device = device
        self.commands = commands
        self.results = results
    }

    /// Sets the connected device; nil without a connection.
    func setPeripheral(_ new: Peripheral?) { peripheral.withLock { $0 = new } }

    /// Runs until its task is cancelled.
    func run() async {
        for await pending in commands {
            let name = pending.command.id
            do {
                guard let peripheral = peripheral.withLock({ $0 }) else {
                    throw CommandError("the device is not connected")
                }
                try await withTimeout(Self.timeLimit) {
                    try await peripheral.write(pending.bytes, to: pending.command.characteristic)
                }
                await results.publish(nil, of: name, device: device.id)
            } catch {
                await results.publish("\(error)", of: name, device: device.id)
            }
        }
    }
}

/// The messages with the results of commands.
struct CommandResults: Sendable {
    let topics: Topics
    let outbox: Outbox
    let gate: CommandGate
    let metrics: GatewayMetrics
    let wallClock: @Sendable () -> Date

    /// Publishes a result; without an error the command succeeded.
    func publish(_ error: String?, of command: String, device: String) async {
        metrics.add(error == nil ? .commandsDone : .commandsRefused)
        let metadata: Logger.Metadata = ["device": "\(device)", "command": "\(command)"]
        if let error {
            gate.log(
                .info, "command refused", kind: "\(device)/\(command)", metadata.merging(["error": "\(error)"]) { $1 })
        } else {
            gate.log(.info, "command done", kind: "\(device)/\(command)", metadata)
        }
        do {
            try await outbox.append(
                OutgoingMessage(
                    topics.result(command, of: device), isRetained: false, MessageBody(time: wallClock(), error: error))
            )
        } catch {
            gate.log(
                .error, "a result is lost", kind: "\(device)/\(command)",
                metadata.merging(["error": "\(error)"]) { $1 })
        }
    }
}
