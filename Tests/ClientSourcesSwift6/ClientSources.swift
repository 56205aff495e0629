import CoreBluetooth
import Testing

/// A test that the files beside this one compile, and import only CoreBluetooth; the tests below run a part of them.
@Suite struct ClientSources {
    @Test func aHeartRateIsReadInBothWidths() {
        #expect(HeartRateMonitor.beatsPerMinute(Data([0x00, 72])) == 72)
        #expect(HeartRateMonitor.beatsPerMinute(Data([0x01, 0x2C, 0x01])) == 300)
        #expect(HeartRateMonitor.beatsPerMinute(Data([0x01, 0x2C])) == nil)
    }

    @Test func anAppExplainsErrorsOfEachKind() throws {
        #expect(explanation(of: CBError(.encryptionTimedOut)) == "pair again")
        #expect(explanation(of: CBError(.peripheralDisconnected)) == "out of range")
        #expect(explanation(of: CBError(.unknownDevice)) == "unknown device")
        let code = try #require(CBATTError.Code(rawValue: 0x81))
        #expect(explanation(of: CBATTError(code)) == "the device refused: 129")
    }

    @Test func aSwitchWithUnknownDefaultNamesEachState() {
        #expect(name(of: .disconnecting) == "disconnecting")
    }
}
