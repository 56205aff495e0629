import AsyncBluetooth
import CoreBluetoothClasses

/// The central role of a command: the devices that it finds and connects to.
@MainActor
final class CentralRole: CommandRole {
    /// The time limit of each step at the end.
    private static let closingLimit = Duration.seconds(5)

    let backend: CBBackendSelection
    let central: Central
    var console: Console
    var limit: Duration

    /// Called for each device that a scan finds or that is connected to.
    var onHeard: ((Peripheral) -> Void)?
    /// Called when a link ends that this side did not end.
    var onDisconnection: ((Peripheral, Failure) -> Void)?

    private(set) var peripheral: Peripheral?
    /// All devices that are, or were, connected: a link lasts as long as its device is referenced.
    private(set) var peripherals: [Peripheral] = []
    /// The services of devices as last discovered.
    var discovered: [Peripheral: [DiscoveredService]] = [:]
    /// The subscriptions of the command, each of which lasts as long as its values are referenced.
    private var subscriptions: [(Peripheral, [CharacteristicID], ValueSequence<NotifiedValue>?)] = []

    init(_ backend: CBBackendSelection, console: Console, limit: Duration) {
        self.backend = backend
        self.console = console
        self.limit = limit
        central = Central(backend: backend)
    }

    var backendName: String { central.backendName }
    var adapterStates: EventSequence<CBManagerState> { central.states }

    func waitUntilPoweredOn() async throws {
        try await step("waiting for the adapter", within: limit, needsAdapter: false) {
            try await self.central.waitUntilPoweredOn()
        }
    }

    // MARK: Link

    /// Connects, unless the device is connected already.
    ///
    /// - Parameter limit: The time limit; nil for none.
    func connect(_ peripheral: Peripheral, within limit: Duration?) async throws {
        self.peripheral = peripheral
        if !peripherals.contains(peripheral) { peripherals.append(peripheral) }
        onHeard?(peripheral)
        let isNew = peripheral.state != .connected
        if isNew { console.progress("Connecting to \(PrintableText.of(peripheral.description))…") }
        try await step("connecting", within: limit) { try await peripheral.connect() }
        if isNew { observeEnd(of: peripheral) }
        console.clearProgress()
    }

    /// Connects as `connect(_:within:)`, within the time limit of a step.
    func connect(_ peripheral: Peripheral) async throws { try await connect(peripheral, within: limit) }

    private func observeEnd(of peripheral: Peripheral) {
        guard onDisconnection != nil else { return }
        Task { [weak self] in
            let end = try await peripheral.waitUntilDisconnected()
            if case .cancelled = end.reason { return }
            guard let failure = await self?.failure(end) else { return }
            self?.onDisconnection?(peripheral, failure)
        }
    }

    func disconnect(_ peripheral: Peripheral) async throws {
        guard peripheral.state != .disconnected else { return }
        try await step("disconnecting", within: Self.closingLimit) {
            await peripheral.disconnect()
            try Task.checkCancellation()
        }
    }

    // MARK: Notifications

    /// Subscribes to characteristics until the command ends.
    func subscribe(
        to characteristics: [DiscoveredCharacteristic], of peripheral: Peripheral
    ) async throws -> ValueSequence<NotifiedValue> {
        let ids = characteristics.map(\.id)
        subscriptions.append((peripheral, ids, nil))
        let values = try await step("changing the subscription") { try await peripheral.subscribe(to: ids) }
        subscriptions[subscriptions.count - 1].2 = values
        let labels = characteristics.map { AttributeText.label($0.uuid) }
        console.progress("Subscribed to \(labels.joined(separator: ", "))…")
        return values
    }

    /// Subscribes and passes on each value, until `count` have arrived (each in time) or, without a count, until the
    /// user stops the command or the link ends.
    func values(
        of characteristics: [DiscoveredCharacteristic], at peripheral: Peripheral, count: Int?,
        _ body: (DiscoveredCharacteristic, Data) -> Void
    ) async throws {
        let values = try await subscribe(to: characteristics, of: peripheral)
        var left = count
        while left != 0 {
            let next = try await step("waiting for a value", within: count == nil ? nil : limit) {
                try await values.next()
            }
            guard let next else { return }
            for source in characteristics where source.id == next.characteristic { body(source, next.value) }
            left = left.map { $0 - 1 }
        }
    }

    // MARK: End

    func endCommand() async {
        for (peripheral, characteristics, _) in exchange(&subscriptions, with: []) where isUsable(peripheral) {
            await end {
                try await self.step("changing the subscription", within: Self.closingLimit) {
                    for characteristic in characteristics { try await peripheral.unsubscribe(from: characteristic) }
                }
            }
        }
    }

    /// Ends notifications, then connections.
    func close() async {
        await endCommand()
        for peripheral in peripherals where isUsable(peripheral) {
            await end { try await self.disconnect(peripheral) }
        }
    }

    private func isUsable(_ peripheral: Peripheral) -> Bool {
        central.state == .poweredOn && peripheral.state != .disconnected
    }

    private func end(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            console.warn("the connection was not closed properly: \(error)")
        }
    }
}

extension ValueSequence {
    /// Returns the next value of a subscription; nil at the end.
    func next() async throws -> Element? {
        for try await value in self { return value }
        return nil
    }
}
