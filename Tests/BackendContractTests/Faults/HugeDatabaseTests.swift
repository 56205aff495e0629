#if BlueZ
import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth
import EmulatedBlueZ
import Testing

/// A device with thousands of attributes, over the BlueZ backend and an emulated `bluetoothd`.
@Suite(.enabled(if: !BlueZFixture.isChosen, "needs no adapter")) struct HugeDatabaseTests {
    private static let services = 1_500
    private static let characteristics = 2

    private static func uuid(_ service: Int, _ characteristic: Int = 0) -> BluetoothUUID {
        BluetoothUUID(String(format: "C0DE0000-0000-0000-%04X-%012X", characteristic, service)) ?? "0000"
    }

    private static var description: PeripheralDescription {
        PeripheralDescription(
            name: "Huge", advertising: [AdvertisingDescription(AdvertisingData(localName: "Huge"))],
            services: (0..<services).map { service in
                ServiceDescription(
                    uuid(service),
                    characteristics: (1...characteristics).map { number in
                        CharacteristicDescription(uuid(service, number), .read, value: Data([UInt8(number)]))
                    })
            })
    }

    /// Finds all attributes, in the order of their handles, in a time that grows with their number.
    @Test(.limitedPrivateBuses, .timeLimit(.minutes(10)))
    func thousandsOfAttributesAreFoundInOrder() async throws {
        let fixture = try await EmulatedBlueZFixture(.bluez5_66)
        try fixture.world.emulator.add(Self.description)
        let central = Central(backend: fixture.backend)
        var huge: Peripheral?
        for try await found in central.scan() where found.advertisement.localName == "Huge" {
            huge = found.peripheral
            break
        }
        let peripheral = try #require(huge)
        let services = try await peripheral.services()
        #expect(services.map(\.uuid) == (0..<Self.services).map { CBUUID(Self.uuid($0)) })
        for (number, service) in services.enumerated() {
            let characteristics = try await peripheral.characteristics(of: service)
            let expected = (1...Self.characteristics).map { CBUUID(Self.uuid(number, $0)) }
            try #require(characteristics.map(\.id.uuid) == expected)
        }
        let last = try #require(services.last)
        let value = try await peripheral.read(
            CharacteristicID(CBUUID(Self.uuid(Self.services - 1, Self.characteristics)), in: last))
        #expect(value == Data([UInt8(Self.characteristics)]))
        await peripheral.disconnect()
    }
}
#endif
