import BluetoothProfiles
import Foundation
import Testing

/// Random bytes from a seed: no decoder traps, and a decoded value that is encoded is decoded to the same value.
@Suite struct RoundTripTests {
    private static func roundTrips<Value: GATTValue>(_ type: Value.Type, _ generator: inout ValueGenerator) -> Int {
        var decoded = 0
        for _ in 0..<1000 {
            let data = generator.next()
            guard let value = try? Value(decoding: data) else { continue }
            decoded += 1
            let again = Result { try Value(decoding: value.encoded) }
            guard case .success(value) = again else {
                Issue.record("\(data.hex) is \(value), which is \(value.encoded.hex), which is \(again)")
                return decoded
            }
            if !Value.ignoresTrailingBytes, value.encoded.count != data.count, Value.self != String.self {
                Issue.record("\(data.hex) has \(data.count) bytes, but its encoding is \(value.encoded.hex)")
            }
        }
        return decoded
    }

    @Test(arguments: codedTypes.indices, [1, 2] as [UInt64])
    func whatIsDecodedIsEncodedAndDecodedToTheSame(index: Int, seed: UInt64) {
        var generator = ValueGenerator(seed: seed &* 1000 &+ UInt64(index))
        let type = codedTypes[index]
        let met: Int = Self.roundTrips(type, &generator)
        #expect(met > 0, "no value of \(type) was met")
    }
}
