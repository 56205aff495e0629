import BluetoothBackend
import Foundation

@testable import CoreBluetoothClasses

/// Calls of an app, its peer and the backend on a channel, in any order, beside a model of the permitted results.
///
/// The bytes of each direction are numbered: the read bytes are the received ones, in order and without a gap; no more
/// is sent than the credits allow; no more is reported as consumed than was read; nothing is submitted after the end.
struct ChannelCalls {
    private var machine = ChannelMachine(credits: 0)
    private var received = 0
    private var read = 0
    private var reported = 0
    private var credits = 0
    private var sent = 0
    private var isEnded = false
    private var hasDropped = false

    mutating func run(_ bytes: UnsafeBufferPointer<UInt8>) {
        var index = 0
        while index + 1 < bytes.count {
            perform(bytes[index] % 12, count: Int(bytes[index + 1]) * (bytes[index] > 127 ? 257 : 1))
            index += 2
            precondition(machine.isReady(.output) == (machine.phase(of: .output) == .open && credits > 0))
        }
    }

    private mutating func perform(_ call: UInt8, count: Int) {
        switch call {
        case 0, 1: receive(count)
        case 2, 3: read(count)
        case 4: grant(count)
        case 5, 6: write(count)
        case 7: handle(machine.open(.input))
        case 8: handle(machine.open(.output))
        case 9: end { $0.endRemotely() }
        case 10: close(count % 4)
        default: for side in ChannelMachine.Side.allCases { while machine.nextNotice(side) != nil {} }
        }
    }

    private mutating func receive(_ count: Int) {
        let isTaken = !isEnded && machine.phase(of: .input) != .closed
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: received + $0) })
        handle(machine.receive(data))
        if isTaken { received += count }
    }

    private mutating func read(_ count: Int) {
        var buffer = [UInt8](repeating: 0, count: count)
        let available = received - read
        let (transfer, effects) = buffer.withUnsafeMutableBytes { machine.read(into: $0) }
        if case .bytes(let moved) = transfer, moved > 0 {
            precondition(!hasDropped && moved == min(count, available))
            precondition(buffer.prefix(moved).enumerated().allSatisfy { $1 == UInt8(truncatingIfNeeded: read + $0) })
            read += moved
        }
        if transfer == .wait { precondition(available == 0 && !isEnded) }
        handle(effects)
    }

    private mutating func grant(_ count: Int) {
        // Sometimes the sum of the credits exceeds the largest number.
        let count = count == 255 ? Int.max : count
        handle(machine.grant(count))
        let (sum, overflow) = credits.addingReportingOverflow(count)
        credits = overflow ? .max : sum
    }

    private mutating func write(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: sent + $0) }
        let (transfer, effects) = bytes.withUnsafeBytes { machine.write($0) }
        let before = sent
        handle(effects)
        if case .bytes(let moved) = transfer {
            precondition(sent - before == moved && moved == min(count, credits + moved))
        } else {
            precondition(sent == before)
        }
    }

    /// Closes the channel in one of the ways of its object, its streams and its owner.
    private mutating func close(_ way: Int) {
        switch way {
        case 0: close(.input)
        case 1: close(.output)
        case 2: end { $0.shutDown() }
        default:
            hasDropped = true
            end { $0.release() }
        }
    }

    private mutating func close(_ side: ChannelMachine.Side) {
        if side == .input { hasDropped = true }
        let effects = machine.close(side)
        handle(effects)
        precondition(machine.phase(of: side) == .closed)
    }

    private mutating func end(_ body: (inout ChannelMachine) -> [ChannelMachine.Effect]) {
        handle(body(&machine))
        isEnded = true
    }

    private mutating func handle(_ effects: [ChannelMachine.Effect]) {
        for case .submit(let command) in effects {
            precondition(!isEnded, "\(command) after the end")
            switch command {
            case .send(let data):
                precondition(!data.isEmpty && data.count <= credits)
                precondition(data.enumerated().allSatisfy { $1 == UInt8(truncatingIfNeeded: sent + $0) })
                credits -= data.count
                sent += data.count
            case .consumed(let count):
                reported += count
                precondition(count > 0 && reported <= read)
            case .close: isEnded = true
            }
        }
    }
}
