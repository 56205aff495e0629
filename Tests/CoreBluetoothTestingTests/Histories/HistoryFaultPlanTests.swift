import BluetoothInstrumentation
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

#if BlueZ && os(Linux)
import BlueZ
import BluetoothDBus
import EmulatedBlueZ
import ScriptedBlueZ
#endif

/// The plan of a found history: the app fails with it as it does under the history, on other backends too.
@Suite struct HistoryFaultPlanTests {
    /// Searches for the planted bug, and returns the plan that the message names.
    private func plan() async throws -> FaultPlan {
        let test = try #require(Test.current)
        let messages = Shared<[String]>([])
        try await IssueHandlingTrait.compactMapIssues { issue in
            messages.withLock { $0.append(issue.comments.map(\.rawValue).joined(separator: "\n")) }
            return nil
        }
        .provideScope(for: test, testCase: nil) {
            try await EmulatorTrait.emulator(.histories(1000), seed: 1).provideScope(for: test, testCase: nil) {
                let stored = try await RecordUploader(isCareful: false).storedRecords()
                #expect(stored == [1, 2, 3], "")
            }
        }
        let message = messages.withLock { $0.joined(separator: "\n") }
        let variable = "COREBLUETOOTH_FAULTS"
        let file = try #require(message.firstRange(of: variable + "=").map { message[$0.upperBound...] }, "\(message)")
        return try #require(try EnvironmentFaults.make([variable: String(file.prefix { !$0.isWhitespace })]))
    }

    @Test func theAppFailsWithThePlanAsUnderTheHistory() async throws {
        let (plan, test) = (try await plan(), try #require(Test.current))
        let records = Shared<[UInt8]>([])
        try await EmulatorTrait.emulator(seed: 2).provideScope(for: test, testCase: nil) {
            let emulator = Emulator.current
            try emulator.add(EmulatedPeripheral(RecordStore.description, handler: RecordStore(records: records)))
            let faulty = try FaultInjectingBackend(around: emulator, plan: plan)
            try await emulator.run {
                try await CBManager.withBackend(.custom(faulty)) {
                    try await RecordUploader(isCareful: false).upload([1, 2, 3])
                }
            }
        }
        #expect(records.withLock { $0 } == [1, 1, 2, 3])
    }

    #if BlueZ && os(Linux)
    @Test(.timeLimit(.minutes(1))) func theAppFailsWithThePlanOnAnEmulatedDaemon() async throws {
        let plan = try await plan()
        let bus = try PrivateBus()
        let records = Shared<[UInt8]>([])
        let emulator = Emulator(configuration: .instant, time: .real, seed: 2)
        try emulator.add(EmulatedPeripheral(RecordStore.description, handler: RecordStore(records: records)))
        let configuration = EmulatedBlueZConfiguration(disconnectDelay: .zero)
        let service = try await EmulatedBlueZ.serve(emulator, on: bus.address.text, configuration: configuration)
        let daemon = BlueZBackend.shared(BlueZConfiguration(busAddress: bus.address.text))
        for (isCareful, expected) in [(false, [1, 1, 2, 3]), (true, [1, 2, 3])] as [(Bool, [UInt8])] {
            records.withLock { $0 = [] }
            let faulty = try FaultInjectingBackend(around: daemon, plan: plan)
            try await CBManager.withBackend(.custom(faulty)) {
                try await RecordUploader(isCareful: isCareful).upload([1, 2, 3])
            }
            #expect(records.withLock { $0 } == expected)
        }
        service.stop()
        try await service.waitUntilEnd()
    }
    #endif
}
