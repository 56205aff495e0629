import BluetoothValues
import Testing

@Suite struct AssignedNumbersTests {
    @Test(
        arguments: [
            (0x1800, "Generic Access"), (0x180D, "Heart Rate"), (0x1859, "Mesh Proxy Solicitation"),
            (0x2A00, "Device Name"), (0x2A37, "Heart Rate Measurement"), (0x2B2A, "Database Hash"),
            (0x2C05, "Percentage 8 Steps"), (0x2900, "Characteristic Extended Properties"),
            (0x2902, "Client Characteristic Configuration"), (0x2911, "Valid Range and Accuracy"),
        ] as [(UInt16, String)])
    func attributesHaveTheirNames(number: UInt16, name: String) {
        #expect(AssignedNumbers.attribute(number) == name)
    }

    /// Names as spelled by Apple's `CBUUID` and Assigned Numbers; the data writes "Battery Service" and "B02 Mass
    /// Flow".
    @Test(
        arguments: [
            (0x180F, "Battery"), (0x1805, "Current Time"), (0x2A67, "Location and Speed"), (0x2B02, "Mass Flow"),
            (0x2901, "Characteristic User Description"), (0x2A7C, "Trend"),
        ] as [(UInt16, String)])
    func spellingsAreCorrected(number: UInt16, name: String) {
        #expect(AssignedNumbers.attribute(number) == name)
    }

    @Test(arguments: [0, 0x17FF, 0x180B, 0x185A, 0x28FF, 0x2A61, 0x2BFF + 7, 0xFFE0, 0xFFFF] as [UInt16])
    func unassignedAttributesHaveNoName(number: UInt16) {
        #expect(AssignedNumbers.attribute(number) == nil)
    }

    @Test(
        arguments: [
            (0x0000, "Unknown"), (0x0341, "Heart Rate Belt"), (0x0340, "Heart Rate Sensor"),
            (0x037F, "Heart Rate Sensor"),
            (0x1444, "Location and Navigation Pod"),
        ] as [(UInt16, String)])
    func anAppearanceHasItsNameOrThatOfItsCategory(value: UInt16, name: String) {
        #expect(AssignedNumbers.appearance(value) == name)
    }

    @Test func anUnassignedCategoryHasNoName() {
        #expect(AssignedNumbers.appearance(0xFFFF) == nil)
        #expect(AssignedNumbers.appearance(0x0B00) == nil)
    }

    @Test(
        arguments: [
            (0x0000, "Ericsson AB"), (0x004C, "Apple, Inc."), (0x0059, "Nordic Semiconductor ASA"),
            (0x0499, "Ruuvi Innovations Ltd."), (0x08B1, "CORE|vision BV"), (0x0225, "Nestlé Nespresso S.A."),
            (0x0380, "LLC \"MEGA-F service\""), (0x1053, "Sensorworx, Inc."),
        ] as [(UInt16, String)])
    func companiesHaveTheirNames(identifier: UInt16, name: String) {
        #expect(AssignedNumbers.company(identifier) == name)
    }

    @Test(arguments: [0xEFFF, 0xFFFE, 0xFFFF] as [UInt16])
    func unassignedCompaniesHaveNoName(identifier: UInt16) {
        #expect(AssignedNumbers.company(identifier) == nil)
    }

    /// A lookup finds every row, including the first and the last: as many names as a walk over the whole text.
    ///
    /// The ranges contain all assigned numbers; all 65,536 take a minute in a debug build.
    @Test func everyNameIsFoundByItsNumber() {
        let ranges = [UInt16(0x1800)...0x18FF, 0x2800...0x2CFF]
        let found = ranges.joined().compactMap(AssignedNumbers.attribute)
        #expect(found.count > 500)
        #expect(Set(found).sorted() == AssignedNumbers.attributeNames)
        #expect((UInt16(0)...0x10FF).compactMap(AssignedNumbers.company).count > 3900)
    }
}
