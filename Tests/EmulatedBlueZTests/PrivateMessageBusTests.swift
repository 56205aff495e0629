import BluetoothDBus
import Dispatch
import Foundation
import Testing

@testable import EmulatedBlueZ

/// The private bus of an emulated BlueZ: its policy, its limits and its end.
@Suite struct PrivateMessageBusTests {
    private func open(_ bus: PrivateMessageBus) async throws -> DBusConnection {
        try await DBusConnection.open(.explicit(bus.address), queue: DispatchQueue(label: "client"))
    }

    /// The location of the bus's socket.
    private func socket(_ bus: PrivateMessageBus) throws -> URL {
        let path = try #require(bus.address.split(separator: ",").first).dropFirst("unix:path=".count)
        return URL(fileURLWithPath: String(path))
    }

    @Test func clientsOwnNamesOnIt() async throws {
        let bus = try PrivateMessageBus()
        let connection = try await open(bus)
        let isOwner = await withCheckedContinuation { continuation in
            connection.requestName("org.bluez") { continuation.resume(returning: $0) }
        }
        #expect(try isOwner.get())
        connection.close()
    }

    @Test func onlyTheUserMayEnterTheDirectoryOfTheSocket() throws {
        let bus = try PrivateMessageBus()
        let directory = try socket(bus).deletingLastPathComponent()
        let mode = try FileManager.default.attributesOfItem(atPath: directory.path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        let other = try PrivateMessageBus()
        #expect(try socket(other).deletingLastPathComponent() != directory)
    }

    @Test func nothingIsLeftWhenItStops() async throws {
        let bus = try PrivateMessageBus()
        let directory = try socket(bus).deletingLastPathComponent()
        let connection = try await open(bus)
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        connection.onDisconnect { _ in continuation.finish() }
        bus.stop()
        for await _ in ends {}
        #expect(!FileManager.default.fileExists(atPath: directory.path))
        bus.stop()
    }

    @Test func itEndsWithTheLastReference() throws {
        var bus: PrivateMessageBus? = try PrivateMessageBus()
        let directory = try socket(try #require(bus)).deletingLastPathComponent()
        #expect(FileManager.default.fileExists(atPath: directory.path))
        bus = nil
        #expect(!FileManager.default.fileExists(atPath: directory.path))
    }

    /// Both numbers exceed the defaults of `dbus-daemon`: 256 connections of a user, 512 match rules.
    @Test func itsLimitsSufficeForManyClientsAndManyRules() async throws {
        let bus = try PrivateMessageBus()
        var connections: [DBusConnection] = []
        for _ in 0..<300 { connections.append(try await open(bus)) }
        let connection = try #require(connections.last)
        let path = try #require(ObjectPath("/org/freedesktop/DBus"))
        for number in 0..<600 {
            _ = try await connection.call(
                to: "org.freedesktop.DBus", path: path, interface: "org.freedesktop.DBus", member: "AddMatch",
                [.string("type='signal',path='/rule\(number)'")], deadline: .seconds(60))
        }
        for connection in connections { connection.close() }
    }

    @Test func aMissingDaemonIsNamedWithItsPackageInOneLine() throws {
        let error = try #require(throws: PrivateMessageBusError.self) {
            try PrivateMessageBus(directory: NSTemporaryDirectory(), searchPath: "/nonexistent")
        }
        #expect(error == .notInstalled)
        #expect("\(error)".contains("apt install dbus-daemon"))
        #expect(!"\(error)".contains("\n"))
    }

    @Test func aDaemonThatDoesNotStartLeavesItsMessageAndNothingElse() throws {
        let folder = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("bus-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Another process writes the file: one that is started meanwhile could otherwise hold it open, and a file that is
        // open for writing cannot be executed.
        let script = #"printf '#!/bin/sh\necho no luck >&2\n' >"$0" && chmod 755 "$0""#
        let daemon = folder.appendingPathComponent("dbus-daemon").path
        let writer = try SpawnedProcess("/bin/sh", ["-c", script, daemon], environment: ["PATH": "/usr/bin:/bin"])
        #expect(writer.wait() == 0)
        #expect(throws: PrivateMessageBusError.notStarted("no luck")) {
            try PrivateMessageBus(directory: folder.path, searchPath: folder.path)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["dbus-daemon"])
        try FileManager.default.removeItem(at: folder)
    }

    @Test func aDirectoryThatCannotBeUsedIsNamed() throws {
        let missing = try #require(throws: PrivateMessageBusError.self) {
            try PrivateMessageBus(directory: "/nonexistent")
        }
        #expect("\(missing)".contains("/nonexistent: No such file or directory"))
        let long = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(
            String(repeating: "l", count: 100))
        try FileManager.default.createDirectory(at: long, withIntermediateDirectories: true)
        let error = try #require(throws: PrivateMessageBusError.self) { try PrivateMessageBus(directory: long.path) }
        #expect("\(error)".contains("set TMPDIR to a shorter path"))
        try FileManager.default.removeItem(at: long)
    }

    @Test func aDirectoryMayHaveAnyName() async throws {
        let folder = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("b <&> ü\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let bus = try PrivateMessageBus(directory: folder.path)
        try await open(bus).close()
        bus.stop()
        try FileManager.default.removeItem(at: folder)
    }
}
