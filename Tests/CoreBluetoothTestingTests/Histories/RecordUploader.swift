import AsyncBluetooth
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation

/// An app that stores records in a device, and tries again after an error.
struct RecordUploader: Sendable {
    /// Whether the app reads the last record before it repeats one.
    var isCareful: Bool

    func upload(_ records: [UInt8]) async throws {
        for record in records {
            for attempt in 1... {
                do {
                    try await withTimeout(.seconds(40)) { try await upload(record, isRepeated: attempt > 1) }
                    break
                } catch {
                    guard attempt < 500 else { throw error }
                    try await Task.sleep(for: .seconds(1))
                }
            }
        }
    }

    private func upload(_ record: UInt8, isRepeated: Bool) async throws {
        for try await found in Central().scan(for: [CBUUID(string: "FFE0")]) {
            if isCareful, isRepeated, try await found.peripheral.read("FFE0/FFE2").first == record { return }
            try await found.peripheral.write(Data([record]), to: "FFE0/FFE1")
            return
        }
    }
}

/// A device that stores the records that it receives.
struct RecordStore: EmulatedPeripheralHandler {
    static let description = PeripheralDescription(
        name: "Store", advertising: [AdvertisingDescription(AdvertisingData(localName: "Store", services: ["FFE0"]))],
        services: [
            ServiceDescription(
                "FFE0",
                characteristics: [
                    CharacteristicDescription("FFE1", [.write]), CharacteristicDescription("FFE2", [.read]),
                ])
        ])

    let records: Shared<[UInt8]>

    func respond(to request: PeripheralRequest, state: inout Void, device: inout DeviceActions) -> PeripheralResponse {
        guard let record = request.writtenValue?.first else { return .value(Data(records.withLock { $0.suffix(1) })) }
        records.withLock { $0.append(record) }
        return .accepted
    }
}

extension RecordUploader {
    /// The body of a test: adds the device, runs the app, and returns what the device stored.
    func storedRecords() async throws -> [UInt8] {
        let records = Shared<[UInt8]>([])
        try Emulator.current.add(EmulatedPeripheral(RecordStore.description, handler: RecordStore(records: records)))
        try await Emulator.current.run { try await upload([1, 2, 3]) }
        return records.withLock { $0 }
    }
}
