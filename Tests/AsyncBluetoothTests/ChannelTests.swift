import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import Dispatch
import Foundation
import LogCapture
import Logging
import Testing

/// L2CAP channels in real time.
@Suite struct ChannelTests {
    private func connect() async throws -> Peripheral {
        let emulator = Emulator(configuration: .instant)
        var description = PeripheralDescription.gadget
        description.channels = [ChannelDescription(psm: 0x80, echo: true)]
        try emulator.add(description)
        return try await Fixture.first(Central(backend: .emulator(emulator)))
    }

    @Test func bytesComeBackInOrder() async throws {
        let peripheral = try await connect()
        let channel = try await peripheral.openChannel(0x80)
        let sent = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        async let writing: Void = channel.write(sent)
        var received = Data()
        for try await bytes in channel.bytes {
            received += bytes
            if received.count >= sent.count { break }
        }
        try await writing
        #expect(received == sent)
        #expect(channel.peer == peripheral.identifier)
    }

    @Test func aChannelKeepsTheLinkOfItsPeripheral() async throws {
        let emulator = Emulator(configuration: .instant)
        var description = PeripheralDescription.gadget
        description.channels = [ChannelDescription(psm: 0x80, echo: true)]
        let device = try emulator.add(description)
        let central = Central(backend: .emulator(emulator))
        // Only the channel refers to the peripheral.
        let channel = try await Fixture.first(central).openChannel(0x80)
        try await channel.write(Data([1]))
        #expect(try await channel.read() == Data([1]))
        #expect(device.connectionCount == 1)
    }

    @Test func theEndOfTheLinkEndsTheBytesByThrowing() async throws {
        let peripheral = try await connect()
        let channel = try await peripheral.openChannel(0x80)
        let reading = Task { for try await _ in channel.bytes {} }
        await peripheral.disconnect()
        let error = await #expect(throws: BluetoothError.self) { try await reading.value }
        #expect(error?.operation == .channel)
        #expect(error?.peer == peripheral.identifier)
        #expect(error?.path == "PSM 128")
        await #expect(throws: BluetoothError.self) { try await channel.write(Data([1])) }
    }

    @Test func aLinkThatIsLostEndsTheBytesByThrowing() async throws {
        let emulator = Emulator(configuration: .instant)
        var description = PeripheralDescription.gadget
        description.channels = [ChannelDescription(psm: 0x80, echo: true)]
        let device = try emulator.add(description)
        let peripheral = try await Fixture.first(Central(backend: .emulator(emulator)))
        let channel = try await peripheral.openChannel(0x80)
        let reading = Task { for try await _ in channel.bytes {} }
        device.disconnect()
        let error = await #expect(throws: BluetoothError.self) { try await reading.value }
        guard case .disconnected = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// The streams end before the manager's queue receives the disconnection.
    @Test(arguments: [true, false]) func afterALossTheNextOperationConnects(isReading: Bool) async throws {
        LogCapture.start()
        let emulator = Emulator(configuration: .instant)
        var description = PeripheralDescription.gadget
        description.channels = [ChannelDescription(psm: 0x80, echo: true)]
        // No other test has this device, so the lines about it are this test's.
        description.address = isReading ? "C0:DE:10:55:00:01" : "C0:DE:10:55:00:02"
        let device = try emulator.add(description)
        let gate = LogGate(at: "disconnected from")
        let settings = Central.Settings(logger: Logger(label: "gate") { _ in gate })
        let peripheral = try await Fixture.first(Central(backend: .emulator(emulator), settings: settings))
        let channel = try await peripheral.openChannel(0x80)
        let next = Task {
            await #expect(throws: BluetoothError.self) {
                while true {
                    if isReading {
                        _ = try #require(try await channel.read())
                    } else {
                        try await channel.write(Data(count: 1000))
                    }
                }
            }
            return try await peripheral.read("FFF0/FFF1")
        }
        device.disconnect()
        try await gate.reached.value {}
        // CoreBluetooth has ended the link, and its callback is still to come.
        let other = Task { try await peripheral.read("FFF0/FFF1") }
        for _ in 0..<100 { await Task.yield() }
        gate.open.signal()
        #expect(try await next.value == Data([1]))
        #expect(try await other.value == Data([1]))
        let misuse = LogCapture.lines(containing: "API MISUSE")
        #expect(!misuse.contains { $0.contains(peripheral.identifier.uuidString) })
    }

    @Test func closingEndsWhatWaits() async throws {
        let peripheral = try await connect()
        let channel = try await peripheral.openChannel(0x80)
        let end = Task { try await channel.read() }
        channel.close()
        await #expect(throws: BluetoothError.self) { try await end.value }
    }

    @Test func aServerGetsTheChannelsThatOthersOpen() async throws {
        let emulator = Emulator(configuration: .instant)
        let server = PeripheralServer(backend: .emulator(emulator))
        let psm = try await server.publishChannel()
        try await server.startAdvertising(name: "Server", services: [CBUUID(string: "FFF0")])
        var incoming = server.channels.makeAsyncIterator()
        let peripheral = try await Fixture.first(Central(backend: .emulator(emulator)))
        let near = try await peripheral.openChannel(psm)
        let opened = await incoming.next()
        let far = try #require(opened)
        #expect(far.psm == psm)
        try await near.write(Data("to the server".utf8))
        #expect(try await far.read() == Data("to the server".utf8))
        try await far.write(Data("and back".utf8))
        #expect(try await near.read() == Data("and back".utf8))
        far.close()
        // The other side closed the channel while the link is up: the stream ends without an error.
        #expect(try await near.read() == nil)
        server.unpublishChannel(psm)
        await #expect(throws: BluetoothError.self) { try await peripheral.openChannel(psm) }
    }

    @Test func aChannelThatIsNotThereIsAnError() async throws {
        let peripheral = try await connect()
        await #expect(throws: BluetoothError.self) { try await peripheral.openChannel(0x99) }
        await #expect(throws: BluetoothError.self) { try await peripheral.openChannel(0) }
    }
}

/// A log handler that stops the thread that logs a text for the first time, until it is opened.
private struct LogGate: LogHandler {
    private let text: String
    private let wasReached = Flag()
    let reached = Waiter<Void>()
    let open = DispatchSemaphore(value: 0)
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    init(at text: String) { self.text = text }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard "\(event.message)".contains(text), !wasReached.isSet else { return }
        wasReached.set()
        reached.finish(.success(()))
        open.wait()
    }
}
