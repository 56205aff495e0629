#if Emulator
import AsyncBluetooth
import BluetoothBackend
import BluetoothInstrumentation
import BluetoothEmulator
import CoreBluetoothClasses
import Testing

@testable import bluectl

/// The prompt of `bluectl pair`, in virtual time.
@MainActor
@Suite struct PairingPromptTests {
    /// A client that connects to a device and reads its only characteristic.
    private final class Reader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
        private(set) var outcome: Result<Data?, any Error>?

        func centralManagerDidUpdateState(_ central: CBCentralManager) {}

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            peripheral.delegate = self
            peripheral.discoverServices(nil)
        }

        func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
            for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
        }

        func peripheral(
            _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
        ) {
            for characteristic in service.characteristics ?? [] { peripheral.readValue(for: characteristic) }
        }

        func peripheral(
            _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
        ) {
            outcome = error.map { .failure($0) } ?? .success(characteristic.value)
        }
    }

    /// Returns a device that shows a number and asks whether it is the same, before its value can be read.
    private static func device(_ name: String) -> PeripheralDescription {
        PeripheralDescription(
            name: name, advertising: [AdvertisingDescription(AdvertisingData(localName: name))],
            services: [
                ServiceDescription(
                    "FFE0",
                    characteristics: [
                        CharacteristicDescription("FFE1", .read, permissions: .readEncryptionRequired)
                    ])
            ],
            pairing: PairingDescription(capability: .displayYesNo))
    }

    @Test func yesIsForTheDeviceThatTheUserNamedAndForNoOther() async throws {
        let emulator = Emulator(time: .virtual)
        let wanted = try emulator.add(Self.device("Wanted"))
        let pest = try emulator.add(Self.device("Pest"))
        let backend = TracingBackend(around: CBBackendSelection.emulator(emulator).backend, to: .memory)
        let role = CentralRole(.custom(backend), console: Console(isJSON: true), limit: .seconds(3_600))
        let central = role.central
        let (device, other) = try await emulator.run {
            let wanted = try await central.first(within: .seconds(10)) { $0.advertisement.localName == "Wanted" }
            let pest = try await central.first(within: .seconds(10)) { $0.advertisement.localName == "Pest" }
            return (wanted.peripheral, pest.peripheral)
        }

        // The user pairs with one device while a program on this computer uses another.
        wanted.setProximity(.outOfRange)
        let pairing = Task { try await PairingPrompt.pair(device, in: role, saysYes: true) }
        while !backend.trace.entries.contains(where: { "\($0)".contains("pair") }) { await Task.yield() }
        let reader = Reader()
        let app = CBCentralManager(backend: .emulator(emulator), delegate: reader, queue: .main)
        try await emulator.advance(by: .seconds(1))
        let used = try #require(app.retrievePeripherals(withIdentifiers: [other.identifier]).first)
        app.connect(used)
        try await emulator.advance(by: .seconds(10))
        #expect(used.state == .connected)
        guard case .failure(let error)? = reader.outcome else {
            Issue.record("\(String(describing: reader.outcome))")
            return
        }
        #expect((error as? CBATTError)?.code == .insufficientAuthentication)
        #expect(!emulator.host.isBonded(with: pest))

        wanted.setProximity(.near)
        try await emulator.advance(by: .seconds(20))
        #expect(try await pairing.value)
        #expect(emulator.host.isBonded(with: wanted) && !emulator.host.isBonded(with: pest))
    }
}
#endif
