import AsyncBluetooth
import CoreBluetooth
import Dispatch
import Synchronization

/// The job with a task for each device.
final class AsyncJob: Sendable {
    /// The executor of the tasks.
    enum Executor {
        case central
        case global
    }

    private let devices: Int
    private let central: Central
    private let values = Atomic(0)
    private let subscribed = Atomic(0)
    private let isSubscribed = DispatchSemaphore(value: 0)

    private init(_ devices: Int, on backend: CBBackendSelection) {
        self.devices = devices
        central = Central(backend: backend)
    }

    static func run(_ devices: Int, _ seconds: UInt32, on backend: CBBackendSelection, _ executor: Executor) throws {
        let start = ContinuousClock.now
        let job = AsyncJob(devices, on: backend)
        let preference: (any TaskExecutor)? = executor == .central ? job.central.executor : nil
        let task = Task(executorPreference: preference) { try await job.followAll() }
        job.isSubscribed.wait()
        let result = try JobResult(ready: .now - start, seconds: seconds) { job.values.load(ordering: .relaxed) }
        try result.print()
        let isOver = DispatchSemaphore(value: 0)
        Task {
            task.cancel()
            _ = await task.result
            isOver.signal()
        }
        isOver.wait()
    }

    private func followAll() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var found = 0
            for try await discovery in central.scan(for: [CBUUID(string: "180D")]) {
                group.addTask { try await self.follow(discovery.peripheral) }
                found += 1
                if found == devices { break }
            }
            try await group.waitForAll()
        }
    }

    private func follow(_ peripheral: Peripheral) async throws {
        let rates = try await peripheral.subscribe(to: "180D/2A37")
        if subscribed.add(1, ordering: .relaxed).newValue == devices { isSubscribed.signal() }
        do {
            for try await _ in rates { values.add(1, ordering: .relaxed) }
        } catch is CancellationError {}
        await peripheral.disconnect()
    }
}
