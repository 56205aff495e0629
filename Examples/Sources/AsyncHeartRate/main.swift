import AsyncBluetooth
import BluetoothProfiles
import CoreBluetooth
import Foundation

let central = Central()
do {
    for try await found in central.scan(for: [HeartRateService.uuid]) {
        print("Connecting to \(found.peripheral)")
        do {
            for try await measurement in HeartRateClient(found.peripheral).measurements { print(measurement) }
        } catch { print(error) }
    }
} catch {
    // The adapter is missing or off. If the error were uncaught, the program would end with a crash report.
    print("Bluetooth cannot be used: \(error)")
    exit(1)
}
