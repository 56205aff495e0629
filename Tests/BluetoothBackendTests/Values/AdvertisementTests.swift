import BluetoothBackend
import FoundationEssentials
import Testing

/// The merge of advertising data and scan response.
struct AdvertisementTests {
    @Test func S24_aMergeKeepsWhatOnlyTheFirstPacketSaid() {
        var merged = Advertisement(
            txPowerLevel: -4, serviceUUIDs: ["180D"], manufacturerData: Data([1, 0]), isConnectable: true)
        #expect(merged.merge(Advertisement(localName: "Name")) == true)
        #expect(
            merged
                == Advertisement(
                    localName: "Name", txPowerLevel: -4, serviceUUIDs: ["180D"], manufacturerData: Data([1, 0]),
                    isConnectable: true))
    }

    @Test func S24_whatNoPacketSaidStaysAbsent() {
        var merged = Advertisement(localName: "Name")
        #expect(merged.merge(Advertisement()) == false)
        #expect(merged == Advertisement(localName: "Name"))
    }

    @Test func aMergeReplacesScalarsAndUnitesLists() {
        var merged = Advertisement(
            localName: "Old", serviceUUIDs: ["180D", "180F"], overflowServiceUUIDs: ["1234"],
            serviceData: ["180F": Data([1]), "180D": Data([7])])
        let isChanged = merged.merge(
            Advertisement(
                localName: "New", serviceUUIDs: ["0000180F", "180A"], overflowServiceUUIDs: ["1234"],
                solicitedServiceUUIDs: ["1800"], serviceData: ["180F": Data([2])]))
        #expect(isChanged)
        #expect(merged.localName == "New")
        #expect(merged.serviceUUIDs == ["180D", "180F", "180A"])
        #expect(merged.overflowServiceUUIDs == ["1234"])
        #expect(merged.solicitedServiceUUIDs == ["1800"])
        #expect(merged.serviceData == ["180F": Data([2]), "180D": Data([7])])
    }

    @Test func aMergeOfTheSameChangesNothing() {
        var merged = Samples.advertisement
        #expect(merged.merge(Samples.advertisement) == false)
        #expect(merged == Samples.advertisement)
    }

    @Test(arguments: [
        Advertisement(localName: "Other"), Advertisement(txPowerLevel: 4), Advertisement(serviceUUIDs: ["1801"]),
        Advertisement(overflowServiceUUIDs: ["1801"]), Advertisement(solicitedServiceUUIDs: ["1801"]),
        Advertisement(serviceData: ["180F": Data([98])]), Advertisement(manufacturerData: Data()),
        Advertisement(isConnectable: false),
    ])
    func aMergeReportsAnyChange(_ newer: Advertisement) {
        var merged = Samples.advertisement
        let isChanged = merged.merge(newer)
        #expect(isChanged)
        #expect(merged != Samples.advertisement)
    }

    @Test func structuresReplaceThoseThatSayTheSame() {
        func company(_ bytes: UInt8...) -> AdvertisingStructure { AdvertisingStructure(type: 0xFF, data: Data(bytes)) }
        let flags = AdvertisingStructure(type: 0x01, data: Data([0x06]))
        var merged = Advertisement(otherStructures: [flags, company(1, 0, 5)])
        #expect(merged.merge(Advertisement(otherStructures: [company(2, 0, 6)])) == true)
        #expect(merged.merge(Advertisement(otherStructures: [company(1, 0, 7)])) == true)
        #expect(merged.otherStructures == [flags, company(1, 0, 7), company(2, 0, 6)])
        #expect(merged.merge(Advertisement(otherStructures: [company(1, 0, 7)])) == false, "whatever the order")
    }
}
