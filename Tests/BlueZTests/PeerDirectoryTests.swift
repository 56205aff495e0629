#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

@Suite struct PeerDirectoryTests {
    private func device(
        _ address: String, isRandom: Bool = true, name: String? = nil, isConnected: Bool = false
    ) -> Device1 {
        var properties: [String: DBusValue] = [
            "Address": .string(address), "AddressType": .string(isRandom ? "random" : "public"),
            "Connected": .boolean(isConnected),
        ]
        if let name { properties["Name"] = .string(name) }
        let objects = ObjectModel()
        _ = objects.changes(by: .interfacesAdded(CentralRoleFixture.device, ["org.bluez.Device1": properties]))
        return objects.devices[CentralRoleFixture.device] ?? Device1(path: .root)
    }

    /// The example of RFC 9562, A.4.
    @Test func version5IsThatOfTheStandard() throws {
        let dns = try #require(UUID(uuidString: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        #expect(UUID.version5(of: "www.example.com", in: dns).uuidString == "2ED6657D-E927-568B-95E1-2665A8AEA6A2")
    }

    @Test(arguments: [("", "da39a3ee"), ("abc", "a9993e36"), (String(repeating: "a", count: 1000), "291e9a6c")])
    func sha1IsThatOfTheStandard(text: String, start: String) {
        let digest = SHA1.digest(of: Array(text.utf8))
        #expect(digest.count == 20)
        #expect(digest.prefix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == start)
    }

    @Test func anIdentifierDependsOnAdapterAddressAndType() {
        let one = PeerDirectory(adapterAddress: "00:00:00:00:00:01")
        let same = PeerDirectory(adapterAddress: "00:00:00:00:00:01")
        let other = PeerDirectory(adapterAddress: "00:00:00:00:00:02")
        let address = "F0:F1:F2:F3:F4:F5"
        let id = one.log(CentralRoleFixture.device, device(address), isNamed: true)
        #expect(same.log(CentralRoleFixture.path("/elsewhere"), device(address), isNamed: true) == id)
        #expect(other.log(CentralRoleFixture.device, device(address), isNamed: true) != id)
        #expect(one.log(CentralRoleFixture.path("/public"), device(address, isRandom: false), isNamed: true) != id)
    }

    /// See https://github.com/hbldh/bleak/issues/1737.
    @Test func anIdentifierSurvivesTheChangeToTheIdentityAddress() throws {
        let directory = PeerDirectory(adapterAddress: "00:00:00:00:00:01")
        let noted = directory.log(CentralRoleFixture.device, device("4A:00:00:00:00:01", name: "Phone"), isNamed: true)
        let id = try #require(noted)
        #expect(
            directory.log(CentralRoleFixture.device, device("00:AA:00:00:00:01", isRandom: false), isNamed: true) == id)
        directory.forgetObject(at: CentralRoleFixture.device)
        #expect(directory.path(of: id) == nil)
        #expect(directory.summary(of: id) == PeerSummary(id: id, name: "Phone", address: "00:AA:00:00:00:01"))
        // The same device under its identity address, as another object.
        let path = CentralRoleFixture.path("/org/bluez/hci0/dev_00_AA_00_00_00_01")
        #expect(directory.log(path, device("00:AA:00:00:00:01", isRandom: false), isNamed: true) == id)
        #expect(directory.path(of: id) == path)
    }

    @Test func theDeviceNameIsForgottenWithTheObject() throws {
        let directory = PeerDirectory(adapterAddress: "00:00:00:00:00:01")
        let address = "F0:F1:F2:F3:F4:F5"
        let noted = directory.log(CentralRoleFixture.device, device(address, name: "Advertised"), isNamed: true)
        let id = try #require(noted)
        let connected = device(address, name: "Own", isConnected: true)
        directory.log(CentralRoleFixture.device, connected, isNamed: true)
        #expect(directory.summary(of: id)?.name == "Own")
        directory.forgetObject(at: CentralRoleFixture.device)
        #expect(directory.summary(of: id)?.name == "Advertised")
    }

    @Test func aDeviceWithoutAnAddressIsNotNoted() {
        let directory = PeerDirectory(adapterAddress: "")
        #expect(directory.log(CentralRoleFixture.device, Device1(path: .root), isNamed: true) == nil)
        #expect(directory.count == 0)
    }

    // MARK: Limits

    private func path(_ number: Int) -> ObjectPath { CentralRoleFixture.path("/org/bluez/hci0/dev_\(number)") }

    private func address(_ number: Int) -> String {
        "F0:00:00:00:\(String(number >> 8, radix: 16)):\(String(number & 0xFF, radix: 16))"
    }

    /// Records a device, and removes its object.
    private func pass(_ number: Int, _ directory: PeerDirectory) throws -> PeerID {
        let peer = directory.log(path(number), device(address(number)), isNamed: true)
        directory.forgetObject(at: path(number))
        return try #require(peer)
    }

    @Test func devicesWithoutAnObjectAreRememberedUpToALimit() throws {
        let directory = PeerDirectory(adapterAddress: "00:00:00:00:00:01")
        directory.remember(atLeast: 10)
        var peers: [PeerID] = []
        for number in 0..<1000 {
            peers.append(try pass(number, directory))
            #expect(directory.count <= 10)
        }
        #expect(peers.filter { directory[$0] != nil } == peers.suffix(10))
        #expect(try pass(0, directory) == peers[0], "its identifier follows from its address")
    }

    @Test func devicesWithAnObjectAreKnownHoweverManyThereAre() throws {
        let directory = PeerDirectory(adapterAddress: "00:00:00:00:00:01")
        directory.remember(atLeast: 10)
        let present = (0..<50).map { directory.log(path($0), device(address($0)), isNamed: true) }
        for number in 100..<200 { _ = try pass(number, directory) }
        for peer in present { #expect(try directory[#require(peer)] != nil) }
        directory.forgetObjects()
        #expect(directory.count == 10)
    }

    @Test func devicesThatWereConnectedToAreNotDisplacedByStrangers() throws {
        let directory = PeerDirectory(adapterAddress: "00:00:00:00:00:01")
        directory.remember(atLeast: 10)
        let own = try pass(0, directory)
        directory.noteUse(of: own)
        for number in 1..<1000 { _ = try pass(number, directory) }
        #expect(directory[own] != nil)
        #expect(directory.count == 11)
        for number in 1..<1000 { directory.noteUse(of: try pass(number, directory)) }
        #expect(directory[own] == nil, "the same limit counts for them")
        #expect(directory.count <= 20)
    }

    @Test func anIdentifierThatDoesNotFollowFromTheAddressGoesWithItsDevice() throws {
        let directory = PeerDirectory(adapterAddress: "00:00:00:00:00:01")
        directory.remember(atLeast: 10)
        let noted = directory.log(path(0), device("4A:00:00:00:00:01"), isNamed: true)
        let identity = device("00:AA:00:00:00:01", isRandom: false)
        #expect(directory.log(path(0), identity, isNamed: true) == noted)
        directory.forgetObject(at: path(0))
        #expect(directory.peer(at: "00:AA:00:00:00:01", isRandom: false) == noted)
        for number in 1..<100 { _ = try pass(number, directory) }
        #expect(directory.peer(at: "00:AA:00:00:00:01", isRandom: false) == nil)
        #expect(directory.log(path(0), identity, isNamed: true) != noted)
    }

    @Test func aSmallerLimitCountsAtOnce() throws {
        let directory = PeerDirectory(adapterAddress: "00:00:00:00:00:01")
        for number in 0..<100 { _ = try pass(number, directory) }
        directory.remember(atLeast: 3)
        #expect(directory.count == 3)
    }

    @Test func theLargestOfSeveralLimitsCounts() throws {
        let directory = PeerDirectory(adapterAddress: "00:00:00:00:00:01")
        for limit in [3, 5, 4] { directory.remember(atLeast: limit) }
        for number in 0..<100 { _ = try pass(number, directory) }
        #expect(directory.count == 5)
    }
}
#endif
