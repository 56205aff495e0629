package import BluetoothEmulator
import Foundation

/// An emulated device that notifies numbered values: the number of its process, and that of the value, from 1.
package struct SequenceDevice: EmulatedPeripheralHandler {
    /// The service and characteristic of the values: eight bytes, `process << 32 | number` in little-endian order.
    package static let path = "FFF0/FFF1"
    /// A characteristic that accepts commands, and has the last one as its value.
    package static let commandPath = "FFF0/FFF2"

    private static let timer = 1

    let process: UInt32
    let interval: Duration
    let ledger: SentLedger
    let index: Int

    /// - Parameters:
    ///   - process: The number of the process, from 1.
    ///   - ledger: Counts the values.
    ///   - index: The place of this device in the ledger.
    package init(process: UInt32, every interval: Duration, _ ledger: SentLedger, index: Int) {
        self.process = process
        self.interval = interval
        self.ledger = ledger
        self.index = index
    }

    package func makeState() -> UInt32 { 0 }

    package func handle(_ event: DeviceEvent, state: inout UInt32, device: inout DeviceActions) {
        switch event {
        case .subscribed(_, _, characteristic: "FFF1"):
            // Devices are not in step: each begins at a different part of the interval.
            device.startTimer(Self.timer, after: interval * (index % 50 + 1) / 50, every: interval)
        case .unsubscribed(_, _, characteristic: "FFF1"), .disconnected: device.stopTimer(Self.timer)
        case .timer(Self.timer) where !ledger.isClosed:
            state += 1
            ledger.setCount(state, of: index)
            let value = UInt64(process) << 32 | UInt64(state)
            device.notify("FFF1", value: withUnsafeBytes(of: value.littleEndian) { Data($0) })
        default: break
        }
    }

    /// Returns the address of a device of the world.
    package static func address(_ index: Int) -> String {
        func byte(_ value: Int) -> String { (value < 16 ? "0" : "") + String(value, radix: 16, uppercase: true) }
        return "C0:DE:5E:00:\(byte(index / 256)):\(byte(index % 256))"
    }

    /// Adds the number of devices that the ledger counts.
    package static func populate(
        _ emulator: Emulator, process: UInt32, every interval: Duration, _ ledger: SentLedger
    ) throws {
        for index in 0..<ledger.devices {
            let description = PeripheralDescription(
                name: "Sequence \(index)", address: DeviceAddress(address(index)),
                advertising: [AdvertisingDescription(AdvertisingData(localName: "Sequence \(index)"))],
                services: [
                    ServiceDescription(
                        "FFF0",
                        characteristics: [
                            CharacteristicDescription("FFF1", [.read, .notify], value: Data(count: 8)),
                            CharacteristicDescription("FFF2", [.read, .write], value: Data([0]), maximumLength: 20),
                        ])
                ])
            let handler = SequenceDevice(process: process, every: interval, ledger, index: index)
            try emulator.add(EmulatedPeripheral(description, handler: handler))
        }
    }
}
