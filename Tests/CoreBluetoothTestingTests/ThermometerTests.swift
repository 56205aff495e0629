import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// The code of the article "Emulating a device": an app and its tests, from the beginning to a firmware update.
@Suite(.emulator(.instant)) struct ThermometerTests {
    private let measurement = "2A1C"
    private let serial = "2A25"

    /// A thermometer that measures each second, and whose serial number only bonded centrals may read.
    private func thermometer() -> PeripheralDescription {
        var device = PeripheralDescription.healthThermometer(temperature: 36.6, interval: 1)
        let number = CharacteristicDescription(
            "2A25", .read, value: Data("0001".utf8), permissions: .readEncryptionRequired)
        device.services.append(ServiceDescription("FFF0", characteristics: [number]))
        return device
    }

    @Test func theTemperatureIsShown() async throws {
        let emulator = Emulator.current
        let device = try emulator.add(thermometer())
        let app = ThermometerApp()
        await emulator.expect(.didDiscover, .didConnect, .didUpdateValue.of(measurement))
        #expect(app.temperatures == [36.6])
        try #require(EmulatedThermometer(device)).setTemperature(38.2)
        await emulator.expect(.didUpdateValue.of(measurement))
        #expect(app.temperatures == [36.6, 38.2])
        app.stop()
    }

    @Test func theSerialNumberIsReadOncePaired() async throws {
        let emulator = Emulator.current
        let device = try emulator.add(thermometer())
        let app = ThermometerApp()
        await emulator.expect(.didUpdateValue.of(serial).succeeding)
        #expect(app.serialNumber == "0001")
        #expect(emulator.host.isBonded(with: device))
        app.stop()
    }

    @Test func aRefusedPairingIsAnError() async throws {
        let emulator = Emulator.current
        let device = try emulator.add(thermometer())
        try device.setPairing(PairingDescription(answer: .reject))
        let app = ThermometerApp()
        await emulator.expect(.didUpdateValue.of(serial).failing)
        #expect(app.serialNumber == nil)
        #expect((app.problem as? CBATTError) != nil)
        app.stop()
    }

    @Test func aLostLinkComesBack() async throws {
        let emulator = Emulator.current
        let device = try emulator.add(thermometer())
        let app = ThermometerApp()
        await emulator.expect(.didUpdateValue.of(measurement))
        device.setProximity(.outOfRange)
        // The supervision timeout is four seconds of virtual time.
        await emulator.expect(.didDisconnectPeripheral.failing)
        device.setProximity(.near)
        await emulator.expect(.didConnect, .didUpdateValue.of(measurement))
        app.stop()
    }

    @Test func aFirmwareUpdateBringsAnotherSerialNumber() async throws {
        let emulator = Emulator.current
        let device = try emulator.add(thermometer())
        let app = ThermometerApp()
        await emulator.expect(.didUpdateValue.of(serial))
        device.removeService("FFF0")
        let number = CharacteristicDescription("2A25", .read, value: Data("0001-B".utf8))
        try device.addService(ServiceDescription("FFF1", characteristics: [number]))
        await emulator.expect(.didModifyServices, .didUpdateValue.of(serial))
        #expect(app.serialNumber == "0001-B")
        // The new firmware restarts: the link is lost, and the device advertises again.
        device.reset()
        await emulator.expect(.didDisconnectPeripheral.failing, .didConnect, .didUpdateValue.of(measurement))
        app.stop()
    }
}
