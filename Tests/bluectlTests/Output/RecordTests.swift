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
            JSONLine.of(ScanRecord(device, backend: "bluez"))
                == #"{"address":"F0:F1:F2:F3:F4:F5","backend":"bluez","#
                + #""identifier":"00000000-0000-0000-0000-000000000001","manufacturerData":"FFFF01","#
                + #""name":"Contract","rssi":-60,"services":["180F"]}"#)
    }

    @Test func fieldsWithoutAValueAreLeftOut() {
        let device = DeviceRecord(identifier: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
        #expect(
            JSONLine.of(ScanRecord(device, backend: "bluez"))
                == #"{"backend":"bluez","identifier":"00000000-0000-0000-0000-000000000001"}"#)
    }

    @Test func aValueRecordHasItsFields() {
        let record = ValueRecord(service: "180D", characteristic: "2A37", handle: 10, value: "0048", backend: nil)
        #expect(
            JSONLine.of(record) == #"{"characteristic":"2A37","handle":10,"service":"180D","value":"0048"}"#)
        let emulated = ValueRecord(service: nil, characteristic: "2A37", handle: nil, value: "", backend: "emulator")
        #expect(JSONLine.of(emulated) == #"{"backend":"emulator","characteristic":"2A37","value":""}"#)
    }

    @Test func aGATTRecordHasItsFields() {
        #expect(
            JSONLine.of(GATTTreeTests.record)
                == #"{"identifier":"ID","mtu":185,"name":"Monitor","services":[{"characteristics":["#
                + #"{"descriptors":[{"handle":11,"uuid":"2902","value":"0000"}],"handle":10,"#
                + #""properties":["notify"],"uuid":"2A37"},"#
                + #"{"descriptors":[],"properties":["read"],"uuid":"2A38","value":"01"}],"#
                + #""isPrimary":true,"uuid":"180D"},{"characteristics":[{"descriptors":[],"handle":20,"#
                + #""properties":["read","write"],"uuid":"FFE1"}],"isPrimary":false,"uuid":"FFE0"}]}"#)
    }

    @Test func aFailureHasTextAndCode() {
        #expect(JSONLine.of(FailureRecord(error: "no / yes", code: 3)) == #"{"code":3,"error":"no / yes"}"#)
    }
}
