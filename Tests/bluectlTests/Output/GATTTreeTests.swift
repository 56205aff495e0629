import Testing

@testable import bluectl

struct GATTTreeTests {
    static let record = GATTRecord(
        identifier: "ID", address: "C0:DE:00:00:18:0D", name: "Monitor", mtu: 185,
        services: [
            GATTRecord.Service(
                uuid: "180D", isPrimary: true,
                characteristics: [
                    GATTRecord.Attribute(
                        uuid: "2A37", handle: 10, properties: ["notify"], value: nil,
                        descriptors: [GATTRecord.Attribute(uuid: "2902", handle: 11, value: "0000")]),
                    GATTRecord.Attribute(
                        uuid: "2A38", handle: nil, properties: ["read"], value: "01", descriptors: []),
                ]),
            GATTRecord.Service(
                uuid: "FFE0", isPrimary: false,
                characteristics: [
                    GATTRecord.Attribute(
                        uuid: "FFE1", handle: 20, properties: ["read", "write"], value: nil, descriptors: [],
                        failure: "ATT error 0x05")
                ]),
        ])

    @Test func theTreeShowsNamesHandlesPropertiesAndDecodedValues() {
        #expect(
            GATTTree(palette: Palette(isTerminal: false, environment: [:])).lines(Self.record) == [
                "Monitor  C0:DE:00:00:18:0D  ID  MTU 185",
                "├─ Heart Rate 180D",
                "│  ├─ Heart Rate Measurement 2A37 @0x000A  notify",
                "│  │  └─ Client Characteristic Configuration 2902 @0x000B = 0000 (off)",
                "│  └─ Body Sensor Location 2A38  read = 01 (chest)",
                "└─ FFE0  secondary",
                "   └─ FFE1 @0x0014  read, write  ! ATT error 0x05",
            ])
    }

    @Test func aLongValueWrapsUnderItsColumn() {
        let long = GATTRecord.Attribute(
            uuid: "FFF1", handle: nil, properties: ["read"], value: "000102030405060708090A0B0C0D0E0F1011121314151617",
            descriptors: [GATTRecord.Attribute(uuid: "2902", handle: nil, value: "0000")])
        let record = GATTRecord(
            identifier: "ID", address: nil, name: nil, mtu: 23,
            services: [GATTRecord.Service(uuid: "FFF0", isPrimary: true, characteristics: [long])])
        let plain = Palette(isTerminal: false, environment: [:])
        #expect(
            GATTTree(palette: plain, columns: 44).lines(record) == [
                "ID  MTU 23",
                "└─ FFF0",
                "   └─ FFF1  read = 000102030405060708090A0B",
                "      │            0C0D0E0F1011121314151617",
                "      └─ Client Characteristic Configuration 2902 =",
                "            0000 (off)",
            ])
        #expect(GATTTree(palette: plain).lines(record).count == 4)
    }
}
