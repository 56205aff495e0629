import BluetoothBackend
import Testing

/// Tests of the attributes that discoveries find.
@Suite struct AttributeDirectoryTests {
    private func id(_ number: UInt32) -> AttributeID { AttributeID(rawValue: number) }

    private func service(_ number: UInt32, _ uuid: BluetoothUUID, handle: UInt16? = nil) -> ServiceRecord {
        ServiceRecord(id: id(number), uuid: uuid, isPrimary: true, handle: handle)
    }

    private func characteristic(_ number: UInt32, _ uuid: BluetoothUUID, handle: UInt16? = nil) -> CharacteristicRecord
    {
        CharacteristicRecord(id: id(number), uuid: uuid, properties: [.read, .notify], handle: handle)
    }

    private func descriptor(_ number: UInt32, _ uuid: BluetoothUUID) -> DescriptorRecord {
        DescriptorRecord(id: id(number), uuid: uuid)
    }

    /// A service with a characteristic with a descriptor, and a second service that the first one includes.
    private var directory: AttributeDirectory {
        var directory = AttributeDirectory()
        directory.apply(.services([service(1, "180D", handle: 1), service(2, "180F", handle: 9)]), of: nil)
        directory.apply(.services([service(2, "180F", handle: 9)]), of: id(1))
        directory.apply(.characteristics([characteristic(3, "2A37", handle: 3)]), of: id(1))
        directory.apply(.descriptors([descriptor(4, "2902")]), of: id(3))
        return directory
    }

    @Test func anAttributeHasItsPlace() throws {
        let directory = directory
        #expect(directory[id(4)]?.parent == id(3) && directory.uuid(of: id(4)) == "2902" && directory[id(9)] == nil)
        let found = try #require(directory[id(3)])
        #expect(found.parent == id(1) && found.children == [id(4)])
        #expect(found.record.handle == 3 && found.record.properties == [.read, .notify])
        #expect(directory[id(1)]?.included == [id(2)] && directory.services == [id(1), id(2)])
        #expect(directory.children(of: id(3)).compactMap(\.descriptor) == [descriptor(4, "2902")])
        #expect(directory[id(4)]?.record.properties == [])
    }

    @Test func aResponseIsReducedToWhatIsNew() {
        var directory = directory
        let services = [service(1, "180D"), service(5, "1805")]
        #expect(directory.apply(.services(services), of: nil) == .services([services[1]]))
        #expect(directory.apply(.services([service(2, "180F")]), of: id(1)) == .services([]))
        #expect(directory.apply(.services([service(2, "180F")]), of: id(5)) == .services([service(2, "180F")]))
        let characteristics = [characteristic(3, "2A37"), characteristic(6, "2A38")]
        #expect(
            directory.apply(.characteristics(characteristics), of: id(1)) == .characteristics([characteristics[1]]))
        #expect(directory.apply(.descriptors([descriptor(4, "2902")]), of: id(3)) == .descriptors([]))
        #expect(directory[id(1)]?.record.handle == 1, "a known attribute keeps its record")
    }

    @Test func anotherResponseChangesNothing() {
        var directory = directory
        for response in [LinkResponse.written, .rssi(-50), .failure(BackendError(.unknown, operation: "test"))] {
            #expect(directory.apply(response, of: id(1)) == response)
        }
        #expect(directory.count == 4)
    }

    @Test func anIncludedServiceIsFoundByADiscoveryOfServices() {
        var directory = AttributeDirectory()
        directory.apply(.services([service(1, "180D")]), of: nil)
        directory.apply(.services([service(2, "180F")]), of: id(1))
        #expect(directory.services == [id(1)] && directory.uuid(of: id(2)) == "180F")
        #expect(directory.apply(.services([service(2, "180F")]), of: nil) == .services([service(2, "180F")]))
        #expect(directory.services == [id(1), id(2)] && directory.count == 2)
    }

    @Test func siblingsAreInTheOrderOfTheirHandles() {
        var directory = AttributeDirectory()
        directory.apply(.services([service(1, "FFF2", handle: 20)]), of: nil)
        directory.apply(.services([service(2, "FFF1", handle: 10), service(3, "FFF3")]), of: nil)
        #expect(directory.services == [id(2), id(1), id(3)])
        directory.apply(.characteristics([characteristic(5, "FFF5", handle: 24)]), of: id(1))
        directory.apply(.characteristics([characteristic(4, "FFF4", handle: 22)]), of: id(1))
        #expect(directory[id(1)]?.children == [id(4), id(5)])
    }

    @Test func attributesWithoutAHandleKeepTheirPlaces() {
        var directory = AttributeDirectory()
        let found = [(1, nil), (2, 20), (3, nil), (4, 10), (5, 30), (6, 25)] as [(UInt32, UInt16?)]
        for (number, handle) in found { directory.apply(.services([service(number, "FFF0", handle: handle)]), of: nil) }
        #expect(directory.services == [1, 4, 2, 3, 6, 5].map(id))
    }

    @Test func aServiceThatCameBackIsFoundAndIncludedAnew() {
        var directory = directory
        directory.remove([id(2)])
        let again = LinkResponse.services([service(2, "180F", handle: 9)])
        #expect(directory.apply(again, of: nil) == again && directory.apply(again, of: id(1)) == again)
        #expect(directory[id(1)]?.included == [id(2)] && directory.services == [id(1), id(2)])
    }

    @Test func aServiceThatIsGoneTakesItsAttributesAlong() {
        var directory = directory
        let gone = directory.remove([id(1), id(7)])
        #expect(gone.services == [id(1)] && gone.characteristics == [id(3)])
        #expect(directory.count == 1 && directory.services == [id(2)])
        #expect(directory.uuid(of: id(3)) == nil && directory.uuid(of: id(4)) == nil)
    }

    @Test func aServiceThatIsGoneIsIncludedNowhere() {
        var directory = directory
        #expect(directory.remove([id(2)]).services == [id(2)])
        #expect(directory[id(1)]?.included == [])
        #expect(directory.remove([id(2)]).services == [])
    }

    @Test func whatARestoredManagerKnowsIsKnown() {
        var directory = AttributeDirectory()
        directory.apply([
            RestoredCentralState.Service(record: service(1, "180D"), characteristics: [characteristic(2, "2A37")])
        ])
        #expect(directory.services == [id(1)] && directory.children(of: id(1)).map(\.uuid) == ["2A37"])
    }

    @Test func attributesOfUnknownParentsHaveNone() {
        var directory = AttributeDirectory()
        #expect(directory.add(.characteristic(characteristic(2, "2A37")), of: id(1)) == true)
        #expect(directory.add(.descriptor(descriptor(3, "2902")), of: nil) == true)
        #expect(directory.uuid(of: id(2)) == "2A37" && directory[id(3)]?.parent == nil)
        #expect(directory.include(service(4, "180F"), in: id(1)) == true)
        #expect(directory.uuid(of: id(4)) == "180F")
    }

    @Test func moreThanTheLimitIsNotAdded() {
        var directory = AttributeDirectory(limit: 3)
        let services = (1...5).map { service($0, "FFF0") }
        #expect(directory.apply(.services(services), of: nil) == .services(Array(services.prefix(3))))
        #expect(directory.apply(.characteristics([characteristic(9, "FFF1")]), of: id(1)) == .characteristics([]))
        #expect(directory.apply(.services([services[4]]), of: id(1)) == .services([]))
        #expect(directory.apply(.services([services[1]]), of: id(1)) == .services([services[1]]), "a known one")
        #expect(directory.count == 3)
    }
}
