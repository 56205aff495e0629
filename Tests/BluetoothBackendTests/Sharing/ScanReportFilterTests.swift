import FoundationEssentials
import Testing

@testable import BluetoothBackend

/// The reports of a scan that reach the app.
struct ScanReportFilterTests {
    private func report(
        _ advertisement: Advertisement, from peer: PeerID = Samples.peer, rssi: Int = -50
    ) -> Discovery {
        Discovery(peer: peer, name: nil, advertisement: advertisement, rssi: rssi)
    }

    @Test(arguments: [nil, []] as [[BluetoothUUID]?])
    func S17_noFilterOrAnEmptyOnePassesEveryAdvertiser(_ services: [BluetoothUUID]?) {
        var filter = ScanReportFilter(ScanParameters(services: services))
        #expect(filter.admit(report(Advertisement())) != nil)
    }

    @Test func S18_anyAdvertisedOrOverflowUUIDMatchesInAnyWidthAndServiceDataDoesNot() {
        let parameters = ScanParameters(services: ["180D", "1809"])
        #expect(parameters.matches(Advertisement(serviceUUIDs: ["0000180D-0000-1000-8000-00805F9B34FB"])))
        #expect(parameters.matches(Advertisement(overflowServiceUUIDs: ["1809"])))
        #expect(!parameters.matches(Advertisement(serviceUUIDs: ["180F"])))
        #expect(!parameters.matches(Advertisement(serviceData: ["180D": Data()])))
        #expect(!parameters.matches(Advertisement(solicitedServiceUUIDs: ["180D"])))
    }

    @Test func S19_aSolicitedServiceMatchesToo() {
        let parameters = ScanParameters(services: ["180D"], solicitedServices: ["1805"])
        #expect(parameters.matches(Advertisement(solicitedServiceUUIDs: ["1805"])))
        #expect(parameters.matches(Advertisement(serviceUUIDs: ["180D"])))
        #expect(!parameters.matches(Advertisement(serviceUUIDs: ["1805"])))
        #expect(!ScanParameters(solicitedServices: ["1805"]).matches(Advertisement(serviceUUIDs: ["180D"])))
    }

    @Test func S20_aNewScanReportsKnownPeersAgain() {
        let heard = report(Advertisement(localName: "Name"))
        var first = ScanReportFilter(ScanParameters())
        #expect(first.admit(heard) != nil)
        #expect(first.admit(heard) == nil)
        var second = ScanReportFilter(ScanParameters())
        #expect(second.admit(heard) != nil)
    }

    @Test func S21_withoutDuplicatesOnlyWhatAddsSomethingPasses() throws {
        var filter = ScanReportFilter(ScanParameters())
        #expect(filter.admit(report(Advertisement(serviceUUIDs: ["180D"]))) != nil)
        #expect(filter.admit(report(Advertisement(serviceUUIDs: ["180D"]), rssi: -80)) == nil)
        let admitted = filter.admit(report(Advertisement(localName: "Name"), rssi: -70))
        let response = try #require(admitted)
        #expect(response.rssi == -70)
        #expect(filter.admit(report(Advertisement(serviceUUIDs: ["180D"]))) == nil)
        #expect(filter.admit(report(Advertisement(manufacturerData: Data([1, 0, 1])))) != nil)
        #expect(filter.admit(report(Advertisement(manufacturerData: Data([1, 0, 2])))) != nil)
    }

    @Test func S21_anEmptyFirstPacketIsAReportToo() {
        var filter = ScanReportFilter(ScanParameters())
        #expect(filter.admit(report(Advertisement())) != nil)
        #expect(filter.admit(report(Advertisement())) == nil)
    }

    @Test func S21_peersAreDistinguished() {
        var filter = ScanReportFilter(ScanParameters())
        let advertisement = Advertisement(localName: "Twin")
        #expect(filter.admit(report(advertisement)) != nil)
        #expect(filter.admit(report(advertisement, from: Samples.otherPeer))?.peer == Samples.otherPeer)
        filter.forget(Samples.peer)
        #expect(filter.admit(report(advertisement)) != nil)
        #expect(filter.admit(report(advertisement, from: Samples.otherPeer)) == nil)
    }

    @Test func S22_withDuplicatesEachMatchingPacketPasses() {
        var filter = ScanReportFilter(ScanParameters(services: ["180D"], allowDuplicates: true))
        let heard = report(Advertisement(serviceUUIDs: ["180D"]))
        #expect((0..<3).compactMap { _ in filter.admit(heard) }.count == 3)
        #expect(filter.admit(report(Advertisement(), from: Samples.otherPeer)) == nil)
    }

    @Test func S24_aReportCarriesAllThatIsKnown() throws {
        var filter = ScanReportFilter(ScanParameters(allowDuplicates: true))
        _ = filter.admit(report(Advertisement(serviceUUIDs: ["180D"], isConnectable: true)))
        let admitted = filter.admit(report(Advertisement(localName: "Name")))
        let merged = try #require(admitted)
        #expect(
            merged.advertisement == Advertisement(localName: "Name", serviceUUIDs: ["180D"], isConnectable: true))
    }

    @Test func S24_aPeerIsReportedOnceItsScanResponseMatches() throws {
        var filter = ScanReportFilter(ScanParameters(services: ["180D"]))
        #expect(filter.admit(report(Advertisement(localName: "Name"))) == nil)
        let admitted = filter.admit(report(Advertisement(serviceUUIDs: ["180D"])))
        let matching = try #require(admitted)
        #expect(matching.advertisement.localName == "Name")
    }

    @Test func aFilterRemembersNoMorePeersThanItsLimit() {
        var filter = ScanReportFilter(ScanParameters(), remembering: 100)
        let peers = (0..<1000).map { _ in PeerID(UUID()) }
        for peer in peers {
            #expect(filter.admit(report(Advertisement(), from: peer)) != nil)
            #expect(filter.count <= 100)
        }
        #expect(filter.admit(report(Advertisement(), from: peers[900])) == nil, "it is remembered")
        #expect(filter.admit(report(Advertisement(), from: peers[0])) != nil, "it was forgotten, and is reported anew")
    }

    @Test func aPeerThatKeepsChangingItsDataIsNotRememberedWithAllOfIt() {
        var filter = ScanReportFilter(ScanParameters())
        for number in 0..<10_000 {
            let uuid = BluetoothUUID(UInt16(number))
            let advertisement = Advertisement(
                serviceUUIDs: [uuid], solicitedServiceUUIDs: [uuid], serviceData: [uuid: Data([1])])
            let merged = filter.admit(report(advertisement))?.advertisement
            #expect(merged?.serviceUUIDs?.count ?? .max <= 64)
            #expect(merged?.solicitedServiceUUIDs?.count ?? .max <= 64)
            #expect(merged?.serviceData?.count ?? .max <= 64)
            #expect(merged?.serviceUUIDs?.contains(uuid) == true)
        }
    }
}
