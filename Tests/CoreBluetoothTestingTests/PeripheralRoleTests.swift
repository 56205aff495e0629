import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// Callbacks of a peripheral app, as a test expects them.
@Suite(.emulator(.instant)) struct PeripheralRoleTests {
    @Test func aServerIsPublishedAndAdvertises() async {
        let server = ServerApp()
        await Emulator.current.expect(
            .didUpdateState, .didAdd.of(ServerApp.service).succeeding, .didStartAdvertising.succeeding)
        server.stop()
    }

    @Test func readsWritesAndSubscriptionsAreExpectedByTheirCharacteristic() async {
        let emulator = Emulator.current
        let server = ServerApp()
        await emulator.expect(.didStartAdvertising)
        let client = PlainApp(writing: Data([2]))
        await emulator.expect(
            .didReceiveRead.of("FFE1"), .didUpdateValue.of("FFE1"), .didReceiveWrite.of("FFE1"),
            .didWriteValue.of("FFE1"))
        await emulator.expect(.didSubscribe.of("FFE1"), .didUpdateNotificationState.of("FFE1"))
        server.fill()
        await emulator.expect(.isReadyToUpdateSubscribers)
        client.stop()
        await emulator.expect(.didUnsubscribe.of("FFE1"))
        server.stop()
    }

    @Test func aRefusedWriteIsAFailedOne() async {
        let server = ServerApp(.refuses)
        let client = PlainApp(writing: Data([2]))
        await Emulator.current.expect(.didReceiveWrite, .didWriteValue.failing)
        await Emulator.current.expect(.didUpdateNotificationState)
        client.stop()
        server.stop()
    }

    @Test func bothEndsOfAChannelAreExpected() async throws {
        let emulator = Emulator.current
        let server = ServerApp(publishesChannel: true)
        await emulator.expect(.didPublishL2CAPChannel.succeeding)
        let client = PlainApp()
        await emulator.expect(.didUpdateNotificationState)
        client.open(try #require(server.psm))
        await emulator.expect(.didOpen.succeeding, .didOpen.succeeding)
        server.stopPublishing()
        await emulator.expect(.didUnpublishL2CAPChannel.succeeding)
        client.stop()
        server.stop()
    }

    @Test func callbacksAreDistinguishedByWhomTheyConcern() async throws {
        let emulator = Emulator.current
        try emulator.add(.heartRateMonitor)
        let client = PlainApp()
        await emulator.expect(.didUpdateNotificationState)
        let identifier = try #require(client.identifier)
        await emulator.expect(.didUpdateValue.of("2A37").from(identifier))
        await emulator.expect(.didUpdateValue.of("2A37").from(identifier))
        client.stop()
    }

    @Test func bothManagersAreRestored() async throws {
        let emulator = Emulator.current
        var server = ServerApp(restoreIdentifier: "server")
        await emulator.expect(.didStartAdvertising)
        var client = PlainApp(restoreIdentifier: "client")
        await emulator.expect(.didUpdateNotificationState)
        emulator.host.terminateApp(restoreIdentifier: "client")
        try await emulator.advance(by: .zero)
        client.stop()
        client = PlainApp(restoreIdentifier: "client")
        await emulator.expect(.willRestoreState, .didUpdateState)
        client.stop()
        let host = try #require(emulator.hosts.first { $0.peripheral != nil })
        host.terminateApp(restoreIdentifier: "server")
        try await emulator.advance(by: .zero)
        server.stop()
        server = ServerApp(restoreIdentifier: "server")
        await emulator.expect(.willRestoreState, .didUpdateState)
        // The app still advertises.
        await emulator.expect(.didStartAdvertising.failing, .didAdd)
        server.stop()
    }
}

/// The failures of tests of a peripheral app, observed from outside.
@Suite struct PeripheralFailureTests {
    private func issues(_ body: @escaping @Sendable () async throws -> Void) async throws -> [String] {
        try await IssueCollector.issues(world: WorldDescription(), body)
    }

    @Test func aRequestThatIsNotAnsweredIsAFailure() async throws {
        let messages = try await issues {
            let server = ServerApp(.staysSilent)
            let client = PlainApp()
            await Emulator.current.expect(.didReceiveRead)
            server.stop()
            client.stop()
        }
        #expect(messages.contains { $0.contains("unanswered: read of FFE1 by central ") })
        #expect(messages.contains { $0.contains("unanswered: readValue(for:) with ") })
    }

    @Test func aWriteThatIsNotAnsweredIsAFailureOfALivingManagerToo() async throws {
        let holder = ServerHolder()
        let messages = try await issues {
            holder.server = ServerApp(.staysSilent)
            let client = PlainApp(writing: Data([1]))
            await Emulator.current.expect(.didReceiveRead)
            client.stop()
        }
        #expect(messages.contains { $0.contains("leaked: <CBPeripheralManager") })
        holder.server = nil
    }

    @Test func callsThatTheBackendHasNotAnsweredAreFailures() async throws {
        let messages = try await issues {
            let server = ServerApp(publishesChannel: true)
            await Emulator.current.expect(.didUpdateState)
            server.stop()
        }
        #expect(messages.contains { $0.contains("unanswered: add(_:) of service FFE0") })
        #expect(messages.contains { $0.contains("unanswered: startAdvertising(_:)") })
        #expect(messages.contains { $0.contains("unanswered: publishL2CAPChannel(withEncryption:)") })
        #expect(messages.count == 3)
    }

    @Test func whatCameIsNamedWithItsCharacteristic() async throws {
        let messages = try await issues {
            let server = ServerApp()
            let client = PlainApp()
            await Emulator.current.expect(.didDisconnectPeripheral, within: .seconds(1))
            client.stop()
            server.stop()
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("didAdd of FFE0") == true)
        #expect(messages.first?.contains("didReceiveRead of FFE1 from ") == true)
    }
}

private final class ServerHolder: @unchecked Sendable {
    // Invariant: used by one test, one step after the other.
    var server: ServerApp?
}
