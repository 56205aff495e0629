package import Foundation

/// A command for a device: the bytes of a write, and its target.
struct PendingCommand: Sendable {
    let command: CommandConfiguration
    let bytes: Data
}

/// The commands of each device, which are run one after the other.
struct CommandQueues: Sendable {
    /// The number of commands of a device that may wait; further ones are refused.
    static let limit = 16

    private let continuations: [String: AsyncStream<PendingCommand>.Continuation]
    private let streams: [String: AsyncStream<PendingCommand>]
    private let configurations: [String: DeviceConfiguration]

    init(_ devices: [DeviceConfiguration]) {
        var continuations: [String: AsyncStream<PendingCommand>.Continuation] = [:]
        var streams: [String: AsyncStream<PendingCommand>] = [:]
        for device in devices {
            (streams[device.id], continuations[device.id]) = AsyncStream.makeStream(
                bufferingPolicy: .bufferingOldest(Self.limit))
        }
        self.continuations = continuations
        self.streams = streams
        configurations = Dictionary(uniqueKeysWithValues: devices.map { ($0.id, $0) })
    }

    /// Returns the commands of a device, for its one consumer.
    func commands(of device: String) -> AsyncStream<PendingCommand> { streams[device] ?? AsyncStream { $0.finish() } }

    /// Returns the command with a name, if the configuration contains it.
    func configuration(_ command: String, of device: String) -> CommandConfiguration? {
        configurations[device]?.commands.first { $0.id == command }
    }

    /// Adds a command.
    ///
    /// - Throws: ``CommandError`` for a payload that does not fit, or too many commands.
    func submit(_ payload: Data, to command: CommandConfiguration, of device: String) throws {
        let pending = PendingCommand(command: command, bytes: try command.bytes(of: payload))
        guard case .enqueued = continuations[device]?.yield(pending) else {
            throw CommandError("\(Self.limit) commands wait already")
        }
    }
}

/// The reason that a command is refused.
package struct CommandError: Error, Equatable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }
}

extension CommandConfiguration {
    /// Returns the bytes that a payload writes.
    ///
    /// - Throws: ``CommandError``.
    package func bytes(of payload: Data) throws -> Data {
        guard payload.count <= 512 else { throw CommandError("the payload has more than 512 bytes") }
        guard let text = String(data: payload, encoding: .utf8) else { throw CommandError("the payload is not UTF-8") }
        switch kind {
        case .onOff(let on, let off):
            guard text == "ON" || text == "OFF" else { throw CommandError("the payload must be ON or OFF") }
            return text == "ON" ? on : off
        case .press(let bytes):
            guard text == "PRESS" else { throw CommandError("the payload must be PRESS") }
            return bytes
        case .text(let maximumLength):
            guard payload.count <= maximumLength else {
                throw CommandError("the payload has more than \(maximumLength) bytes")
            }
            return payload
        case .number(let format, let range):
            guard let number = Double(text), range.contains(number) else {
                throw CommandError("the payload must be a number, \(range.lowerBound) to \(range.upperBound)")
            }
            do { return try format.encode(number) } catch { throw CommandError("\(error)") }
        }
    }
}
