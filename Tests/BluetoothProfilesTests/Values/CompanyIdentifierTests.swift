import AsyncBluetooth
import BluetoothProfiles
import CoreBluetooth
import Foundation
import Testing

@Suite struct CompanyIdentifierTests {
    @Test func itIsTheFirstTwoBytesLeastSignificantFirst() throws {
        let company = try #require(CompanyIdentifier(manufacturerData: Data([0x99, 0x04, 0x05, 0x12])))
        #expect(company.rawValue == 0x0499)
        #expect(company.description == "0x0499")
        #expect(company.name == "Ruuvi Innovations Ltd.")
    }

    @Test(arguments: [Data(), Data([0x99])])
    func fewerThanTwoBytesAreNone(data: Data) {
        #expect(CompanyIdentifier(manufacturerData: data) == nil)
    }

    /// A slice of a buffer does not start at index 0.
    @Test func aSliceIsReadFromItsStart() {
        let buffer = Data([0xFF, 0xFF, 0x4C, 0x00, 0x02])
        #expect(CompanyIdentifier(manufacturerData: buffer[2...])?.name == "Apple, Inc.")
        #expect(CompanyIdentifier(manufacturerData: buffer[4...]) == nil)
    }

    @Test func aNumberThatIsNotAssignedHasNoName() {
        #expect(CompanyIdentifier(rawValue: 0xFFFF).name == nil)
        #expect(CompanyIdentifier(rawValue: 0xFFFF).description == "0xFFFF")
    }

    @Test func knownFormatsCarryTheirCompany() {
        #expect(CompanyIdentifier(rawValue: IBeacon.company).name == "Apple, Inc.")
        #expect(CompanyIdentifier(rawValue: RuuviMeasurement.company).name == "Ruuvi Innovations Ltd.")
    }
}
