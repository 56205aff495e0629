import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import EmulatedLock
import Foundation

// Usage: swift run LockDemo. Opens the emulated lock, and waits until it closes.
let emulator = Emulator()
try emulator.add(EmulatedLock.device(code: "4711"))
let lock = try await findLock(Central(backend: .emulator(emulator)))

for code in ["0000", "4711"] {
    do {
        try await lock.write(Data(code.utf8), to: "FFD0/FFD1")
        print("\(code) is accepted.")
    } catch let error as BluetoothError {
        print("\(code) is refused: \(reason(of: error))")
    }
}
print(try await lock.read("FFD0/FFD2") == Data([1]) ? "The lock is open." : "The lock is closed.")
for try await value in lock.notifications(of: "FFD0/FFD2") where value == Data([0]) {
    print("The lock is closed.")
    break
}

func findLock(_ central: Central) async throws -> Peripheral {
    for try await found in central.scan(for: [CBUUID(string: "FFD0")]) { return found.peripheral }
    throw CancellationError()
}

/// Returns the meaning of the lock's errors.
func reason(of error: BluetoothError) -> String {
    guard case .refused(let refusal as CBATTError) = error.reason else { return "\(error)" }
    switch UInt8(exactly: refusal.code.rawValue) {
    case EmulatedLock.wrongCode: return "it is wrong."
    case EmulatedLock.blocked: return "the lock is blocked."
    default: return "\(error)"
    }
}
