import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

@Suite(.emulator(.instant)) struct FindingTests {
    private func addLamps(_ emulator: Emulator) throws {
        for (name, address) in [("Lamp 1", "C0:00:00:00:00:01"), ("Lamp 2", "C0:00:00:00:00:02")] {
            var lamp = PeripheralDescription.gadget
            lamp.name = name
            lamp.address = .init(stringLiteral: address)
            lamp.advertising = [AdvertisingDescription(AdvertisingData(localName: name, services: ["FFF0"]))]
            try emulator.add(lamp)
        }
    }

    private static func reason(_ body: () async throws -> Void) async throws -> BluetoothError.Reason? {
        do {
            try await body()
            return nil
        } catch let error as BluetoothError {
            return error.reason
        }
    }

    @Test func theFirstThatMatchesIsFoundAndTheScanEnds() async throws {
        let fixture = Fixture()
        try addLamps(fixture.emulator)
        let central = fixture.makeCentral()
        let name = try await fixture.run {
            try await central.first(within: .seconds(3_600)) { $0.advertisement.localName == "Lamp 2" }.peripheral.name
        }
        #expect(name == "Lamp 2")
        #expect(fixture.count(of: "stopScan") == 1)
    }

    @Test func aDeviceIsFoundByItsAddress() async throws {
        let fixture = Fixture()
        try addLamps(fixture.emulator)
        let central = fixture.makeCentral()
        let names = try await fixture.run {
            let scanned = try await central.peripheral(address: "c0:00:00:00:00:02", within: .seconds(3_600))
            try await scanned.connect()
            // The device is connected, and need not advertise.
            let scans = fixture.count(of: "startScan")
            let connected = try await central.peripheral(address: "C0:00:00:00:00:02", within: .seconds(3_600))
            #expect(fixture.count(of: "startScan") == scans)
            #expect(connected === scanned)
            return [scanned.name, scanned.address]
        }
        #expect(names == ["Lamp 2", "C0:00:00:00:00:02"])
    }

    @Test(arguments: [
        "", "C0:00:00:00:00", "C0:00:00:00:00:0G", "C0-00-00-00-00-02", "C0:00:00:00:00:02:", "Ä:0:0:0:0:0",
    ])
    func whatIsNoAddressIsAnError(text: String) async throws {
        let fixture = Fixture()
        let central = fixture.makeCentral()
        let reason = try await fixture.run { () -> BluetoothError.Reason? in
            try await Self.reason { _ = try await central.peripheral(address: text, within: .seconds(3_600)) }
        }
        guard case .malformedAddress(text) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test func anErrorNamesTheDevice() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let error = await #expect(throws: BluetoothError.self) {
            try await fixture.run { _ = try await gadget.read("180D/2A37") }
        }
        #expect(error?.peerName == "Gadget")
        let text =
            "read 180D/2A37 of Gadget (\(gadget.identifier.uuidString)): the device lacks the services 180D"
        #expect(error.map { "\($0)" } == text)
    }

    @Test func aForgottenDeviceIsUnknownUntilItIsFoundAgain() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(.gadget)
        let central = fixture.makeCentral()
        let (error, isSame, value) = try await fixture.run { () -> (BluetoothError?, Bool, Data) in
            let gadget = try await Fixture.first(central)
            try await gadget.connect()
            await gadget.disconnect()
            fixture.emulator.host.forget(device)
            // The manager receives the change on its queue.
            try await fixture.emulator.swiftClock.sleep(for: .milliseconds(1))
            let error = await #expect(throws: BluetoothError.self) { try await gadget.connect() }
            let found = try await Fixture.first(central)
            return (error, found === gadget, try await gadget.read("FFF0/FFF1"))
        }
        guard case .unknownPeripheral = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(isSame)
        #expect(value == Data([1]))
    }
}
