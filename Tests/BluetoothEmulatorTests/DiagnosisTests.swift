import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// The trace says why something does not happen, and the page "Why does my device not …" quotes it.
@Suite struct DiagnosisTests {
    /// That the trace has a line, and the page too, with `…` for what differs.
    private func expect(_ line: String, quoted: String? = nil, in stage: Stage) throws {
        #expect(stage.emulator.trace.contains { $0.hasSuffix("! " + line) }, "\(stage.emulator.trace.suffix(5))")
        #expect(try Document("WhyDoesMyDeviceNot").text().contains(quoted ?? line), "\(line)")
    }

    @Test func aScanNamesTheDevicesThatItWillNotReport() async throws {
        let stage = Stage()
        let far = try stage.emulator.add(.battery)
        far.setProximity(.outOfRange)
        try stage.emulator.add(PeripheralDescription(name: "Silent"))
        let off = try stage.emulator.add(.currentTime)
        off.setAdvertising(false)
        try stage.emulator.add(.echo)
        let taken = try stage.emulator.add(.heartRateMonitor)
        try await stage.powerOn()
        _ = try await stage.connect(taken)
        stage.submit(.startScan(ScanParameters(services: ["180D"])))
        try await stage.emulator.runUntilIdle()
        try expect(
            "device 1 \"Battery\" will not be discovered: it is out of range",
            quoted: "will not be discovered: it is out of range", in: stage)
        try expect(
            "device 2 \"Silent\" will not be discovered: it has no advertising set",
            quoted: "will not be discovered: it has no advertising set", in: stage)
        try expect(
            "device 3 \"Clock\" will not be discovered: its advertising is off",
            quoted: "will not be discovered: its advertising is off", in: stage)
        try expect(
            "device 4 \"Echo\" will not be discovered: it advertises "
                + "services=[0000EC40-7A3D-4C5B-9E1F-2B6A8D4C0F01], not [180D]",
            quoted: "will not be discovered: it advertises services=", in: stage)
        try expect(
            "device 5 \"Heart Rate Monitor\" will not be discovered: it is connected and does not advertise meanwhile",
            quoted: "will not be discovered: it is connected and does not advertise meanwhile", in: stage)
    }

    @Test func aDeviceThatWillBeDiscoveredIsNotNamed() async throws {
        let stage = Stage()
        let device = try stage.emulator.add(.heartRateMonitor)
        try await stage.powerOn()
        stage.submit(.startScan(ScanParameters(services: ["180D"])))
        try await stage.emulator.advance(by: .seconds(1))
        #expect(!stage.emulator.trace.contains { $0.contains("will not be discovered") })
        #expect(device.identifier() != nil)
    }

    @Test func aValueThatNobodyHearsIsNoted() async throws {
        let stage = try await DeviceStage(.battery)
        stage.device.setBatteryLevel(5)
        stage.device.notify("2A37", value: Data([1]))
        try await stage.emulator.runUntilIdle()
        try expect("new value of 2A19 not sent: nobody subscribes to it", in: stage.stage)
        try expect(
            "control ignored: device 1 has no characteristic 2A37", quoted: "has no characteristic", in: stage.stage)
    }

    @Test func aWriteCommandThatIsLostIsNoted() async throws {
        let stage = try await DeviceStage(.nordicUART)
        let transmit = try stage.found.characteristic(NordicUARTHandler.transmit)
        let receive = try stage.found.characteristic(NordicUARTHandler.receive)
        _ = try await stage.stage.run(
            .writeCommand(link: stage.link, attribute: transmit, value: Data([1])),
            .writeCommand(link: stage.link, attribute: receive, value: Data(count: 183)))
        try expect("write command refused by the device", in: stage.stage)
        try expect("write command longer than the MTU allows dropped", in: stage.stage)
        for _ in 0...20 {
            stage.stage.submit(.writeCommand(link: stage.link, attribute: receive, value: Data([1])))
        }
        try await stage.emulator.runUntilIdle()
        try expect("write command without credit dropped", in: stage.stage)
    }
}
