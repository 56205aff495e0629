import BluetoothBackend
import BluetoothEmulator
import BluetoothRecording
import Testing

@Suite struct RecordedDatabaseTests {
    private typealias Name = RecordedDatabase.Name

    private func id(_ number: UInt32) -> AttributeID { AttributeID(rawValue: number) }

    private func service(_ number: UInt32, _ uuid: BluetoothUUID, handle: UInt16? = nil) -> ServiceRecord {
        ServiceRecord(id: id(number), uuid: uuid, isPrimary: true, handle: handle)
    }

    private func characteristic(_ number: UInt32, _ uuid: BluetoothUUID, handle: UInt16? = nil) -> CharacteristicRecord
    {
        CharacteristicRecord(id: id(number), uuid: uuid, properties: [.read, .notify], handle: handle)
    }

    @Test func aSecondLinkNamesTheSameAttributes() {
        var database = RecordedDatabase()
        for link in 1...2 {
            let base = UInt32(link * 100)
            let services = [service(base, "FFF0"), service(base + 1, "FFF0")]
            #expect(database.apply(.services(services), of: nil, on: link) == (link == 1))
            let found = LinkResponse.characteristics([characteristic(base + 2, "FFF1")])
            #expect(database.apply(found, of: id(base + 1), on: link) == (link == 1))
            let name = Name(link: link, id: id(base + 2))
            #expect(database.attribute(name)?.description == "FFF0/FFF1")
        }
        #expect(database.descriptions.count == 2 && database.descriptions[1].characteristics.count == 1)
        database.forget(link: 1)
        #expect(database.attribute(Name(link: 1, id: id(102))) == nil)
        #expect(database.attribute(Name(link: 2, id: id(202))) != nil)
    }

    @Test func servicesAreInTheOrderOfTheirHandles() {
        var database = RecordedDatabase()
        _ = database.apply(.services([service(1, "FFF2", handle: 20)]), of: nil, on: 1)
        let services = [service(2, "FFF1", handle: 10), service(1, "FFF2", handle: 20)]
        _ = database.apply(.services(services), of: nil, on: 1)
        #expect(database.descriptions.map(\.uuid) == ["FFF1", "FFF2"])
    }

    @Test func characteristicsOfOneUUIDAreCounted() {
        var database = RecordedDatabase()
        _ = database.apply(.services([service(1, "FFF0")]), of: nil, on: 1)
        let characteristics = [characteristic(2, "FFF1"), characteristic(3, "FFF1")]
        _ = database.apply(.characteristics(characteristics), of: id(1), on: 1)
        let descriptors = [DescriptorRecord(id: id(4), uuid: "2901"), DescriptorRecord(id: id(5), uuid: "2902")]
        _ = database.apply(.descriptors(descriptors), of: id(3), on: 1)
        #expect(database.attribute(Name(link: 1, id: id(2)))?.description == "FFF0/FFF1")
        #expect(database.attribute(Name(link: 1, id: id(3)))?.description == "FFF0/FFF1#1")
        #expect(database.attribute(Name(link: 1, id: id(4)))?.description == "FFF0/FFF1#1/2901")
        #expect(database.descriptions[0].characteristics[1].descriptors.map(\.uuid) == ["2901"])
    }

    @Test func aServiceIncludesOnlyThoseBeforeIt() {
        var database = RecordedDatabase()
        _ = database.apply(.services([service(1, "FFF0", handle: 5)]), of: nil, on: 1)
        let included = [service(2, "FFF1", handle: 1), service(3, "FFF2", handle: 9)]
        _ = database.apply(.services(included), of: id(1), on: 1)
        #expect(database.descriptions.map(\.uuid) == ["FFF1", "FFF0", "FFF2"])
        #expect(database.descriptions[1].includes == ["FFF1"])
    }

    @Test func whatIsThereByItselfIsNotDescribed() {
        var database = RecordedDatabase()
        _ = database.apply(.services([service(1, "1800"), service(2, "1801"), service(3, "180F")]), of: nil, on: 1)
        #expect(database.descriptions.map(\.uuid) == ["180F"])
    }

    @Test func moreThanTheBoundIsNotKept() {
        var database = RecordedDatabase()
        let services = (0..<5_000).map { service(UInt32($0), "FFF0", handle: UInt16($0)) }
        _ = database.apply(.services(services), of: nil, on: 1)
        #expect(database.descriptions.count == 4_096)
    }
}
