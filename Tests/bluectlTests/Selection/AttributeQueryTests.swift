import AsyncBluetooth
import BluetoothBackend
import Testing

@testable import bluectl

struct AttributeQueryTests {
    private let attributes = [
        DiscoveredCharacteristic(id: "180D/2A37", properties: [], handle: 3),
        DiscoveredCharacteristic(id: "180D/2A38", properties: [], handle: nil),
        DiscoveredCharacteristic(id: "180D/2A37#2", properties: [], handle: 18),
    ]

    @Test func theThreeFormsAreRead() throws {
        #expect(try AttributeQuery("2a37") == .uuid("2A37", ordinal: nil))
        #expect(try AttributeQuery("2A37#2") == .uuid("2A37", ordinal: 2))
        #expect(try AttributeQuery("@18") == .handle(18))
        #expect(try AttributeQuery("@0x0012") == .handle(18))
        #expect(
            try AttributeQuery("C0DE0101-7A3D-4C5B-9E1F-2B6A8D4C0F01")
                == .uuid("C0DE0101-7A3D-4C5B-9E1F-2B6A8D4C0F01", ordinal: nil))
    }

    @Test(arguments: ["", "2A3", "xyz", "2A37#", "2A37#0", "2A37#-1", "2A37#x", "@", "@0", "@70000", "@0xZ", "#2"])
    func otherTextIsAUsageFailure(text: String) {
        #expect(throws: Failure.self) { try AttributeQuery(text) }
        do throws(Failure) {
            _ = try AttributeQuery(text)
        } catch {
            #expect(error.status == .usage)
        }
    }

    @Test(arguments: ["Heart Rate Measurement", "heart rate measurement", "heart-rate-measurement"])
    func aStandardNameIsAsGoodAsAUUID(text: String) throws {
        #expect(try AttributeQuery(text) == .name("Heart Rate Measurement", ordinal: nil))
        #expect(try AttributeQuery(text + "#2").pick(from: attributes, kind: "characteristic").id == attributes[2].id)
        #expect(throws: Failure(.failed, "the device has no service Battery")) {
            try AttributeQuery("battery").pick(from: attributes, kind: "service")
        }
    }

    @Test(arguments: [
        ("Heart Rate 180D", AttributeQuery.uuid("180D", ordinal: nil)),
        ("Body Sensor Location 2A38 @0x0007", .handle(7)), ("FFE1 @0x0010", .handle(16)),
    ])
    func whatListingsPrintIsAccepted(text: String, query: AttributeQuery) throws {
        #expect(try AttributeQuery(text) == query)
    }

    @Test func aNearMissIsSuggested() {
        do throws(Failure) {
            _ = try AttributeQuery("batery level")
            Issue.record("no failure")
        } catch {
            #expect(error.description.hasSuffix("; did you mean \"Battery Level\"?"))
        }
        #expect(throws: Failure.self) { try AttributeQuery("Battery 180D") }
    }

    @Test func aSlashSeparatesServiceAndCharacteristic() throws {
        #expect(try AttributePath(["180D/2A37#2"]) == AttributePath(["180D", "2A37#2"]))
        #expect(try AttributePath(["Heart Rate/Body Sensor Location"]).service == .name("Heart Rate", ordinal: nil))
        #expect(throws: Failure.self) { try AttributePath(["180D/2A37/2902"]) }
        #expect(throws: Failure.self) { try AttributePath(["180D/"]) }
    }

    @Test func theOnlyOneOfAUUIDIsMeant() throws {
        #expect(try AttributeQuery("2A38").pick(from: attributes, kind: "characteristic").id == attributes[1].id)
    }

    @Test func anOrdinalCountsAmongEqualUUIDs() throws {
        #expect(try AttributeQuery("2A37#1").pick(from: attributes, kind: "characteristic").id == attributes[0].id)
        #expect(try AttributeQuery("2A37#2").pick(from: attributes, kind: "characteristic").id == attributes[2].id)
    }

    @Test func aHandleMeansOneAttribute() throws {
        #expect(try AttributeQuery("@18").pick(from: attributes, kind: "characteristic").id == attributes[2].id)
    }

    @Test func anAmbiguousUUIDFailsWithTheChoice() {
        #expect(
            throws: Failure(
                .failed,
                "the device has several of characteristic 2A37: choose 2A37#1 (@0x0003), 2A37#2 (@0x0012)")
        ) { try AttributeQuery("2A37").pick(from: attributes, kind: "characteristic") }
    }

    @Test func whatIsMissingFails() {
        #expect(throws: Failure(.failed, "the device has no service 180D")) {
            try AttributeQuery("180D").pick(from: attributes, kind: "service")
        }
        #expect(throws: Failure(.failed, "there is no characteristic 2A37#3: the device has 2 of 2A37")) {
            try AttributeQuery("2A37#3").pick(from: attributes, kind: "characteristic")
        }
    }

    @Test func aPathHasOneOrTwoWords() throws {
        #expect(try AttributePath(["2A37"]).service == nil)
        #expect(try AttributePath(["180D", "2A37#2"]).service == .uuid("180D", ordinal: nil))
        #expect(try AttributePath(["180D", "2A37#2"]).characteristic == .uuid("2A37", ordinal: 2))
        #expect(throws: Failure.self) { try AttributePath([]) }
        #expect(throws: Failure.self) { try AttributePath(["180D", "2A37", "2A38"]) }
    }
}
