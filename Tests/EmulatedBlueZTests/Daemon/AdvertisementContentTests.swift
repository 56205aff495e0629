import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// The contents of advertisements on the air, and the advertisements that are refused.
@Suite struct AdvertisementContentTests {
    private static let uuid = "0000ec40-7a3d-4c5b-9e1f-2b6a8d4c0f01"

    /// The advertisement on the air; nil if it does not fit.
    private static func advertise(
        _ properties: [String: DBusValue], _ dialect: BlueZDialect = .bluez5_66, alias: String = "default",
        isDiscoverable: Bool = false, isHidden: Bool = false
    ) throws(DBusError) -> Advertisement? {
        try AdvertisementProperties(properties, dialect).advertisement(
            alias: alias, isDiscoverable: isDiscoverable, isHidden: isHidden, dialect)
    }

    private static func companies(_ companies: KeyValuePairs<UInt16, [UInt8]>) -> DBusValue {
        .dictionary(
            DBusDictionary(
                keyType: .uint16, valueType: .variant,
                entries: companies.map { .init(key: .uint16($0.key), value: .variant(.bytes($0.value))) }))
    }

    private static func raw(_ type: UInt8, _ bytes: [UInt8]) -> DBusValue {
        .byteArrays(.byte, [type: bytes], key: DBusValue.byte)
    }

    private static func peripheral(_ properties: [String: DBusValue]) -> [String: DBusValue] {
        properties.merging(["Type": .string("peripheral")]) { $1 }
    }

    // MARK: On the air

    @Test func allCompaniesTheAppearanceAndRawDataAreSent() throws {
        let sent = try #require(
            try Self.advertise([
                "Type": .string("peripheral"), "ManufacturerData": Self.companies([0x59: [1], 0x4C: [2]]),
                "Appearance": .uint16(0x0341), "Data": Self.raw(0x26, [1, 2]),
            ]))
        #expect(sent.manufacturerData == Data([0x59, 0, 1]))
        #expect(
            sent.otherStructures == [
                AdvertisingStructure(type: 0x19, data: Data([0x41, 0x03])),
                AdvertisingStructure(type: 0xFF, data: Data([0x4C, 0, 2])),
                AdvertisingStructure(type: 0x26, data: Data([1, 2])),
            ])
    }

    @Test func withoutATypeItIsABroadcast() throws {
        #expect(try Self.advertise([:])?.isConnectable == false)
        #expect(try Self.advertise(Self.peripheral([:]))?.isConnectable == true)
    }

    @Test func aDiscoverableAdapterMakesABroadcastConnectable() throws {
        #expect(try Self.advertise(["Type": .string("broadcast")], isDiscoverable: true)?.isConnectable == true)
    }

    @Test func aNameIsCutToTheScanResponse() throws {
        #expect(try Self.advertise(["LocalName": .string(String(repeating: "n", count: 300))])?.localName?.count == 29)
        let accented = try Self.advertise(["LocalName": .string(String(repeating: "é", count: 20))])
        #expect(accented?.localName == String(repeating: "é", count: 14))
        let included = try Self.advertise(["Includes": .strings(["local-name"])], alias: "a long name of an adapter")
        #expect(included?.localName == "a long nam")
    }

    @Test func aNameBesideTheRestIsCutToTheRoomThatIsLeft() throws {
        let properties = Self.peripheral([
            "LocalName": .string("a name of some length"), "SecondaryChannel": .string("1M"),
            "ServiceUUIDs": .strings([Self.uuid]),
        ])
        #expect(try Self.advertise(properties, .bluez5_82)?.localName == "a name of s")
    }

    /// Flags take 3 bytes, a UUID of 128 bits 18, an appearance 4, and a company's data 4 in addition to its own.
    @Test(arguments: [(2, true), (3, false)]) func aPeripheralHasThirtyOneBytes(_ count: Int, _ fits: Bool) throws {
        let properties = Self.peripheral([
            "ServiceUUIDs": .strings([Self.uuid]), "Appearance": .uint16(0), "Discoverable": .boolean(true),
            "LocalName": .string("a name"),
            "ManufacturerData": Self.companies([0xFFFF: [UInt8](repeating: 1, count: count)]),
        ])
        #expect((try Self.advertise(properties) != nil) == fits)
    }

    @Test func aBroadcastHasThirtyOneBytes() throws {
        let full: [String: DBusValue] = ["ManufacturerData": Self.companies([1: [UInt8](repeating: 1, count: 27)])]
        #expect(try Self.advertise(full) != nil)
        #expect(try Self.advertise(full.merging(["Includes": .strings(["tx-power"])]) { $1 }) == nil)
        #expect(try Self.advertise(Self.peripheral(full)) != nil, "no flags are asked for")
        #expect(try Self.advertise(Self.peripheral(full), isDiscoverable: true) == nil, "the adapter's flags count")
    }

    // MARK: Flags

    private static func flags(_ advertisement: Advertisement?) -> Data? {
        advertisement?.otherStructures?.first { $0.type == 0x01 }?.data
    }

    @Test func aDiscoverablePeripheralSendsFlagsForAsLongAsItAsks() throws {
        let general = Self.peripheral(["Discoverable": .boolean(true)])
        #expect(Self.flags(try Self.advertise(general)) == Data([0x06]))
        let limited = general.merging(["DiscoverableTimeout": .uint16(9)]) { $1 }
        #expect(Self.flags(try Self.advertise(limited)) == Data([0x05]))
        #expect(Self.flags(try Self.advertise(limited, isHidden: true)) == nil)
        let hidden = Self.peripheral(["Discoverable": .boolean(false)])
        #expect(Self.flags(try Self.advertise(hidden)) == nil)
        #expect(Self.flags(try Self.advertise(hidden, .bluez5_82)) == Data([0x04]))
    }

    // MARK: Refused

    @Test(
        arguments: [
            ["Includes": .strings(["local-name"]), "LocalName": .string("x")],
            ["Includes": .strings(["appearance"]), "Appearance": .uint16(1)],
            ["Type": .string("broadcast"), "Discoverable": .boolean(true)], ["Discoverable": .boolean(true)],
            ["Type": .uint16(1)], ["LocalName": .uint16(1)], ["Appearance": .string("x")], ["Timeout": .uint32(1)],
            ["Duration": .uint32(1)], ["Discoverable": .uint16(1)], ["DiscoverableTimeout": .boolean(true)],
            ["Includes": .string("tx-power")], ["ServiceUUIDs": .string("180D")], ["SolicitUUIDs": .strings(["x"])],
            ["SecondaryChannel": .string("3M")], ["ManufacturerData": .string("x")],
            ["ManufacturerData": companies([1: [UInt8](repeating: 1, count: 28)])], ["Data": raw(0x09, [1])],
            ["Data": raw(0x26, [UInt8](repeating: 1, count: 30))],
            [
                "Type": .string("peripheral"), "Discoverable": .boolean(true), "DiscoverableTimeout": .uint16(2),
                "Timeout": .uint16(1),
            ],
        ] as [[String: DBusValue]])
    func whatCannotBeParsedIsRefused(_ properties: [String: DBusValue]) {
        #expect(throws: AdvertisementProperties.unreadable) { try Self.advertise(properties) }
    }

    /// Before 5.77 these properties are experimental, and not read.
    @Test(
        arguments: [
            ["MinInterval": .uint32(200), "MaxInterval": .uint32(100)], ["MinInterval": .uint32(100)],
            ["MaxInterval": .uint32(19)], ["MinInterval": .string("x")], ["TxPower": .int16(100)],
            ["TxPower": .int16(-128)],
        ] as [[String: DBusValue]])
    func intervalsAndPowerAreCheckedFromTheVersionThatReadsThem(_ properties: [String: DBusValue]) {
        #expect(throws: AdvertisementProperties.unreadable) { try Self.advertise(properties, .bluez5_82) }
        #expect(throws: Never.self) { try Self.advertise(properties, .bluez5_66) }
    }

    @Test func thePowerIsSentWhereTheClientIncludesIt() throws {
        let properties: [String: DBusValue] = ["TxPower": .int16(-7), "Includes": .strings(["tx-power"])]
        #expect(try Self.advertise(properties, .bluez5_82)?.txPowerLevel == -7)
        #expect(try Self.advertise(properties, .bluez5_66)?.txPowerLevel == 0)
        #expect(try Self.advertise(["TxPower": .int16(-7)], .bluez5_82)?.txPowerLevel == nil)
    }
}
