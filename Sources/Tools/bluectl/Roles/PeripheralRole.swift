import AsyncBluetooth
import CoreBluetoothClasses

/// The peripheral role of a command: its published services and its advertisement.
@MainActor
final class PeripheralRole: CommandRole {
    let backend: CBBackendSelection
    let server: PeripheralServer
    var console: Console
    var limit: Duration

    @MainActor
    private final class EventReceiver {
        var receive: ((PeripheralServer.Event) -> Void)?
    }

    private let events: EventReceiver

    init(_ backend: CBBackendSelection, console: Console, limit: Duration) {
        self.backend = backend
        self.console = console
        self.limit = limit
        let events = EventReceiver()
        self.events = events
        server = PeripheralServer(
            backend: backend,
            onEvent: { event in
                DispatchQueue.main.async { MainActor.assumeIsolated { events.receive?(event) } }
            })
    }

    var onEvent: ((PeripheralServer.Event) -> Void)? {
        get { events.receive }
        set { events.receive = newValue }
    }

    var backendName: String { server.backendName }
    var adapterStates: EventSequence<CBManagerState> { server.states }

    func waitUntilPoweredOn() async throws {
        try await step("waiting for the adapter", within: limit, needsAdapter: false) {
            try await self.server.waitUntilPoweredOn()
        }
    }

    /// Waits for a duration, or until the adapter has lost what was published.
    func wait(for duration: Duration?) async throws {
        do {
            try await step("serving", within: duration) { try await self.observeAdapter() }
        } catch let failure as Failure where failure.status == .timedOut {
            // The duration is over.
        }
    }

    private func observeAdapter() async throws {
        for await state in server.states {
            switch state {
            case .poweredOn, .unknown: break
            // The services and the advertisement are restored when the adapter is on again.
            case .poweredOff:
                if await isAdapterGone() { throw AdapterFailure.gone() }
                if server.state == .poweredOff { console.warn("the Bluetooth adapter is off") }
            default: throw AdapterFailure.failure(state)
            }
        }
        try Task.checkCancellation()
    }

    /// Publishes a service.
    ///
    /// - Throws: A failure; a usage failure if the service itself is not allowed.
    @discardableResult
    func publish(_ service: ServedService) async throws -> ServiceID {
        let label = AttributeText.label(service.uuid)
        console.progress("Publishing \(label)…")
        defer { console.clearProgress() }
        return try await step("publishing a service", orFail: "cannot publish the service \(label)") {
            do {
                return try await self.server.add(service)
            } catch let error as BluetoothError {
                guard case .refused(let reason) = error.reason else { throw error }
                let isOurs = [.uuidNotAllowed, .invalidParameters].contains((reason as? CBError)?.code)
                throw Failure(isOurs ? .usage : .failed, ErrorText.of(reason))
            }
        }
    }

    /// Listens for channels.
    ///
    /// - Returns: The number that the system chose.
    func publishChannel(isEncryptionRequired: Bool) async throws -> CBL2CAPPSM {
        try await step("listening for channels", orFail: "cannot listen for channels") {
            try await self.server.publishChannel(isEncryptionRequired: isEncryptionRequired)
        }
    }

    /// Advertises as connectable until the command ends.
    ///
    /// Content that does not fit is shortened or omitted by Apple's rules.
    func advertise(_ content: AdvertisedContent) async throws {
        try await step("starting to advertise", orFail: "cannot advertise") {
            try await self.server.startAdvertising(
                name: content.name, services: content.services, manufacturerData: content.manufacturerData,
                serviceData: content.serviceData)
        }
    }

    func close() async { server.withdrawAll() }
}
