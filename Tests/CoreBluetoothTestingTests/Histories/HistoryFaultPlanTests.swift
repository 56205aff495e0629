import AsyncBluetooth
import BluetoothBackend
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
import EmulatedHCI
import ScriptedBlueZ
#endif

/// The plan of a found history: the app fails with it as it does under the history, on other backends too.
@Suite struct HistoryFaultPlanTests {
    /// Searches for a history under which an app stores a record twice, and returns the plan that the message names.
    ///
    /// - Parameter first: The index of the first stored record that must not repeat the one before.
    private func plan(
        of app: @escaping @Sendable () async throws -> Void, from first: Int = 1
    ) async throws -> FaultPlan {
        let test = try #require(Test.current)
        let messages = Shared<[String]>([])
        try await IssueHandlingTrait.compactMapIssues { issue in
            messages.withLock { $0.append(issue.comments.map(\.rawValue).joined(separator: "\n")) }
            return nil
        }
        .provideScope(for: test, testCase: nil) {
            let trait = EmulatorTrait.emulator(.histories(1000, .hostileDevice), seed: 1)
            try await trait.provideScope(for: test, testCase: nil) {
                let repeated = try await repeatedRecords(app).contains { $0 >= first }
                #expect(!repeated, "")
            }
        }
        let message = messages.withLock { $0.joined(separator: "\n") }
        let variable = "COREBLUETOOTH_FAULTS"
        let file = try #require(message.firstRange(of: variable + "=").map { message[$0.upperBound...] }, "\(message)")
        return try #require(try EnvironmentFaults.make([variable: String(file.prefix { !$0.isWhitespace })]))
    }

    /// Runs an app, and returns the indexes of the stored records that repeat the one before.
    private func repeatedRecords(
        _ app: @escaping @Sendable () async throws -> Void, with plan: FaultPlan? = nil
    ) async throws -> [Int] {
        let records = Shared<[UInt8]>([])
        let emulator = Emulator.current
        try emulator.add(EmulatedPeripheral(RecordStore.description, handler: RecordStore(records: records)))
        let backend: any BluetoothBackend =
            try plan.map { try FaultInjectingBackend(around: emulator, plan: $0) } ?? emulator
        try await emulator.run { try await CBManager.withBackend(.custom(backend)) { try await app() } }
        return records.withLock { records in records.indices.dropFirst().filter { records[$0] == records[$0 - 1] } }
    }

    /// Runs an app with a plan and without a history.
    private func repeatedRecords(
        with plan: FaultPlan, _ app: @escaping @Sendable () async throws -> Void
    ) async throws -> [Int] {
        let test = try #require(Test.current)
        let repeated = Shared<[Int]>([])
        try await EmulatorTrait.emulator(seed: 2).provideScope(for: test, testCase: nil) {
            let found = try await repeatedRecords(app, with: plan)
            repeated.withLock { $0 = found }
        }
        return repeated.withLock { $0 }
    }

    @Test func theAppFailsWithThePlanAsUnderTheHistory() async throws {
        let app: @Sendable () async throws -> Void = { try await RecordUploader(isCareful: false).upload([1, 2, 3]) }
        #expect(try await repeatedRecords(with: try await plan(of: app), app).count == 1)
    }

    @Test func messagesCountFromTheBeginningOfALongRun() async throws {
        // More lines than a trace retains by default.
        let app: @Sendable () async throws -> Void = { try await Self.upload(600) }
        let plan = try await plan(of: app, from: 300)
        let repeated = try await repeatedRecords(with: plan, app)
        #expect(repeated.count == 1 && repeated[0] >= 300, "\(plan): \(repeated)")
    }

    /// An app with one manager that repeats a record after an error.
    private static func upload(_ count: Int) async throws {
        let central = Central()
        var record = 0
        while record < count {
            do {
                for try await found in central.scan(for: [CBUUID(string: "FFE0")]) {
                    while record < count {
                        try await found.peripheral.write(Data([UInt8(record % 256)]), to: "FFE0/FFE1")
                        record += 1
                    }
                    break
                }
            } catch {
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    #if BlueZ && os(Linux)
    /// Runs the app, and its corrected form, with a plan of a found history on a daemon whose world is in real time.
    private func expectTheFailure(
        with plan: FaultPlan, on daemon: BlueZBackend, _ records: Shared<[UInt8]>
    ) async throws {
        for (isCareful, expected) in [(false, [1, 1, 2, 3]), (true, [1, 2, 3])] as [(Bool, [UInt8])] {
            records.withLock { $0 = [] }
            let faulty = try FaultInjectingBackend(around: daemon, plan: plan)
            try await CBManager.withBackend(.custom(faulty)) {
                try await RecordUploader(isCareful: isCareful).upload([1, 2, 3])
            }
            #expect(records.withLock { $0 } == expected)
        }
    }

    private func worldInRealTime(_ records: Shared<[UInt8]>) throws -> Emulator {
        let emulator = Emulator(configuration: .instant, time: .real, seed: 2)
        try emulator.add(EmulatedPeripheral(RecordStore.description, handler: RecordStore(records: records)))
        return emulator
    }

    @Test(.timeLimit(.minutes(1))) func theAppFailsWithThePlanOnAnEmulatedDaemon() async throws {
        let plan = try await plan(of: { try await RecordUploader(isCareful: false).upload([1, 2, 3]) })
        let bus = try PrivateBus()
        let records = Shared<[UInt8]>([])
        let configuration = EmulatedBlueZConfiguration(disconnectDelay: .zero)
        let service = try await EmulatedBlueZ.serve(
            try worldInRealTime(records), on: bus.address.text, configuration: configuration)
        let daemon = BlueZBackend.shared(BlueZConfiguration(busAddress: bus.address.text))
        try await expectTheFailure(with: plan, on: daemon, records)
        service.stop()
        try await service.waitUntilEnd()
    }

    /// The device of the emulated world is behind the controller of a real kernel and a real `bluetoothd`, in the guest.
    @Test(.enabled(if: controller != nil, "needs a guest: make test-controller"), .timeLimit(.minutes(3)))
    func theAppFailsWithThePlanOnARealDaemon() async throws {
        let plan = try await plan(of: { try await RecordUploader(isCareful: false).upload([1, 2, 3]) })
        let records = Shared<[UInt8]>([])
        let address = try #require(Self.controller.flatMap { HCIPortAddress($0) }, "CONTRACT_CONTROLLER is vhci or usb")
        let port = try HCIPort.open(try worldInRealTime(records), host: "Controller", on: address)
        defer { port.close() }
        let daemon = BlueZBackend.shared(BlueZConfiguration())
        await CBManager.withBackend(.custom(daemon)) {
            // The plan counts from an adapter that is on.
            for await state in Central().states where state == .poweredOn { break }
        }
        try await expectTheFailure(with: plan, on: daemon, records)
    }

    /// The port of the controller: `vhci` or `usb`.
    private static let controller = ProcessInfo.processInfo.environment["CONTRACT_CONTROLLER"]
    #endif
}
