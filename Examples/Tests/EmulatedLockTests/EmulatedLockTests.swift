#if os(Linux)
import AsyncBluetooth
import CoreBluetooth
import CoreBluetoothTesting
import EmulatedLock
import Testing

/// The lock's rules, in virtual time: the minute for which it is blocked takes no real time.
@Suite(.emulator(.instant)) struct EmulatedLockTests {
    private let emulator = Emulator.current
    private let lock: EmulatedDevice

    init() throws { lock = try emulator.add(EmulatedLock.device(code: "4711")) }

    @Test func theCodeOpensTheLockForFiveSeconds() async throws {
        #expect(try await enter(["4711"]) == [nil])
        #expect(isOpen)
        try await emulator.advance(by: .seconds(4))
        #expect(isOpen)
        try await emulator.advance(by: .seconds(1))
        #expect(!isOpen)
    }

    @Test func aWrongCodeIsRefused() async throws {
        #expect(try await enter(["0000"]) == [Int(EmulatedLock.wrongCode)])
        #expect(!isOpen)
    }

    @Test func threeWrongCodesBlockTheLockForAMinute() async throws {
        let wrong = Int(EmulatedLock.wrongCode)
        #expect(try await enter(["1", "2", "3", "4711"]) == [wrong, wrong, wrong, Int(EmulatedLock.blocked)])
        try await emulator.advance(by: .seconds(60))
        #expect(try await enter(["4711"]) == [nil])
    }

    @Test func onlyAPairedCentralMayOpenIt() async throws {
        try lock.setPairing(PairingDescription(answer: .reject))
        let refused = try await enter(["4711"])
        #expect(refused != [nil])
        #expect(!isOpen)
    }

    private var isOpen: Bool { lock.value(of: EmulatedLock.isOpen) == Data([1]) }

    /// Writes codes, and returns the ATT error of each; nil for one that was accepted.
    private func enter(_ codes: [String]) async throws -> [Int?] {
        try await emulator.run {
            for try await found in Central().scan(for: [CBUUID(string: "FFD0")]) {
                var errors: [Int?] = []
                for code in codes { errors.append(await enter(code, into: found.peripheral)) }
                return errors
            }
            return []
        }
    }

    private func enter(_ code: String, into peripheral: Peripheral) async -> Int? {
        do {
            try await peripheral.write(Data(code.utf8), to: "FFD0/FFD1")
            return nil
        } catch let error as BluetoothError {
            guard case .refused(let refusal) = error.reason else { return -1 }
            return (refusal as? CBATTError)?.code.rawValue ?? -1
        } catch {
            return -1
        }
    }
}
#endif
