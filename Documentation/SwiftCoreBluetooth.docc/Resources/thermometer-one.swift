import AsyncBluetooth
import BluetoothProfiles
import CoreBluetooth

do {
    for try await found in Central().scan(for: [HealthThermometerService.uuid]) {
        for try await measurement in HealthThermometerClient(found.peripheral).measurements {
            print(found.peripheral.name ?? "?", measurement)
        }
    }
} catch {
    FileHandle.standardError.write(Data("Bluetooth cannot be used: \(error)\n".utf8))
    exit(1)
}
