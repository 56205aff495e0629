import BluetoothSupport
import Foundation

/// A generator of bytes from a seed: mostly small numbers, which layouts define, but also edge cases and arbitrary
/// bytes.
struct ValueGenerator {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Returns a value of 0...25 bytes.
    mutating func next() -> Data {
        let kind = Int.random(in: 0..<5, using: &random)
        let count = Int.random(in: 0...24, using: &random)
        // Control points answer with 0x10 and small numbers.
        if kind == 4 { return Data([0x10] + (0..<count).map { _ in byte(0) }) }
        return Data((0..<count).map { _ in byte(kind) })
    }

    private mutating func byte(_ kind: Int) -> UInt8 {
        switch kind {
        case 0, 1: UInt8.random(in: 0...10, using: &random)
        case 2: [0, 1, 0x7F, 0x80, 0xFE, 0xFF].randomElement(using: &random) ?? 0
        default: UInt8.random(in: 0 ... .max, using: &random)
        }
    }
}
