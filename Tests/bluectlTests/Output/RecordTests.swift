import AsyncBluetooth
import CoreBluetoothClasses
import Foundation
import Testing

@testable import bluectl

/// The JSON that scripts rely on.
struct RecordTests {
    @Test func aScanRecordHasItsFields() {
        let device = DeviceRecord(
            identifier: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)), address: "F0:F1:F2:F3:F4:F5",
            name: "Contract Peer", advertisedName: "Contract", rssi: -60, services: ["180F"],
            manufacturerData: Data([0xFF, 0xFF, 1]))
        #expect(
            device.fields(backend: "bluez").line
                == #"{"address":"F0:F1:F2:F3:F4:F5","backend":"bluez","#
                + #""identifier":"00000000-0000-0000-0000-000000000001","manufacturerData":"FFFF01","#
                + #""name":"Contract","rssi":-60,"services":["180F"]}"#)
    }

    @Test func fieldsWithoutAValueAreLeftOut() {
        let device = DeviceRecord(identifier: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
        #expect(
            device.fields(backend: "bluez").line
                == #"{"backend":"bluez","identifier":"00000000-0000-0000-0000-000000000001"}"#)
    }

    @Test func aValueRecordHasItsFields() {
        let found = DiscoveredCharacteristic(id: "180D/2A37", properties: .notify, handle: 10)
        #expect(
            found.fields(Data([0, 0x48])).line
                == #"{"characteristic":"2A37","handle":10,"service":"180D","value":"0048"}"#)
        let unnumbered = DiscoveredCharacteristic(id: "180D/2A37", properties: .notify, handle: nil)
        #expect(unnumbered.fields(Data()).line == #"{"characteristic":"2A37","service":"180D","value":""}"#)
    }

    @Test func aGATTRecordHasItsFields() {
        #expect(
            GATTTreeTests.record.fields.line
                == #"{"identifier":"ID","mtu":185,"name":"Monitor","services":[{"characteristics":["#
                + #"{"descriptors":[{"handle":11,"uuid":"2902","value":"0000"}],"handle":10,"#
                + #""properties":["notify"],"uuid":"2A37"},"#
                + #"{"descriptors":[],"properties":["read"],"uuid":"2A38","value":"01"}],"#
                + #""isPrimary":true,"uuid":"180D"},{"characteristics":[{"descriptors":[],"handle":20,"#
                + #""properties":["read","write"],"uuid":"FFE1"}],"isPrimary":false,"uuid":"FFE0"}]}"#)
    }

    @Test func theSecondOfTwoFieldsOfANameWins() {
        let fields: JSONFields = ["error": "no / yes", "code": 3]
        #expect(fields.line == #"{"code":3,"error":"no / yes"}"#)
        #expect(fields.merging(["code": 4]).line == #"{"code":4,"error":"no / yes"}"#)
    }
}
