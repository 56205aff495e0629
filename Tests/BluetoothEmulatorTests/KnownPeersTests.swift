import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// A host's memory of the devices that it has heard.
@Suite struct KnownPeersTests {
    @Test func aHostRemembersALimitedNumberOfPeersAndConnectsToThoseThatItForgot() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual, seed: 1)
        let central = emulator.makeCentral(RoleOptions(rememberedPeers: 5))
        let sink = RecordingSink()
        let described = ["Own", "Used", "Passing"].map { name in
            PeripheralDescription(
                name: name, advertising: [.init(AdvertisingData(localName: name), interval: .milliseconds(100))])
        }
        let devices = try described.map { try emulator.add($0) }
        central.activate(sink)
        @Sendable func reports() -> [PeerID] {
            sink.events.compactMap { if case .discovered(let discovery) = $0 { discovery.peer } else { nil } }
        }
        try await emulator.advance(by: .seconds(1))
        central.submit(.startScan(ScanParameters()))
        try await emulator.advance(until: { Set(reports()).count == 3 })
        let (own, used) = try (#require(devices[0].identifier()), #require(devices[1].identifier()))
        central.submit(.connect(peer: used, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        @Sendable func links() -> [PeerID] {
            sink.events.compactMap { if case .connected(let peer, _, _, _) = $0 { peer } else { nil } }
        }
        try await emulator.advance(until: { links() == [used] })
        for round in 1...50 {
            devices[2].rotateAddress()
            try await emulator.advance(until: { Set(reports()).count == 3 + round })
        }
        let known = Set(central.knownPeers(Array(Set(reports()))).map(\.id))
        #expect(known.count == 6, "five that were heard, and one that was connected to")
        #expect(known.contains(used) && !known.contains(own))
        central.submit(.connect(peer: own, operation: OperationID(rawValue: 2), options: ConnectOptions()))
        try await emulator.advance(until: { links() == [used, own] })
    }
}
