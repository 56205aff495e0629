import AsyncBluetooth
import BluetoothEmulator
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothTesting
import Testing

/// Current Time, Device Information and Nordic UART.
@Suite(.emulator(.instant)) struct ClockAndLineTests {
    @Test func anEmulatedClockIsReadAndSet() async throws {
        let stage = ProfileStage()
        try stage.emulator.add(.currentTime)
        try await Self.useClock(stage, try await stage.find(CurrentTimeService.uuid))
    }

    @Test func aClockThatIsServedIsReadAndSet() async throws {
        let stage = ProfileStage()
        let (device, peripheral) = try await stage.simulate(CurrentTimeServer())
        try await Self.useClock(stage, peripheral)
        device.stop()
    }

    private static func useClock(_ stage: ProfileStage, _ peripheral: Peripheral) async throws {
        try await stage.emulator.run { () async throws in
            let client = CurrentTimeClient(peripheral)
            let time = try await client.time()
            #expect(time.dayOfWeek == DayOfWeek(of: time.dateTime))
            #expect(time.adjustReason == [])
            #expect(try await client.localTimeInformation()?.offset == .zero)
            #expect(try await client.referenceTimeInformation()?.source == .networkTimeProtocol)
            let wanted = try #require(
                DateTime(year: 2031, month: 12, day: 24, hours: 18, minutes: 30, seconds: 5))
            try await client.setTime(CurrentTime(wanted))
            let set = try await client.time()
            #expect(set.dateTime == wanted)
            #expect(set.dayOfWeek == .wednesday)
            #expect(try await client.referenceTimeInformation()?.source == .manual)
        }
    }

    @Test func aDeviceSaysWhatItsMakerSays() async throws {
        let stage = ProfileStage()
        try stage.emulator.add(.deviceInformation)
        let peripheral = try await stage.find(DeviceInformationService.uuid)
        try await stage.emulator.run { () async throws in
            let values = try await DeviceInformationClient(peripheral).values()
            #expect(values.manufacturer == "Emulated Devices")
            #expect(values.systemID?.organizationallyUniqueIdentifier == 0xBC_DEF0)
            #expect(values.pnpID == PnPID(source: .bluetooth, vendor: 0xFFFF, product: 1, version: 0x0100))
            #expect(values.regulatoryCertification == Data([0, 0, 0, 0]))
        }
    }

    @Test func whatIsNotSaidHasNoCharacteristic() async throws {
        let stage = ProfileStage()
        let said = DeviceInformationValues(
            model: "M", systemID: SystemID(deviceAddress: 0x1234_569A_BCDE),
            pnpID: PnPID(source: .usb, vendor: 1, product: 2, version: 3),
            uniqueDeviceIdentifier: UniqueDeviceIdentifier(label: "(01)00844588003288", issuer: "2.16.840"))
        let (device, peripheral) = try await stage.simulate(DeviceInformationServer(said))
        try await stage.emulator.run { () async throws in
            #expect(try await DeviceInformationClient(peripheral).values() == said)
            #expect(try await peripheral.characteristics(of: "180A").count == 4)
        }
        device.stop()
    }

    @Test func anEmulatedLineAnswers() async throws {
        let stage = ProfileStage()
        try stage.emulator.add(.nordicUART)
        try await Self.talk(stage, try await stage.find(NordicUARTService.uuid))
    }

    @Test func aLineThatIsServedAnswers() async throws {
        let stage = ProfileStage()
        let (device, peripheral) = try await stage.simulate(NordicUARTServer())
        try await Self.talk(stage, peripheral)
        device.stop()
    }

    private static func talk(_ stage: ProfileStage, _ peripheral: Peripheral) async throws {
        try await stage.emulator.run { () async throws in
            let client = NordicUARTClient(peripheral)
            let long = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })
            let received = try await peripheral.subscribe(to: NordicUARTService.transmit.id)
            try await client.send(Data("hello".utf8))
            try await client.send(long)
            var bytes = Data()
            for try await piece in received {
                bytes += piece
                if bytes.count >= 1005 { break }
            }
            #expect(bytes == Data("hello".utf8) + long)
        }
    }
}
