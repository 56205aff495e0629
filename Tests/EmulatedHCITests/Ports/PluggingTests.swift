#if os(Linux)
import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Dispatch
import Glibc
import Testing

@testable import EmulatedHCI

/// The world's plug of a host outside of the emulator, in real time.
@Suite(.timeLimit(.minutes(2))) final class PluggingTests: Sendable {
    /// A kernel whose ends of the connections are a test's.
    private final class Kernel: PortTransport {
        private struct State {
            var ends: [CInt] = []
            var hasDriver = true
        }

        private let state = Lock(State())
        private let semaphore = DispatchSemaphore(value: 0)

        var address: HCIPortAddress { .usb }
        var place: String { "the kernel of a test" }
        var listener: CInt? { nil }
        var isKernelDevice: Bool { true }

        deinit { for end in state.withLock({ $0.ends }) { Glibc.close(end) } }

        func open() throws(HCIPortError) -> PortStream? {
            guard state.withLock({ $0.hasDriver }) else { throw .unavailable(.usb, "no driver") }
            var ends: [CInt] = [0, 0]
            guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
                throw .unavailable(.usb, systemReason)
            }
            ends[0].makeNonBlocking()
            state.withLock { $0.ends.append(ends[1]) }
            return PortStream(descriptor: ends[0])
        }

        func close() {}

        func removeDriver() { state.withLock { $0.hasDriver = false } }

        /// The connections of which no test has the end.
        var count: Int { state.withLock { $0.ends.count } }

        /// The host of the next connection.
        func host() async throws -> TestHost {
            try await eventually("a connection") { self.count > 0 }
            return TestHost(state.withLock { $0.ends.removeFirst() })
        }
    }

    private let emulator = Emulator(configuration: .instant)
    private let ports = Lock<[HCIPort]>([])
    private let servers = Lock<[PortServer]>([])

    deinit { for server in servers.withLock({ $0 }) { server.close() } }

    private func host() throws -> EmulatedHost { try #require(emulator.host(named: "external")) }

    private func open(on address: HCIPortAddress = .tcp(port: 0)) throws -> HCIPort {
        let port = try HCIPort.open(emulator, host: "external", on: address)
        ports.withLock { $0.append(port) }
        return port
    }

    private func serve(_ kernel: Kernel) throws {
        let host = try emulator.add(HostDescription(name: "external"))
        let server = PortServer(host, kernel, try kernel.open())
        servers.withLock { $0.append(server) }
    }

    private func connected(_ host: TestHost) async throws -> UInt16 {
        try await host.begin()
        return try await host.connect(to: try await host.find("Box"))
    }

    // MARK: Sockets and terminals

    @Test func anUnpluggedAdapterIsGoneWithoutAnotherWord() async throws {
        let port = try open()
        try emulator.add(.box())
        let host = try TestHost(port)
        let link = try await connected(host)
        try self.host().setPlugged(false)
        try await host.closed()
        #expect(try await !host.hasSeenEnd(of: link))
        #expect(emulator.devices.first?.connections.count == 0)
    }

    @Test func aPortRefusesHostsUntilItsAdapterIsPluggedInAgain() async throws {
        let port = try open()
        let first = try TestHost(port)
        let address = try await first.begin()
        try host().setPlugged(false)
        try await first.closed()
        #expect(try await !TestHost(port).isAccepted())
        try host().setPlugged(true)
        // The port follows the world after a moment.
        var second: TestHost?
        for _ in 0..<1_000 where second == nil {
            let host = try TestHost(port)
            if try await host.isAccepted() { second = host }
        }
        #expect(try await second?.begin() == address)
    }

    @Test func aTerminalAnswersAgainWhenTheAdapterIsPluggedIn() async throws {
        let port = try open(on: .pty)
        try emulator.add(.box())
        let host = try TestHost(port)
        let link = try await connected(host)
        try self.host().setPlugged(false)
        try await eventually("the end of the link") { self.emulator.devices.first?.connections.count == 0 }
        try self.host().setPlugged(true)
        try await host.begin()
        #expect(try await !host.hasSeenEnd(of: link))
        _ = try await host.find("Box")
    }

    // MARK: The kernel

    @Test func theKernelsDeviceIsUnpluggedAndPluggedInWithItsHost() async throws {
        let kernel = Kernel()
        try serve(kernel)
        let first = try await kernel.host()
        let address = try await first.begin()
        try host().setPlugged(false)
        try await first.closed()
        #expect(kernel.count == 0)
        try host().setPlugged(true)
        let second = try await kernel.host()
        #expect(try await second.begin() == address)
        #expect(kernel.count == 0, "it is plugged in once")
    }

    /// As `usbip detach` does, or a driver that is removed.
    @Test func aDeviceThatTheKernelRemovesIsUnplugged() async throws {
        let kernel = Kernel()
        try serve(kernel)
        let first = try await kernel.host()
        try await first.begin()
        first.close()
        try await eventually("an unplugged adapter") { try self.host().state == .unsupported }
        #expect(kernel.count == 0, "it is not plugged in by itself")
        try host().setPlugged(true)
        let second = try await kernel.host()
        try await second.begin()
        #expect(try host().state == .poweredOn)
    }

    @Test func anAdapterThatTheKernelRefusesStaysUnplugged() async throws {
        let kernel = Kernel()
        try serve(kernel)
        let first = try await kernel.host()
        try host().setPlugged(false)
        try await first.closed()
        kernel.removeDriver()
        try host().setPlugged(true)
        try await eventually("an unplugged adapter") { try self.host().state == .unsupported }
        #expect(kernel.count == 0)
    }
}

/// Waits for a condition of the world, which changes on queues that a test does not see.
private func eventually(_ what: String, _ condition: () throws -> Bool) async throws {
    for _ in 0..<1_000_000 {
        if try condition() { return }
        await Task.yield()
    }
    throw Waiting.Deadline(what: what)
}
#endif
