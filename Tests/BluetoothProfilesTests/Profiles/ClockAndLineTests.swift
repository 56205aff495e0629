import AsyncBluetooth
import BluetoothEmulator
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothTesting
import Testing

/// Current Time, Device Information and Nordic UART.
@Suite(.emulator(.instant)) struct ClockAndLineTests {
    @Test func anEmulatedClockIsReadAndSet() async throws {
        let fixture = ProfileFixture()
        try fixture.emulator.add(.currentTime)
        try await Self.useClock(fixture, try await fixture.find(CurrentTimeService.uuid))
    }

    @Test func aClockThatIsServedIsReadAndSet() async throws {
        let fixture = ProfileFixture()
        let (device, peripheral) = try await fixture.simulate(CurrentTimeServer())
        try await Self.useClock(fixture, peripheral)
        device.stop()
    }

    private static func useClock(_ fixture: ProfileFixture, _ peripheral: Peripheral) async throws {
        try await fixture.emulator.run { () async throws in
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
        let fixture = ProfileFixture()
        try fixture.emulator.add(.deviceInformation)
        let peripheral = try await fixture.find(DeviceInformationService.uuid)
        try await fixture.emulator.run { () async throws in
            let values = try await DeviceInformationClient(peripheral).values()
            #expect(values.manufacturer == "Emulated Devices")
            #expect(values.systemID?.organizationallyUniqueIdentifier == 0xBC_DEF0)
            #expect(values.pnpID == PnPID(source: .bluetooth, vendor: 0xFFFF, product: 1, version: 0x0100))
            #expect(values.regulatoryCertification == Data([0, 0, 0, 0]))
        }
    }

    @Test func whatIsNotSaidHasNoCharacteristic() async throws {
        let fixture = ProfileFixture()
        let said = DeviceInformationValues(
            model: "M", systemID: SystemID(deviceAddress: 0x1234_569A_BCDE),
            pnpID: PnPID(source: .usb, vendor: 1, product: 2, version: 3),
            uniqueDeviceIdentifier: UniqueDeviceIdentifier(label: "(01)00844588003288", issuer: "2.16.840"))
        let (device, peripheral) = try await fixture.simulate(DeviceInformationServer(said))
        try await fixture.emulator.run { () async throws in
            #expect(try await DeviceInformationClient(peripheral).values() == said)
            #expect(try await peripheral.characteristics(of: "180A").count == 4)
        }
        device.stop()
    }

    @Test func anEmulatedLineAnswers() async throws {
        let fixture = ProfileFixture()
        try fixture.emulator.add(.nordicUART)
        try await Self.talk(fixture, try await fixture.find(NordicUARTService.uuid))
    }

    @Test func aLineThatIsServedAnswers() async throws {
        let fixture = ProfileFixture()
        let (device, peripheral) = try await fixture.simulate(NordicUARTServer())
        try await Self.talk(fixture, peripheral)
        device.stop()
    }

    private static func talk(_ fixture: ProfileFixture, _ peripheral: Peripheral) async throws {
        try await fixture.emulator.run { () async throws in
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
