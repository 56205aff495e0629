import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Battery Service 1.1 and Device Information Service 1.2, byte by byte.
@Suite struct BatteryAndInformationTests {
    @Test func aNewLevelIsNotifiedAndRead() async throws {
        let fixture = try await DeviceFixture(.battery(level: 80))
        #expect(try await fixture.read("2A19") == .value(Data([80])))
        try await fixture.subscribe("2A19")
        let battery = try #require(EmulatedBattery(fixture.device))
        battery.setLevel(79)
        battery.setLevel(-5)
        battery.setLevel(900)
        #expect(try await fixture.values("2A19", for: .seconds(1)) == [[79], [0], [100]])
        #expect(try await fixture.read("2A19") == .value(Data([100])))
    }

    @Test func eachFieldOfTheInformationIsRead() async throws {
        let fixture = try await DeviceFixture(.deviceInformation)
        let expected: [(BluetoothUUID, Data)] = [
            ("2A29", Data("Emulated Devices".utf8)), ("2A24", Data("DIS-1".utf8)), ("2A25", Data("0001".utf8)),
            ("2A27", Data("A".utf8)), ("2A26", Data("1.0.0".utf8)), ("2A28", Data("1.0.0".utf8)),
            // The manufacturer's 40 bits, then the IEEE's 24 bits, each least significant byte first.
            ("2A23", Data([0x9A, 0x78, 0x56, 0x34, 0x12, 0xF0, 0xDE, 0xBC])),
            ("2A2A", Data([0, 0, 0, 0])),
            // Bluetooth SIG, vendor 0xFFFF, product 1, version 1.0.0.
            ("2A50", Data([0x01, 0xFF, 0xFF, 0x01, 0x00, 0x00, 0x01])),
        ]
        #expect(fixture.found.characteristics.map(\.uuid) == expected.map(\.0))
        for (uuid, value) in expected { #expect(try await fixture.read(uuid) == .value(value), "\(uuid)") }
    }

    @Test func whatIsNotSaidHasNoCharacteristic() {
        let service = ServiceDescription.deviceInformation(DeviceInformationValues(model: "M"))
        #expect(service.characteristics.map(\.uuid) == ["2A24"])
    }
}
