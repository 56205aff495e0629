import Foundation
import GatewayCore
import Testing

/// The JSON of messages.
@Suite struct MessageBodyTests {
    private static let time = Date(timeIntervalSince1970: 1_764_093_382.651)

    private func json(_ body: MessageBody) -> String { String(decoding: body.json(id: "c1-7"), as: UTF8.self) }

    @Test(arguments: [
        (MeasuredValue.integer(-61), "-61"), (.integer(.max), "9223372036854775807"), (.number(21.5), "21.5"),
        (.number(21), "21"), (.number(1e100), "1e+100"), (.number(.infinity), "null"), (.flag(true), "true"),
        (.text("a\"b\\c/\n\u{1}é"), #""a\"b\\c/\n\u0001é""#),
    ]) func aValueHasIdentifierAndTime(value: MeasuredValue, text: String) {
        let body = MessageBody(time: Self.time, value: value)
        #expect(json(body) == #"{"id":"c1-7","time":"2025-11-25T17:56:22.651Z","value":\#(text)}"#)
    }

    @Test func aResultSaysWhetherTheCommandSucceeded() {
        let (done, refused) = (MessageBody(time: Self.time, error: nil), MessageBody(time: Self.time, error: "late"))
        #expect(json(done) == #"{"id":"c1-7","ok":true,"time":"2025-11-25T17:56:22.651Z"}"#)
        #expect(json(refused) == #"{"error":"late","id":"c1-7","ok":false,"time":"2025-11-25T17:56:22.651Z"}"#)
    }

    /// Foundation's style is the specification: leap days, the ends of years, and the time before 1970.
    @Test func timesAreThoseOfFoundation() throws {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for seconds in stride(from: -3_000_000_000, through: 9_000_000_000, by: 12_345_678.125) {
            let time = Date(timeIntervalSince1970: seconds)
            #expect(json(MessageBody(time: time, error: nil)).contains("\"time\":\"\(time.formatted(style))\""))
        }
    }

    @Test func anyTextIsReadAsItWasWritten() throws {
        struct Content: Decodable { var value: String }
        let text = String(String.UnicodeScalarView((0..<0x2100).compactMap(Unicode.Scalar.init))) + "🎈\u{2028}"
        let data = MessageBody(time: Self.time, value: .text(text)).json(id: "c1-7")
        #expect(try JSONDecoder().decode(Content.self, from: data).value == text)
    }
}
