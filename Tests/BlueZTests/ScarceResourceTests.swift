#if os(Linux)
import BluetoothDBus
import ChildProcesses
import Foundation
import ScriptedBlueZ
import Testing

/// A program that runs out of descriptors or threads reports it, continues, and succeeds when it has some again.
@Suite struct ScarceResourceTests {
    private let bus: PrivateBus
    private let daemon: ScriptedBlueZ
    private let scripted: ScriptedPeripherals
    private let address: String

    init() throws {
        bus = try PrivateBus()
        daemon = try ScriptedBlueZ(on: bus)
        // A socket for each subscriber.
        daemon.service.set(ScriptedBlueZ.adapter, "org.bluez.Adapter1", ["Connectable": .boolean(true)])
        scripted = ScriptedPeripherals(of: daemon)
        guard case .explicit(let text) = bus.address else { throw CancellationError() }
        address = text
    }

    /// Whether a sanitizer runs, which replaces functions of the C library.
    private static var isSanitized: Bool { isThere("__tsan_init") || isThere("__asan_init") }

    private static func isThere(_ function: String) -> Bool { dlsym(nil, function) != nil }

    private struct Outcome {
        let lines: [String]
        let status: Int32
        /// The outcomes of the subscriptions; nil for successful ones.
        let errors: [String?]
    }

    /// Runs the program until it has published its service, subscribes to it, and ends the program.
    ///
    /// - Parameter subscriptions: The number of subscriptions.
    private func run(_ arguments: String..., subscriptions: Int = 0) async throws -> Outcome {
        let (input, lifeline) = try ChildProcess.pipe()
        let (reading, output) = try ChildProcess.pipe()
        let child = try ChildProcess(
            ChildProcess.built("ScarceResources"), [address] + arguments, input: input, output: output)
        try input.close()
        try output.close()
        let ending = Task {
            try await ChildProcess.onThread {
                (String(decoding: reading.readDataToEndOfFile(), as: UTF8.self), child.wait())
            }
        }
        var errors: [String?] = []
        do {
            // Nine programs start at once, perhaps under a sanitizer.
            try await scripted.applications.wait(deadline: .seconds(120)) { !$0.isEmpty }
            let device = daemon.addDevice("F0:F1:F2:F3:F4:01", properties: ["Connected": .boolean(true)])
            for _ in 0..<subscriptions { errors.append(try await subscribe(device)) }
        } catch {
            Issue.record(error)
            // The program may wait for an event that never occurs.
            child.signal(SIGKILL)
        }
        try lifeline.close()
        let (text, status) = try await ending.value
        return Outcome(lines: text.split(separator: "\n").map(String.init), status: status, errors: errors)
    }

    private func subscribe(_ device: String) async throws -> String? {
        let path = try #require(scripted.path(of: "2A37"))
        do {
            _ = try await scripted.call(path, "AcquireNotify", [ScriptedPeripherals.options(device)])
            return nil
        } catch let error as DBusError {
            return error.name
        }
    }

    @Test(
        .enabled(if: !isSanitized),
        arguments: [
            ("socket", 0), ("connect", 0), ("dup", 0), ("eventfd", 0), ("eventfd", 1), ("eventfd", 2), ("eventfd", 3),
            ("timerfd_create", 0), ("pthread_create", 0), ("pthread_create", 1),
        ])
    func aBusThatCannotBeOpenedMeansUnsupportedAndIsOpenedLater(call: String, skipped: Int) async throws {
        let outcome = try await run(call, "\(skipped)")
        #expect(outcome.lines == ["unsupported", "poweredOn", "published", "failed: 1"])
        #expect(outcome.status == 0)
    }

    @Test(.enabled(if: !isSanitized)) func aSubscriptionWithoutASocketIsRefusedAndTheNextOneIsNot() async throws {
        let outcome = try await run("socketpair", "0", subscriptions: 2)
        #expect(outcome.errors == [DBusError.Name.failed, nil])
        #expect(outcome.lines == ["poweredOn", "published", "failed: 1"])
        #expect(outcome.status == 0)
    }

    /// Dispatch itself needs three, and a connection to the bus four; on a busy machine, another descriptor of the
    /// process may have been closed meanwhile.
    @Test(arguments: 0...8) func tooFewDescriptorsAreNoCrash(free: Int) async throws {
        let outcome = try await run("descriptors", "\(free)")
        #expect(outcome.lines.suffix(3) == ["poweredOn", "published", "failed: 0"])
        if free != 6 { #expect((outcome.lines.first == "unsupported") == (free < 6)) }
        #expect(outcome.status == 0)
    }
}
#endif
