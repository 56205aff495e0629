import Foundation
import Testing

@testable import bluectl

struct HexTextTests {
    @Test(arguments: ["0102ff", "01 02 FF", "01:02:ff", "01-02-ff", "0x0102FF", "01_02_ff", "01.02,ff"])
    func separatorsMayStandBetweenBytes(text: String) throws {
        #expect(try HexText.data(text) == Data([1, 2, 255]))
    }

    @Test func nothingIsAnEmptyValue() throws {
        #expect(try HexText.data("").isEmpty)
    }

    @Test(arguments: ["1", "010", "0 1", "0x1", "01 2", "gg", "01 zz", "0x0x01", "٣٣"])
    func halfBytesAndOtherCharactersAreUsageFailures(text: String) {
        do throws(Failure) {
            let data = try HexText.data(text)
            Issue.record("\(text) became \(Array(data))")
        } catch {
            #expect(error.status == .usage)
        }
    }

    @Test func bytesArePrintedInUpperCaseWithoutSeparators() {
        #expect(HexText.of(Data([0, 10, 255])) == "000AFF")
        #expect(HexText.of(Data()) == "")
    }
}
