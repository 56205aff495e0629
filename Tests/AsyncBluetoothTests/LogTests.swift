import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import LogCapture
import Testing

@Suite(.emulator(.instant, seed: 1_067)) struct LogTests {
    /// A device that no other test has, so that the lines about it are this test's.
    private static let device: PeripheralDescription = {
        var description = PeripheralDescription.gadget
        description.address = "C0:DE:10:67:10:67"
        description.advertising = [AdvertisingDescription(AdvertisingData(localName: "Gadget", services: ["A067"]))]
        return description
    }()

    @Test func aConnectionIsReportedInLinesOfItsCategory() async throws {
        LogCapture.start()
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(Self.device)
        try await fixture.run {
            try await gadget.write(Data([0x5E, 0xC2]), to: "FFF0/FFF1")
            await gadget.disconnect()
        }
        let id = gadget.identifier.uuidString
        let lines = LogCapture.lines(containing: id).filter { $0.hasPrefix("AsyncBluetooth ") }
        #expect(
            lines
                == ["connect", "connected to", "disconnect", "disconnected from"]
                .map { "AsyncBluetooth debug \($0) \(id)" })
        #expect(LogCapture.categories(containing: "connected to \(id)") == ["connection"])
        #expect(!LogCapture.lines(containing: "AsyncBluetooth ").contains { $0.uppercased().contains("5EC2") })
    }

    @Test func aScanIsReportedWithItsServices() async throws {
        LogCapture.start()
        let fixture = Fixture()
        try fixture.emulator.add(Self.device)
        let central = fixture.makeCentral()
        try await fixture.run {
            for try await _ in central.scan(for: [CBUUID(string: "A067")]) { break }
        }
        #expect(LogCapture.lines(containing: "scan for [A067]") == ["AsyncBluetooth debug scan for [A067]"])
        #expect(LogCapture.categories(containing: "scan for [A067]") == ["scan"])
    }

    @Test func aServerLogsTheAdaptersState() async throws {
        LogCapture.start()
        let fixture = Fixture()
        let server = fixture.makeServer()
        try await fixture.run { try await server.waitUntilPoweredOn() }
        #expect(LogCapture.categories(containing: "Bluetooth is poweredOn").contains("server"))
    }
}
