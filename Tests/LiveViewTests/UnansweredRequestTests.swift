import Foundation
import Testing

@testable import LiveView

/// The limits of a browser's requests.
@Suite struct UnansweredRequestTests {
    private static let head = Array("POST / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
    private static let end = Array("\r\n".utf8)

    private func text(_ count: Int) -> [UInt8] { Array(repeating: UInt8(ascii: "a"), count: count) }

    /// Returns whether each part is within the limits; nil represents an answer of the server.
    private func admits(_ parts: [UInt8]?...) -> [Bool] {
        var request = UnansweredRequest(maximumLength: 1_000_000)
        return parts.compactMap { part in
            guard let part else {
                request.answered()
                return nil
            }
            return request.add(part)
        }
    }

    @Test func aLineOfTheHeadHasABound() {
        #expect(admits(text(8_190), Self.end, text(8_190), Self.end, text(8_192)).allSatisfy { $0 })
        #expect(admits(text(8_193)) == [false])
    }

    /// The server ends a line only at both bytes.
    @Test(arguments: ["\n", "\r", "\n\r", "\r\r"])
    func halfAnEndOfALineIsNone(end: String) {
        #expect(admits(text(5_000), Array(end.utf8), text(5_000)) == [true, true, false])
    }

    @Test func theHeadHasABoundAndMayComeByteByByte() {
        var request = UnansweredRequest(maximumLength: 1_000_000)
        let line = text(98) + Self.end
        var count = 0
        while line.allSatisfy({ request.add([$0]) }) { count += 1 }
        #expect(count == UnansweredRequest.maximumHeadLength / 100)
    }

    @Test func aBodyHasNoLinesAndTheBoundOfTheWhole() {
        #expect(admits(Self.head, text(900_000), text(100_000)) == [true, true, false])
    }

    @Test func anAnswerBeginsAnotherRequest() {
        let parts = admits(Self.head, text(900_000), nil, Self.head, text(900_000), nil, text(8_193))
        #expect(parts == [true, true, true, true, false])
    }
}
