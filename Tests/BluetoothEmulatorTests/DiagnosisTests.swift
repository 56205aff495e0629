import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// The trace explains why something does not happen, and the page "Why does my device not …" quotes it.
@Suite struct DiagnosisTests {
    /// Checks that the trace has a line, and that the page has it with `…` for the variable parts.
    private func expect(_ line: String, quoted: String? = nil, in fixture: Fixture) throws {
        #expect(
            fixture.emulator.trace.contains { $0.category == .note && $0.text == line },
            "\(fixture.emulator.trace.map(\.description).suffix(5))")
        #expect(try Document("WhyDoesMyDeviceNot").text().contains(quoted ?? line), "\(line)")
    }

    @Test func aScanNamesTheDevicesThatItWillNotReport() async throws {
        let fixture = Fixture()
        let far = try fixture.emulator.add(.battery)
        far.setProximity(.outOfRange)
        try fixture.emulator.add(PeripheralDescription(name: "Silent"))
        let off = try fixture.emulator.add(.currentTime)
        off.setAdvertising(false)
        try fixture.emulator.add(.echo)
        let taken = try fixture.emulator.add(.heartRateMonitor)
        try await fixture.powerOn()
        _ = try await fixture.connect(taken)
        fixture.submit(.startScan(ScanParameters(services: ["180D"])))
        try await fixture.emulator.runUntilIdle()
        try expect(
            "device 1 \"Battery\" will not be discovered: it is out of range",
            quoted: "will not be discovered: it is out of range", in: fixture)
        try expect(
            "device 2 \"Silent\" will not be discovered: it has no advertising set",
            quoted: "will not be discovered: it has no advertising set", in: fixture)
        try expect(
            "device 3 \"Clock\" will not be discovered: its advertising is off",
            quoted: "will not be discovered: its advertising is off", in: fixture)
        try expect(
            "device 4 \"Echo\" will not be discovered: it advertises "
                + "services=[0000EC40-7A3D-4C5B-9E1F-2B6A8D4C0F01], not [180D]",
            quoted: "will not be discovered: it advertises services=", in: fixture)
        try expect(
            "device 5 \"Heart Rate Monitor\" will not be discovered: it is connected and does not advertise meanwhile",
            quoted: "will not be discovered: it is connected and does not advertise meanwhile", in: fixture)
    }

    @Test func aDeviceThatWillBeDiscoveredIsNotNamed() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(.heartRateMonitor)
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters(services: ["180D"])))
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(!fixture.emulator.trace.contains { $0.text.contains("will not be discovered") })
        #expect(device.identifier() != nil)
    }

    @Test func aValueThatNobodyHearsIsNoted() async throws {
        let fixture = try await DeviceFixture(.battery)
        try #require(EmulatedBattery(fixture.device)).setLevel(5)
        fixture.device.notify("2A37", value: Data([1]))
        try await fixture.emulator.runUntilIdle()
        try expect("new value of 2A19 not sent: no central subscribes to it", in: fixture.fixture)
        try expect(
            "control ignored: device 1 has no characteristic 2A37", quoted: "has no characteristic", in: fixture.fixture
        )
    }

    @Test func aWriteCommandThatIsLostIsNoted() async throws {
        let fixture = try await DeviceFixture(.nordicUART)
        let transmit = try fixture.found.characteristic(NordicUARTHandler.transmit)
        let receive = try fixture.found.characteristic(NordicUARTHandler.receive)
        _ = try await fixture.fixture.run(
            .writeCommand(link: fixture.link, attribute: transmit, value: Data([1])),
            .writeCommand(link: fixture.link, attribute: receive, value: Data(count: 183)))
        try expect("write command refused by the device", in: fixture.fixture)
        try expect("write command longer than the MTU allows dropped", in: fixture.fixture)
        for _ in 0...20 {
            fixture.fixture.submit(.writeCommand(link: fixture.link, attribute: receive, value: Data([1])))
        }
        try await fixture.emulator.runUntilIdle()
        try expect("write command without credit dropped", in: fixture.fixture)
    }
}
