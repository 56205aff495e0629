import AsyncBluetooth
import BluetoothProfiles
import CoreBluetooth

let central = Central()
for try await found in central.scan(for: [HeartRateService.uuid]) {
    print("Connecting to \(found.peripheral)")
    do {
        for try await measurement in HeartRateClient(found.peripheral).measurements { print(measurement) }
    } catch { print(error) }
}
