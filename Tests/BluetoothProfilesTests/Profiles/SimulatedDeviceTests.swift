import AsyncBluetooth
import BluetoothEmulator
import BluetoothProfiles
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Synchronization
import Testing

@Suite(.emulator(.instant)) struct SimulatedDeviceTests {
    /// The characteristic of a lamp, as an example of a custom profile.
    private static let brightness = GATTCharacteristic<UInt8>("FFE1", in: "FFE0", [.read, .write, .notify])

    private static func lamp(_ accept: (@Sendable (UInt8) throws -> Void)? = nil) -> (ValueServer, ServedValue<UInt8>) {
        let value = ServedValue(brightness, 5, accept: accept)
        return (ValueServer(service: CBUUID(string: "FFE0"), values: [value]), value)
    }

    @Test func whatAClientWritesIsKeptAndSentToSubscribers() async throws {
        let fixture = ProfileFixture()
        let (server, value) = Self.lamp()
        let (device, peripheral) = try await fixture.simulate(server)
        try await fixture.emulator.run { () async throws in
            let heard = try await peripheral.subscribe(to: Self.brightness.id)
            try await peripheral.write(9, to: Self.brightness)
            #expect(try await heard.first(1) == [Data([9])])
            #expect(try await peripheral.read(Self.brightness) == 9)
        }
        #expect(value.value == 9)
        device.stop()
    }

    @Test func aServerRefusesWithAnATTError() async throws {
        let fixture = ProfileFixture()
        let (server, value) = Self.lamp { if $0 > 100 { throw CBATTError(.insufficientResources) } }
        let (device, peripheral) = try await fixture.simulate(server)
        try await fixture.emulator.run { () async throws in
            let error = await #expect(throws: (any Error).self) {
                try await peripheral.write(101, to: Self.brightness)
            }
            #expect(attCode(error) == CBATTError.insufficientResources.rawValue)
        }
        #expect(value.value == 5)
        device.stop()
    }

    @Test func valuesBeyondTheRoomWaitAndKeepTheirOrder() async throws {
        let fixture = ProfileFixture()
        let (server, value) = Self.lamp()
        let (device, peripheral) = try await fixture.simulate(server)
        try await fixture.emulator.run { () async throws in
            let heard = try await peripheral.subscribe(to: Self.brightness.id)
            for number in 0..<200 { value.send(UInt8(number)) }
            #expect(try await heard.first(200) == (0..<200).map { Data([UInt8($0)]) })
        }
        device.stop()
    }

    @Test func eventsShowWhatHappens() async throws {
        let fixture = ProfileFixture()
        let (server, _) = Self.lamp()
        let events = Lock<[String]>([])
        let (device, peripheral) = try await fixture.simulate(server) { event in
            events.withLock { $0.append(Self.text(event)) }
        }
        try await fixture.emulator.run { () async throws in
            let heard = try await peripheral.subscribe(to: Self.brightness.id)
            #expect(try await peripheral.read(Self.brightness) == 5)
            try await peripheral.write(6, to: Self.brightness)
            #expect(try await heard.first(1).count == 1)
        }
        let seen = events.withLock { $0 }
        #expect(
            seen.prefix(7) == [
                "state", "published FFE0", "advertising FFE0", "subscribed FFE0/FFE1", "read FFE0/FFE1 05",
                "wrote FFE0/FFE1 06", "notified FFE0/FFE1 06",
            ])
        device.stop()
    }

    private static func text(_ event: SimulatedDevice.Event) -> String {
        switch event {
        case .published(let services): "published " + services.map(\.description).joined()
        case .advertising(let services): "advertising " + services.map(\.uuidString).joined()
        case .read(_, let id, _, .success(let value)): "read \(id) \(value.hex)"
        case .read(_, let id, _, .failure(let error)): "read \(id) refused \(error.code.rawValue)"
        case .wrote(let request, let id, let error):
            "wrote \(id) \(request.value.hex)" + (error == nil ? "" : " refused")
        case .subscribed(_, let id): "subscribed \(id)"
        case .unsubscribed(_, let id): "unsubscribed \(id)"
        case .notified(let id, let value, _): "notified \(id) \(value.hex)"
        case .failed(let error): "failed \(error)"
        case .stateChanged: "state"
        }
    }

    @Test func aDeviceStartsOnceAndAgainAfterItStopped() async throws {
        let fixture = ProfileFixture()
        let (server, _) = Self.lamp()
        let (device, peripheral) = try await fixture.simulate(server)
        let emulator = fixture.emulator
        try await fixture.emulator.run { () async throws in
            await #expect(throws: SimulatedDeviceError.self) { try await device.start(on: .emulator(emulator)) }
            #expect(try await peripheral.read(Self.brightness) == 5)
            await peripheral.disconnect()
            device.stop()
            try await device.start(on: .emulator(emulator))
        }
        let again = try await fixture.find(CBUUID(string: "FFE0"))
        try await fixture.emulator.run { () async throws in #expect(try await again.read(Self.brightness) == 5) }
        device.stop()
    }

    @Test func aServiceThatTheSystemRefusesEndsTheStart() async throws {
        let fixture = ProfileFixture()
        let server = ValueServer(service: CBUUID(string: "1800"), values: [])
        let events = Lock<[String]>([])
        let device = SimulatedDevice(name: "Refused", servers: [server]) { event in
            events.withLock { $0.append(Self.text(event)) }
        }
        try await fixture.emulator.run { () async throws in
            let error = await #expect(throws: SimulatedDeviceError.self) { try await device.start() }
            guard case .serviceRefused(let uuid, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(uuid == CBUUID(string: "1800"))
        }
        #expect(events.withLock { $0 }.last?.hasPrefix("failed publish 1800") == true)
    }

    @Test func aStartEndsWhereTheAdapterIsOffAndSucceedsWhenItIsOn() async throws {
        let fixture = ProfileFixture()
        let emulator = fixture.emulator
        let device = SimulatedDevice(name: "Simulated", servers: [Self.lamp().0])
        try await emulator.run { try await device.start() }
        device.stop()
        // The host that is no longer in use serves the next start.
        try await emulator.advance(by: .seconds(1))
        let host = try #require(emulator.hosts.first { $0.name != "default" })
        host.setPower(false)
        try await emulator.run { () async throws in
            let error = await #expect(throws: SimulatedDeviceError.self) { try await device.start() }
            guard case .unavailable(.poweredOff) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            host.setPower(true)
            try await device.start()
        }
        let peripheral = try await fixture.find(CBUUID(string: "FFE0"))
        try await emulator.run { () async throws in #expect(try await peripheral.read(Self.brightness) == 5) }
        device.stop()
    }

    @Test func aDeviceIsOnTheAirAnewWhenItsAdapterIsOnAgain() async throws {
        let fixture = ProfileFixture()
        let (server, value) = Self.lamp()
        let (device, peripheral) = try await fixture.simulate(server)
        try await fixture.emulator.run { () async throws in #expect(try await peripheral.read(Self.brightness) == 5) }
        let host = try #require(fixture.emulator.hosts.first { $0.name != "default" })
        host.setPower(false)
        try await fixture.emulator.advance(by: .seconds(30))
        value.value = 7
        host.setPower(true)
        let again = try await fixture.find(CBUUID(string: "FFE0"))
        try await fixture.emulator.run { () async throws in #expect(try await again.read(Self.brightness) == 7) }
        device.stop()
    }

    @Test func allStandardProfilesGoOnTheAirByThemselves() async throws {
        let fixture = ProfileFixture()
        for profile in StandardProfile.allCases {
            let (device, peripheral) = try await fixture.simulate(profile.makeServer())
            try await fixture.emulator.run { () async throws in
                let characteristics = try await peripheral.characteristics(of: ServiceID(profile.service))
                #expect(!characteristics.isEmpty)
                for characteristic in characteristics where characteristic.properties.contains(.read) {
                    let value = try await peripheral.read(characteristic.id)
                    let bits = UInt16(characteristic.id.uuid.uuidString, radix: 16)
                    let type = try #require(bits.flatMap { StandardValues.type(of: $0) })
                    #expect(throws: Never.self) { try Self.decode(type, value) }
                }
                await peripheral.disconnect()
            }
            device.stop()
        }
    }

    private static func decode<Value: GATTValue>(_ type: Value.Type, _ data: Data) throws {
        _ = try type.init(decoding: data)
    }
}
