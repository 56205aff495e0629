import AsyncBluetooth
import BluetoothProfiles
import CoreBluetooth

do {
    for try await found in Central().scan(for: [HealthThermometerService.uuid]) {
        print(found.peripheral.name ?? "?", found.peripheral.identifier)
    }
} catch {
    FileHandle.standardError.write(Data("Bluetooth cannot be used: \(error)\n".utf8))
    exit(1)
}
