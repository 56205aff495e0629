import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Dispatch

/// A central of an emulated world whose events are waited for.
// Invariant: all variables are used on the queue of `waiting` only.
final class TestCentral: @unchecked Sendable {
    let role: any CentralBackend
    private let waiting = Waiting("test central")
    private var events: [CentralEvent] = []
    private let lastOperation = Lock(UInt64(0))

    /// - Parameter host: The central's host; nil for the default one.
    init(_ emulator: Emulator, host: EmulatedHost? = nil) {
        role = emulator.makeCentral(RoleOptions(adapter: host?.name))
        role.activate(
            PassingSink("test central") { [weak self, queue = waiting.queue] event in
                queue.async { [weak self] in
                    self?.events.append(event)
                    self?.waiting.check()
                }
            })
    }

    deinit { role.invalidate() }

    private func operation() -> OperationID {
        OperationID(
            rawValue: lastOperation.withLock { number in
                number += 1
                return number
            })
    }

    /// Waits for an event, also one that has already occurred.
    func event<Value: Sendable>(
        _ what: String, _ match: @escaping @Sendable (CentralEvent) -> Value?
    ) async throws -> Value {
        try await waiting.value(what) { [self] in events.lazy.compactMap(match).first }
    }

    /// Waits until as many values have been notified.
    func notified(_ count: Int) async throws -> [Data] {
        try await waiting.value("\(count) notifications") { [self] in
            let values = events.compactMap { if case .valueNotified(_, _, let value) = $0 { value } else { nil } }
            return values.count >= count ? values : nil
        }
    }

    /// Finds the device of a name, and connects to it.
    func connect(to name: String) async throws -> (peer: PeerID, link: LinkID) {
        role.submit(.startScan(ScanParameters(allowDuplicates: true)))
        let peer = try await event("an advertisement of \(name)") { event in
            if case .discovered(let found) = event, found.advertisement.localName == name { found.peer } else { nil }
        }
        role.submit(.stopScan)
        let operation = operation()
        role.submit(.connect(peer: peer, operation: operation, options: ConnectOptions()))
        let link = try await event("a link to \(name)") { event in
            if case .connected(peer, let link, operation, _) = event { link } else { nil }
        }
        return (peer, link)
    }

    func request(_ request: LinkRequest, on link: LinkID) async throws -> LinkResponse {
        let operation = operation()
        role.submit(.request(link: link, operation: operation, request))
        return try await event("a response to \(request)") { event in
            if case .response(_, operation, let response) = event { response } else { nil }
        }
    }

    /// Discovers all services and their characteristics.
    ///
    /// - Returns: The characteristics by UUID.
    func characteristics(on link: LinkID) async throws -> [BluetoothUUID: CharacteristicRecord] {
        guard case .services(let services) = try await request(.discoverServices(nil), on: link) else { return [:] }
        var found: [BluetoothUUID: CharacteristicRecord] = [:]
        for service in services {
            let response = try await request(.discoverCharacteristics(of: service.id, nil), on: link)
            if case .characteristics(let characteristics) = response {
                for characteristic in characteristics { found[characteristic.uuid] = characteristic }
            }
        }
        return found
    }

    /// Waits for bytes on a channel that follow those before, and consumes them.
    func received(on channel: ChannelID, after count: Int, consuming consumes: Bool = true) async throws -> Data {
        let new = try await waiting.value("bytes on the channel") { [self] in
            let all = events.reduce(into: Data()) { data, event in
                if case .channel(channel, .received(let part)) = event { data += part }
            }
            return all.count > count ? all.dropFirst(count) : nil
        }
        if consumes { role.submit(.channel(channel, .consumed(new.count))) }
        return Data(new)
    }

    /// Waits until a channel has got as many credits.
    func credits(_ count: Int, on channel: ChannelID) async throws {
        try await waiting.value("\(count) credits") { [self] in
            let granted = events.reduce(0) { sum, event in
                if case .channel(channel, .credits(let count)) = event { sum + count } else { sum }
            }
            return granted >= count ? () : nil
        }
    }

    /// Waits for the end of the link.
    func end(of link: LinkID) async throws -> DisconnectReason {
        try await event("the end of the link") { event in
            if case .disconnected(link, let reason, _, _, _) = event { reason } else { nil }
        }
    }
}
