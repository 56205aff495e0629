import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Testing

/// A central that transfers bytes to or from a device at the maximum rate of the link.
final class ThroughputClient: Sendable {
    private struct State {
        /// The number of unsent bytes, and the number that each write command or part of a stream carries.
        var (unsent, payload) = (0, 0)
        var moved = 0
        var (writeCredits, channelCredits) = (0, 0)
        var channel: ChannelID?
    }

    private final class Progress: Sendable {
        let state = Lock(State())
    }

    private let fixture: Fixture
    private let device: EmulatedDevice
    private let link: LinkID
    private let found: Attributes
    private let progress: Progress

    /// A device with a channel and a value that can be read, written, notified and indicated.
    private static let description = PeripheralDescription(
        name: "Throughput", advertising: [AdvertisingDescription(AdvertisingData(localName: "Throughput"))],
        services: [
            ServiceDescription(
                "C0D0",
                characteristics: [
                    CharacteristicDescription("C0D1", [.read, .write, .writeWithoutResponse, .notify]),
                    CharacteristicDescription("C0D2", .indicate),
                ])
        ], channels: [ChannelDescription(psm: 0x80)])

    init(_ row: ThroughputRow) async throws {
        let progress = Progress()
        self.progress = progress
        fixture = Fixture(row.configuration) { event in progress.state.withLock { Self.count(event, &$0) } }
        var description = Self.description
        description.pairing.requestsSecurity = row.isEncrypted
        device = try fixture.emulator.add(description)
        try await fixture.powerOn()
        link = try await fixture.connect(device)
        found = try await fixture.attributes(link)
        // Pairing takes time, and so does the readiness for write commands.
        try await fixture.emulator.advance(by: .seconds(10))
    }

    private static func count(_ event: CentralEvent, _ state: inout State) {
        switch event {
        case .connected(_, _, _, let parameters): state.writeCredits += parameters.writeCredits
        case .valueNotified(_, _, let value), .response(_, _, .value(let value)): state.moved += value.count
        case .response(_, _, .written): state.moved += state.payload
        case .writeCredits(_, let count):
            state.writeCredits += count
            state.moved += count * state.payload
        case .response(_, _, .channel(let id, let credits)):
            state.channel = id
            state.channelCredits = credits
        case .channel(_, .credits(let count)):
            state.channelCredits += count
            state.moved += count
        default: break
        }
    }

    /// Transfers bytes.
    ///
    /// - Returns: The time from the first command to the last byte's arrival.
    func move(_ bytes: Int, by procedure: LinkThroughput.Procedure, _ payload: Int) async throws -> Duration {
        let first = try found.characteristic("C0D1")
        let values = stride(from: 0, to: bytes, by: payload).map {
            Data(repeating: 1, count: min(payload, bytes - $0))
        }
        switch procedure {
        case .notification, .indication:
            let uuid: BluetoothUUID = procedure == .notification ? "C0D1" : "C0D2"
            let attribute = try found.characteristic(uuid)
            fixture.submit(.request(link: link, operation: op(1), .setNotifying(attribute, true)))
        case .read: device.setValue(values[0], of: "C0D1")
        case .channel: fixture.submit(.request(link: link, operation: op(1), .openChannel(psm: 0x80)))
        case .write, .writeWithoutResponse: break
        }
        try await fixture.emulator.advance(by: .seconds(10))
        progress.state.withLock { ($0.unsent, $0.payload, $0.moved) = (bytes, payload, 0) }
        let start = fixture.emulator.now
        switch procedure {
        case .notification: for value in values { device.notify("C0D1", value: value) }
        case .indication: for value in values { device.notify("C0D2", value: value) }
        case .read: for _ in values { fixture.submit(.request(link: link, operation: op(2), .read(first))) }
        case .write:
            for value in values { fixture.submit(.request(link: link, operation: op(2), .write(first, value))) }
        case .writeWithoutResponse, .channel: break
        }
        try await fixture.emulator.advance(
            until: { self.sendMore(by: procedure, first) >= bytes }, within: .seconds(1_000_000))
        return fixture.emulator.now - start
    }

    /// Sends as much as the credits allow.
    ///
    /// - Returns: The number of bytes transferred so far.
    private func sendMore(by procedure: LinkThroughput.Procedure, _ attribute: AttributeID) -> Int {
        progress.state.withLock { state in
            while procedure == .writeWithoutResponse, state.unsent > 0, state.writeCredits > 0 {
                let count = min(state.payload, state.unsent)
                state.writeCredits -= 1
                state.unsent -= count
                fixture.submit(
                    .writeCommand(
                        link: link, attribute: attribute, value: Data(repeating: 2, count: count)))
            }
            if procedure == .channel, let channel = state.channel, state.unsent > 0, state.channelCredits > 0 {
                let count = min(state.channelCredits, state.unsent)
                state.channelCredits -= count
                state.unsent -= count
                fixture.submit(.channel(channel, .send(Data(repeating: 3, count: count))))
            }
            return state.moved
        }
    }
}
