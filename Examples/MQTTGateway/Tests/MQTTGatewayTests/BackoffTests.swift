import Foundation
import GatewaySimulation
import Mosquitto
import Synchronization
import Testing

/// The waits between two attempts to connect.
@Suite(.timeLimit(.minutes(1)))
struct BackoffTests {
    @Test func theWaitsDoubleUpToFifteenSecondsAndHalfOfEachIsRandom() {
        var backoff = Backoff()
        let waits = (0..<8).map { _ in backoff.next(after: nil) }
        #expect(waits.map(\.upperBound) == [0.5, 1, 2, 4, 8, 15, 15, 15].map { .seconds($0) })
        #expect(waits.map(\.lowerBound) == [0.25, 0.5, 1, 2, 4, 7.5, 7.5, 7.5].map { .seconds($0) })
    }

    @Test func theWaitsBeginAnewAfterAConnectionThatLasted() {
        var backoff = Backoff()
        for _ in 0..<8 { _ = backoff.next(after: nil) }
        #expect(backoff.next(after: .seconds(14)).upperBound == .seconds(15))
        #expect(backoff.next(after: .seconds(15)).upperBound == .milliseconds(500))
        #expect(backoff.next(after: nil).upperBound == .seconds(1))
    }

    /// The broker accepts each of the two clients, and ends the connection of the other one.
    @Test(.enabled(if: hasBroker, "mosquitto is not installed"))
    func theWaitsGrowWhileTwoClientsHaveOneIdentifier() async throws {
        let fixture = try Fixture(devices: 0)
        defer { fixture.broker.kill() }
        let settings = BrokerSettings(host: "127.0.0.1", port: fixture.broker.port, clientID: "test")
        let waits = Waits()
        let first = try MosquittoClient(settings, pause: waits.add)
        let second = try MosquittoClient(settings) { _ in }
        first.start()
        second.start()
        defer {
            first.stop()
            second.stop()
        }
        var losses = 0
        for await event in first.events {
            if case .disconnected = event { losses += 1 }
            if losses == 4 { break }
        }
        #expect(waits.first(3) == [.milliseconds(500), .seconds(1), .seconds(2)])
    }
}

/// The waits that a client requested, which take no time.
final class Waits: Sendable {
    private let ranges = Mutex<[ClosedRange<Duration>]>([])

    @Sendable func add(_ range: ClosedRange<Duration>) { ranges.withLock { $0.append(range) } }

    /// Returns the upper bounds of the first waits.
    func first(_ count: Int) -> [Duration] { ranges.withLock { $0.prefix(count).map(\.upperBound) } }
}
