import Foundation
import Testing

@testable import bluectl

struct DeviceQueryTests {
    private let identifier = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private func device(
        _ identifier: UUID = UUID(), address: String? = nil, name: String? = nil, advertised: String? = nil
    ) -> DeviceRecord {
        DeviceRecord(identifier: identifier, address: address, name: name, advertisedName: advertised)
    }

    @Test func aUUIDIsAnIdentifier() {
        #expect(DeviceQuery("01020304-0506-0708-090a-0b0c0d0e0f10") == .identifier(identifier))
    }

    @Test(arguments: ["f0:F1:f2:f3:f4:f5", "F0-F1-F2-F3-F4-F5", "F0_F1_F2_F3_F4_F5"])
    func sixBytesAreAnAddress(text: String) {
        #expect(DeviceQuery(text) == .address("F0:F1:F2:F3:F4:F5"))
    }

    @Test(arguments: ["Heart Rate Monitor", "F0:F1:F2:F3:F4", "F0:F1:F2:F3:F4:G5", "F0:F1-F2:F3:F4:F5", "180D"])
    func anythingElseIsAName(text: String) {
        #expect(DeviceQuery(text) == .name(text))
    }

    @Test func emptyTextIsNoDevice() {
        #expect(DeviceQuery("") == nil)
    }

    @Test func namesMatchWholeAndIgnoringCase() throws {
        let query = try #require(DeviceQuery("echo"))
        #expect(query.matches(device(name: "Echo")))
        #expect(query.matches(device(name: "Other", advertised: "ECHO")))
        #expect(!query.matches(device(name: "Echo 2")))
        #expect(!query.matches(device()))
    }

    @Test func addressesMatchIgnoringCase() throws {
        let query = try #require(DeviceQuery("F0:F1:F2:F3:F4:F5"))
        #expect(query.matches(device(address: "f0:f1:f2:f3:f4:f5")))
        #expect(!query.matches(device(address: "F0:F1:F2:F3:F4:F6")))
        #expect(!query.matches(device()))
    }

    @Test func identifiersMatchOneDevice() {
        #expect(DeviceQuery.identifier(identifier).matches(device(identifier)))
        #expect(!DeviceQuery.identifier(identifier).matches(device()))
    }

    @Test func onlyNamesCanMeanSeveralDevices() {
        #expect(DeviceQuery.identifier(identifier).isUnique)
        #expect(DeviceQuery.address("F0:F1:F2:F3:F4:F5").isUnique)
        #expect(!DeviceQuery.name("Echo").isUnique)
    }
}
