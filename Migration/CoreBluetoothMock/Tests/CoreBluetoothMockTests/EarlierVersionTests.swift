import BluetoothEmulator
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothMock

/// Delegates of specs that were written for versions before 1.0 of the original.
@Suite(.emulator()) struct EarlierVersionTests {
    private let emulator = Emulator.current

    /// A delegate with the functions of 0.17 and 0.18.
    private final class Earlier: CBMPeripheralSpecDelegate {
        let asked = Protected<[String]>([])

        private func note(_ line: String) { asked.withLock { $0.append(line) } }

        func peripheral(
            _ peripheral: CBMPeripheralSpec, didReceiveIncludedServiceDiscoveryRequest serviceUUIDs: [CBMUUID]?,
            for service: CBMService
        ) -> Result<Void, Error> {
            note("included")
            return .success(())
        }

        func peripheral(
            _ peripheral: CBMPeripheralSpec, didReceiveCharacteristicsDiscoveryRequest characteristicUUIDs: [CBMUUID]?,
            for service: CBMService
        ) -> Result<Void, Error> {
            note("characteristics")
            return .success(())
        }

        func peripheral(
            _ peripheral: CBMPeripheralSpec, didReceiveDescriptorsDiscoveryRequestFor characteristic: CBMCharacteristic
        ) -> Result<Void, Error> {
            note("descriptors")
            return .success(())
        }

        func peripheral(
            _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor characteristic: CBMCharacteristic
        ) -> Result<Data, Error> {
            note("read \(characteristic is CBMCharacteristicMock)")
            return .success(Data([7]))
        }

        func peripheral(
            _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor descriptor: CBMDescriptor
        ) -> Result<Data, Error> {
            note("read descriptor")
            return .success(Data("text".utf8))
        }

        func peripheral(
            _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor characteristic: CBMCharacteristic, data: Data
        ) -> Result<Void, Error> {
            note("write")
            return .failure(CBMATTError(.insufficientResources))
        }

        func peripheral(
            _ peripheral: CBMPeripheralSpec, didReceiveWriteCommandFor characteristic: CBMCharacteristic, data: Data
        ) {
            note("command")
        }

        func peripheral(
            _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor descriptor: CBMDescriptor, data: Data
        ) -> Result<Void, Error> {
            note("write descriptor")
            return .success(())
        }

        func peripheral(
            _ peripheral: CBMPeripheralSpec, didReceiveSetNotifyRequest enabled: Bool,
            for characteristic: CBMCharacteristic
        ) -> Result<Void, Error> {
            note("notify \(enabled)")
            return .success(())
        }
    }

    private func spec(_ delegate: any CBMPeripheralSpecDelegate) -> CBMPeripheralSpec {
        CBMPeripheralSpec.simulatePeripheral()
            .advertising(
                advertisementData: [
                    CBMAdvertisementDataLocalNameKey: "Earlier", CBMAdvertisementDataIsConnectable: true as NSNumber,
                ]
            )
            .connectable(name: "Earlier", services: [Sensor.simpleService()], delegate: delegate).build()
    }

    @Test func `Functions with the parameters of earlier versions are called`() async throws {
        let delegate = Earlier()
        let spec = spec(delegate)
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let service = try #require(peripheral.services?.first)
        let characteristic = try #require(peripheral.characteristic)
        let descriptor = try #require(characteristic.descriptors?.first { $0.uuid.uuidString == "2901" })
        peripheral.discoverIncludedServices(nil, for: service)
        peripheral.readValue(for: characteristic)
        peripheral.readValue(for: descriptor)
        peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
        peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse)
        peripheral.writeValue(Data([1]), for: descriptor)
        peripheral.setNotifyValue(true, for: characteristic)
        try await emulator.runUntilIdle()
        #expect(characteristic.value == Data([7]) && characteristic.isNotifying)
        #expect(descriptor.value as? String == "text")
        #expect((client.error as? CBMATTError)?.code == .insufficientResources)
        #expect(
            Set(delegate.asked.withLock { $0 }) == [
                "characteristics", "descriptors", "included", "read true", "read descriptor", "write", "command",
                "write descriptor", "notify true",
            ])
    }

    @Test func `A delegate without functions answers as before`() async throws {
        struct Plain: CBMPeripheralSpecDelegate {}
        let spec = spec(Plain())
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let characteristic = try #require(peripheral.characteristic)
        peripheral.setNotifyValue(true, for: characteristic)
        peripheral.readValue(for: characteristic)
        try await emulator.runUntilIdle()
        #expect(characteristic.isNotifying)
        #expect((client.error as? CBMATTError)?.code == .readNotPermitted)
    }
}
