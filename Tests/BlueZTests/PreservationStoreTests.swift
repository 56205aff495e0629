#if os(Linux)
import BluetoothBackend
import BluetoothSupport
import Foundation
import ScriptedBlueZ
import Synchronization
import Testing

@testable import BlueZ

extension PreservationStore {
    /// Waits for the state of an identifier.
    fileprivate func load(_ identifier: String) -> PreservedCentral? {
        let loaded = Lock<PreservedCentral?>(nil)
        let isLoaded = DispatchSemaphore(value: 0)
        load(identifier) { state in
            loaded.withLock { $0 = state }
            isLoaded.signal()
        }
        isLoaded.wait()
        return loaded.withLock { $0 }
    }
}

/// The files, in a separate folder for each test.
@Suite struct PreservationStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID())/program")
    private var store: PreservationStore { PreservationStore(folder: folder.path) }

    private static func state(_ address: String = "F0:F1:F2:F3:F4:F5") -> PreservedCentral {
        let peer = PreservedCentral.Peer(
            id: PeerID(UUID()), address: address, isRandom: true, name: "Heart", operation: OperationID(rawValue: 3),
            options: ConnectOptions(), isOurs: true, notifying: ["service0010/char0011"])
        return PreservedCentral(
            adapter: "00:11:22:33:44:55", peers: [peer], scan: ScanParameters(services: ["180D"]))
    }

    private func files() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }

    private func cleanUp() throws { try FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }

    /// The kernel reports the path in bytes of C's `char`, which has a sign on x86-64, and none on arm64; those of the letter
    /// ü are above 127.
    @Test func thePathOfAProgramMayContainAnyLetter() {
        #expect(PreservationStore.text("/ü/bluectl".utf8.map { CChar(truncatingIfNeeded: $0) }) == "/ü/bluectl")
    }

    @Test func whatIsSavedIsLoadedByItsIdentifier() throws {
        let (one, two) = (Self.state(), Self.state("F0:F1:F2:F3:F4:F6"))
        let store = store
        store.save(two, for: "../two/\n")
        #expect(store.load("../two/\n") == two)
        store.save(one, for: "one")
        #expect(store.load("one") == one)
        #expect(store.load("three") == nil)
        #expect(try files().count == 2)
        store.save(nil, for: "one")
        #expect(store.load("one") == nil)
        #expect(try files().count == 1)
        try cleanUp()
    }

    @Test func programsOfOneNameShareNothing() {
        let one = PreservationStore.name(ofProgram: "/opt/gateway/main")
        let other = PreservationStore.name(ofProgram: "/opt/lock/main")
        #expect(one.hasPrefix("main-") && other.hasPrefix("main-"))
        #expect(one != other)
        #expect(one == PreservationStore.name(ofProgram: "/opt/gateway/main (deleted)"), "an update has replaced it")
    }

    @Test func aFileIsOnTheDiskBeforeItTakesThePlaceOfTheOther() throws {
        // The synchronized files, and the names in the folder at that time.
        let steps = Lock<[String]>([])
        let path = folder.path
        let store = PreservationStore(folder: path) { descriptor in
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return -1 }
            do {
                let names = try FileManager.default.contentsOfDirectory(atPath: path).map {
                    $0.hasSuffix(".json") ? "old or new" : "temporary"
                }
                let what = status.st_mode & S_IFMT == S_IFDIR ? "folder" : "file"
                steps.withLock { $0.append("\(what): \(names.joined(separator: ", "))") }
                return 0
            } catch {
                return -1
            }
        }
        store.save(Self.state(), for: "one")
        #expect(store.load("one") != nil)
        #expect(steps.withLock { $0 } == ["file: temporary", "folder: old or new"])
        try cleanUp()
    }

    @Test func whatDoesNotReachTheDiskLeavesTheFileBefore() throws {
        let fails = Lock(false)
        let store = PreservationStore(folder: folder.path) { _ in
            guard fails.withLock({ $0 }) else { return 0 }
            errno = EIO
            return -1
        }
        let kept = Self.state()
        store.save(kept, for: "one")
        // After earlier writes.
        #expect(store.load("one") == kept)
        fails.withLock { $0 = true }
        store.save(Self.state("F0:F1:F2:F3:F4:F6"), for: "one")
        #expect(store.load("one") == kept)
        #expect(try files().count == 1)
        try cleanUp()
    }

    @Test func onlyTheUserCanReadIt() throws {
        let store = store
        store.save(Self.state(), for: "one")
        #expect(store.load("one") != nil)
        let file = try #require(try files().first)
        func mode(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        }
        #expect(try mode(file) == 0o600)
        #expect(try mode(folder) == 0o700)
        try cleanUp()
    }

    @Test func aFileThatMakesNoSenseRestoresNothing() throws {
        let store = store
        store.save(Self.state(), for: "one")
        #expect(store.load("one") != nil)
        let file = try #require(try files().first)
        for text in ["", "{", "{\"adapter\":1}", "[]", "{\"adapter\":\"x\",\"peers\":[{\"id\":\"y\"}]}"] {
            try Data(text.utf8).write(to: file)
            #expect(store.load("one") == nil)
        }
        try cleanUp()
    }

    @Test func aFileOfHostileContentRestoresNothing() throws {
        let store = store
        store.save(Self.state(), for: "one")
        #expect(store.load("one") != nil)
        let file = try #require(try files().first)
        let encoded = try String(decoding: Data(contentsOf: file), as: UTF8.self)
        let texts = [
            String(repeating: "[", count: 1 << 19), String(repeating: "{\"a\":", count: 1 << 17),
            encoded.replacing("true", with: "\"true\""), encoded.replacing("\"operation\":3", with: "\"operation\":-1"),
            encoded.replacing("\"operation\":3", with: "\"operation\":1e400"), "\u{0}" + encoded, encoded + "x",
            encoded + String(repeating: " ", count: PreservationStore.largestFile),
        ]
        for text in texts {
            try Data(text.utf8).write(to: file)
            #expect(store.load("one") == nil, "\(text.prefix(40))")
        }
        try Data(encoded.utf8).write(to: file)
        #expect(store.load("one") != nil)
        try cleanUp()
    }

    /// A replacement of a file by another program stops no program.
    @Test func whatIsNoFileOfTheUserIsNotRead() throws {
        let store = store
        store.save(Self.state(), for: "one")
        #expect(store.load("one") != nil)
        let file = try #require(try files().first).path
        let other = file + ".other"
        try FileManager.default.moveItem(atPath: file, toPath: other)
        // No program writes to the pipe, so opening it would block forever.
        try #require(mkfifo(file, 0o600) == 0)
        #expect(store.load("one") == nil)
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: other)
        #expect(store.load("one") == nil)
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        #expect(store.load("one") == nil)
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.moveItem(atPath: other, toPath: file)
        #expect(store.load("one") != nil)
        if geteuid() == 0 {
            try #require(chown(file, 12_345, 12_345) == 0)
            #expect(store.load("one") == nil)
        }
        try cleanUp()
    }

    @Test func moreThanIsReadIsNotWritten() throws {
        let store = store
        let kept = Self.state()
        store.save(kept, for: "one")
        var large = kept
        large.peers[0].notifying = [String(repeating: "x", count: PreservationStore.largestFile)]
        store.save(large, for: "one")
        #expect(store.load("one") == kept)
        try cleanUp()
    }

    @Test func withoutAFolderNothingIsKept() {
        let store = PreservationStore(folder: nil)
        store.save(Self.state(), for: "one")
        #expect(store.load("one") == nil)
    }

    @Test(.timeLimit(.minutes(1))) func aDiskThatIsSlowDelaysTheRestoredManagerAlone() async throws {
        let mayGoOn = DispatchSemaphore(value: 0)
        let (begun, hasBegun) = AsyncStream<Void>.makeStream()
        let store = PreservationStore(folder: folder.path) { _ in
            hasBegun.yield()
            mayGoOn.wait()
            mayGoOn.signal()
            return 0
        }
        store.save(Self.state(), for: "app")
        for await _ in begun { break }
        let (fixture, restored) = (try BackendFixture(), EventRecorder())
        let backend = fixture.makeBackend(store: store)
        let second = backend.makeCentral(RoleOptions(restoreIdentifier: "app"))
        second.activate(restored)
        let (daemon, first, _, link) = try await fixture.connected(of: backend)
        #expect(restored.events.elements.isEmpty)
        mayGoOn.signal()
        try await restored.wait(for: .poweredOn)
        guard case .restored? = restored.events.elements.first else {
            Issue.record("\(restored.events.elements)")
            return
        }
        first.invalidate()
        second.invalidate()
        try cleanUp()
        withExtendedLifetime((daemon, link)) {}
    }

    @Test func aManagerThatIsReleasedWhileItsStateIsReadReceivesNothing() async throws {
        let (fixture, restored) = (try BackendFixture(), EventRecorder())
        let backend = fixture.makeBackend(store: store)
        let central = backend.makeCentral(RoleOptions(restoreIdentifier: "app"))
        central.activate(restored)
        central.invalidate()
        let (daemon, first, _, _) = try await fixture.connected(of: backend)
        #expect(restored.events.elements.isEmpty)
        first.invalidate()
        withExtendedLifetime(daemon) {}
    }

    @Test func S141_aBackendGetsBackWhatAnotherLeftThoughItNeverSaidGoodbye() async throws {
        let (fixture, store) = (try BackendFixture(), store)
        let (daemon, first, peer) = try await fixture.discovered(
            of: fixture.makeBackend(store: store), restoring: "app")
        first.submit(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        try await fixture.recorder.events.first { if case .connected = $0 { true } else { false } }
        let later = EventRecorder()
        let second = fixture.makeBackend(store: store).makeCentral(RoleOptions(restoreIdentifier: "app"))
        second.activate(later)
        try await later.wait(for: .poweredOn)
        guard case .restored(let state)? = later.events.elements.first else {
            Issue.record("\(later.events.elements)")
            return
        }
        #expect(state.peers.map(\.summary.id) == [peer])
        let link = try #require(state.peers.first?.link)
        #expect(state.peers.first?.services.map(\.record.uuid) == ["180D"])
        #expect(state.scan == ScanParameters())
        // The first change of services is a real one, because restored services are not changes.
        let new = daemon.addService(fixture.device, handle: "0020", uuid: "0000180f-0000-1000-8000-00805f9b34fb")
        let change = try await later.events.first { if case .servicesChanged = $0 { true } else { false } }
        guard case .servicesChanged(link, [], let added) = change else {
            Issue.record("\(change)")
            return
        }
        #expect(added.map(\.uuid) == ["180F"] && daemon.service.paths.contains(new))
        // After pending writes.
        #expect(store.load("app") != nil)
        try cleanUp()
        withExtendedLifetime((daemon, first, second)) {}
        first.invalidate()
        second.invalidate()
    }
}
#endif
