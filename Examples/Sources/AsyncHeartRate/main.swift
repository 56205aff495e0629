import AsyncBluetooth
import CoreBluetooth

let central = Central()
for try await found in central.scan(for: [CBUUID(string: "180D")]) {
    print("Connecting to \(found.peripheral)")
    do {
        for try await value in found.peripheral.notifications(of: "180D/2A37") {
            let bytes = [UInt8](value)
            guard bytes.count > 2 else { continue }
            print(bytes[0] & 1 == 0 ? Int(bytes[1]) : Int(bytes[1]) | Int(bytes[2]) << 8, "bpm")
        }
    } catch { print(error) }
}
