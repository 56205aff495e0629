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
    // No adapter, or it is off. Uncaught, the error would end the program with a crash report.
    print("Bluetooth cannot be used: \(error)")
    exit(1)
}
