import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@testable import BluetoothRecording

/// The services and characteristics of a capture.
@Suite struct CapturedDatabaseTests {
    private func device(_ outcomes: [CapturedClient.Outcome]) -> PeripheralDescription {
        var database = CapturedDatabase()
        var recorder = DeviceRecorder(start: .zero, keepsIdentity: true)
        recorder.linkOpened(mtu: nil, at: .zero)
        for outcome in outcomes { database.add(outcome, on: 0, to: &recorder) }
        return recorder.device
    }

    private func characteristic(_ declaration: UInt16, _ uuid: BluetoothUUID) -> TappedCharacteristic {
        TappedCharacteristic(
            declarationHandle: declaration, valueHandle: declaration + 1, properties: .read, uuid: uuid,
            descriptors: [])
    }

    /// An app that discovers one service at a time does not see where a service ends.
    @Test func aCharacteristicBelongsToTheLastServiceThatBeginsBeforeIt() {
        let found = device([
            .services([.init(handles: 0x10...0xFFFF, uuid: "180F")], isPrimary: true),
            .services([.init(handles: 0x20...0xFFFF, uuid: "180D")], isPrimary: true),
            .characteristics([characteristic(0x21, "2A37")]),
            .characteristics([characteristic(0x11, "2A19")]),
        ])
        #expect(found.services.map { $0.characteristics.map(\.uuid) } == [["2A19"], ["2A37"]])
    }

    @Test func aServiceThatIsFoundAgainWithItsEndIsTheSame() {
        let found = device([
            .services([.init(handles: 0x10...0xFFFF, uuid: "180F")], isPrimary: true),
            .services(
                [.init(handles: 0x10...0x1F, uuid: "180F"), .init(handles: 0x20...0x2F, uuid: "180D")], isPrimary: true),
            .characteristics([characteristic(0x11, "2A19"), characteristic(0x21, "2A37")]),
        ])
        #expect(found.services.map { $0.characteristics.map(\.uuid) } == [["2A19"], ["2A37"]])
    }
}
