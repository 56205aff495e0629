#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Puts the fields of a value one after the other, least significant byte first.
public struct GATTWriter: Sendable {
    /// What was written.
    public private(set) var data = Data()

    /// Nothing written yet.
    public init() {}

    /// Appends an integer.
    ///
    /// `bytes`: How many of its bytes, the least significant ones; all by default.
    public mutating func append<Number: FixedWidthInteger>(_ number: Number, bytes: Int = Number.bitWidth / 8) {
        for offset in 0..<bytes { data.append(UInt8(truncatingIfNeeded: number >> (8 * offset))) }
    }

    /// Appends bytes.
    public mutating func append(bytes: some Sequence<UInt8>) { data.append(contentsOf: bytes) }

    /// Appends text as UTF-8, without a zero at its end.
    public mutating func append(text: String) { data.append(contentsOf: text.utf8) }

    /// Appends another value.
    public mutating func append(_ value: some GATTValue) { value.write(to: &self) }
}
