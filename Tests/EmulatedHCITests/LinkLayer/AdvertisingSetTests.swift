import BluetoothEmulator
import Dispatch
import Testing

@testable import BluetoothHCI
@testable import EmulatedHCI

/// The advertising sets of a host outside of the emulator, in the world.
@Suite struct AdvertisingSetTests {
    private let emulator = Emulator(configuration: .instant)
    private let queue = DispatchQueue(label: "sets")
    private let layer: EmulatedLinkLayer

    init() throws {
        let host = try emulator.add(HostDescription(name: "phone"))
        layer = EmulatedLinkLayer(host, on: queue, bonds: SecurityBonds()) { _ in }
        queue.sync { [layer] in layer.begin() }
    }

    private func advertise(_ set: UInt8, from address: UInt64?) {
        let settings = address.map {
            LinkLayerCommand.AdvertisingSettings(
                address: HCIAddress(bits: $0, isRandom: false), data: [2, 1, 6], scanResponse: [],
                interval: .milliseconds(100), isConnectable: true, isScannable: true, isExtended: false, peer: nil,
                acceptedCentrals: nil)
        }
        queue.sync { layer.perform(.advertise(set: set, settings)) }
    }

    private var sets: [String: [Bool]] {
        Dictionary(
            uniqueKeysWithValues: emulator.devices.map { device in
                (device.name, device.presentDescription?.advertising.map(\.isEnabled) ?? [])
            })
    }

    @Test func setsWithOneAddressAreOneDevice() {
        advertise(1, from: 1)
        advertise(2, from: 1)
        #expect(sets == ["phone": [true, true]])
        advertise(1, from: nil)
        #expect(sets == ["phone": [false, true]])
        advertise(1, from: 1)
        #expect(sets == ["phone": [true, true]])
    }

    @Test func setsWithDifferentAddressesAreDevicesThatGoWithTheirLastSet() {
        advertise(1, from: 1)
        advertise(2, from: 2)
        #expect(sets == ["phone": [true], "phone 2": [true]])
        advertise(1, from: 2)
        #expect(sets == ["phone 2": [true, true]])
        advertise(3, from: 3)
        #expect(sets == ["phone 2": [true, true], "phone": [true]])
        queue.sync { layer.end() }
        #expect(sets == [:])
    }

    @Test func aSetIsOnTheAirWhileACentralIsConnectedIfItsHostWantsThat() throws {
        advertise(1, from: 1)
        let description = try #require(emulator.devices.first?.presentDescription?.advertising.first)
        #expect(description.continuesWhileConnected)
    }
}
