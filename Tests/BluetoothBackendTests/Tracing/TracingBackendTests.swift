import BluetoothBackend
import BluetoothInstrumentation
import BluetoothSupport
import FoundationEssentials
import Logging
import Synchronization
import Testing

/// Tests that a trace records all messages and changes nothing.
struct TracingBackendTests {
    private let base = TestBackend()
    private let sink = TestSink<CentralEvent>()

    private func texts(_ backend: TracingBackend) -> [String] {
        backend.trace.entries.map { "\($0.category.rawValue) \($0.text)" }
    }

    @Test func itIsTheBackendItself() {
        let backend = TracingBackend(around: base, to: .memory)
        #expect(backend.name == "test")
        #expect(backend.clock as? TestClock === base.testClock)
        #expect(backend.authorization() == .denied)
        #expect(backend.supports(.pairing))
        #expect(!backend.supports(.channels))
        let central = backend.makeCentral(RoleOptions())
        #expect(central.knownPeers([Samples.peer]).map(\.id) == [Samples.peer])
        #expect(central.connectedPeers(offering: []).map(\.id) == [Samples.peer])
    }

    @Test func commandsAndEventsPassUnchangedAndAreReportedInOrder() {
        let backend = TracingBackend(around: base, to: .memory)
        let central = backend.makeCentral(RoleOptions(adapter: "hci1"))
        central.activate(sink)
        base.testClock.advance(by: .milliseconds(1500))
        base.central.role.deliver(.stateChanged(.poweredOn))
        central.submit(.startScan(ScanParameters(services: ["180D"])))
        base.central.role.deliver(.discovered(Samples.discovery))
        #expect(sink.takeEvents() == [.stateChanged(.poweredOn), .discovered(Samples.discovery)])
        #expect(base.central.role.takeCommands() == [.startScan(ScanParameters(services: ["180D"]))])
        central.invalidate()
        #expect(base.central.role.isInvalidated)
        #expect(
            texts(backend) == [
                "configuration makeCentral adapter=hci1", "configuration activate",
                "callback stateChanged state=poweredOn", "command startScan services=[180D] duplicates=false",
                "callback discovered peer=\(Samples.peer):\"Heart Rate\" rssi=-51 address=<private> "
                    + "name=\"Heart Rate\" txPower=-4 services=[180D,0000180F] overflow=[1234] solicited=[180A] serviceData.180F=<1 bytes> "
                    + "manufacturerData=<3 bytes> connectable=true",
                "configuration invalidate",
            ])
        #expect(backend.trace.entries.map(\.source) == Array(repeating: "central 1", count: 6))
        #expect(backend.trace.entries.map(\.time) == [0, 0, 1500, 1500, 1500, 1500].map { .milliseconds($0) })
    }

    @Test func valuesAndAddressesArePrivateUnlessAskedFor() {
        for showsValues in [false, true] {
            let base = TestBackend()
            let backend = TracingBackend(around: base, to: .memory, showsValues: showsValues)
            let central = backend.makeCentral(RoleOptions())
            let peripheral = backend.makePeripheral(RoleOptions())
            let pairing = backend.makePairing()
            central.activate(TestSink<CentralEvent>())
            peripheral.activate(TestSink<PeripheralEvent>())
            pairing.activate(TestSink<PairingEvent>())
            for command in Samples.centralCommands { central.submit(command) }
            for command in Samples.peripheralCommands { peripheral.submit(command) }
            for command in Samples.pairingCommands { pairing.submit(command) }
            for event in Samples.centralEvents { base.central.role.deliver(event) }
            for event in Samples.peripheralEvents { base.peripheral.role.deliver(event) }
            for event in Samples.pairingEvents { base.pairing.role.deliver(event) }
            let lines = backend.trace.entries.map(\.text)
            for secret in ["0648", "4C0001", "C0:FF:EE", "123456", "passkey=42"] {
                #expect(lines.contains { $0.contains(secret) } == showsValues, "\(secret)")
            }
        }
    }

    @Test func eachCommandAndEventIsNamedAndHasItsFields() {
        let backend = TracingBackend(around: base, to: .memory)
        let central = backend.makeCentral(RoleOptions())
        for command in Samples.centralCommands { central.submit(command) }
        let lines = backend.trace.entries.dropFirst().map(\.text)
        for (line, command) in zip(lines, Samples.centralCommands) { #expect(line.hasPrefix(command.kind.rawValue)) }
        #expect(lines.contains("write link=3 operation=7 attribute=12 value=<2 bytes>"))
        #expect(lines.contains("setNotifying link=3 operation=7 attribute=12 enabled=true"))
    }

    @Test func identifiersAreFollowedByTheNamesThatEarlierLinesGave() {
        let backend = TracingBackend(around: base, to: .memory)
        let central = backend.makeCentral(RoleOptions())
        central.activate(sink)
        let (link, operation) = (Samples.link, Samples.operation)
        base.central.role.deliver(
            .discovered(Samples.discovery),
            .connected(
                peer: Samples.peer, link: link, operation: operation,
                parameters: LinkParameters(mtu: 185, writeCredits: 4)),
            .response(link: link, operation: operation, .services([Samples.service])))
        central.submit(
            .request(link: link, operation: operation, .discoverCharacteristics(of: Samples.service.id, nil)))
        base.central.role.deliver(
            .response(link: link, operation: operation, .characteristics([Samples.characteristic])))
        central.submit(.request(link: link, operation: operation, .discoverDescriptors(of: Samples.attribute)))
        base.central.role.deliver(.response(link: link, operation: operation, .descriptors([Samples.descriptor])))
        central.submit(.request(link: link, operation: operation, .read(Samples.descriptor.id)))
        base.central.role.deliver(.valueNotified(link: link, attribute: Samples.attribute, value: Samples.value))
        let name = "link=3:\"Heart Rate\""
        #expect(
            backend.trace.entries.dropFirst(3).map(\.text) == [
                "connected peer=\(Samples.peer):\"Heart Rate\" \(name) operation=7 mtu=185 credits=4",
                "servicesDiscovered \(name) operation=7 services=[1:180D@0x0010]",
                "discoverCharacteristics \(name) operation=7 service=1:180D@0x0010",
                "characteristicsDiscovered \(name) operation=7 service=1:180D@0x0010 "
                    + "characteristics=[12:180D/2A37@0x0012]",
                "discoverDescriptors \(name) operation=7 characteristic=12:180D/2A37@0x0012",
                "descriptorsDiscovered \(name) operation=7 characteristic=12:180D/2A37@0x0012 "
                    + "descriptors=[13:180D/2A37/2902]",
                "read \(name) operation=7 attribute=13:180D/2A37/2902",
                "valueNotified \(name) attribute=12:180D/2A37@0x0012 value=<2 bytes>",
            ])
    }

    @Test func attributesOfAnotherRoleHaveNoNames() {
        let backend = TracingBackend(around: base, to: .memory)
        let peripheral = backend.makePeripheral(RoleOptions())
        peripheral.submit(.addService(operation: Samples.operation, service: Samples.definition))
        peripheral.submit(.removeService(Samples.definition.id))
        let other = backend.makePeripheral(RoleOptions())
        other.submit(.removeService(Samples.definition.id))
        #expect(
            backend.trace.entries.map(\.text).filter { !$0.hasPrefix("make") } == [
                "addService operation=7 service=1:180D characteristics=[12:180D/2A37]", "removeService service=1:180D",
                "removeService service=1",
            ])
    }

    @Test func namesAreBoundedAndEscaped() {
        var names = TraceNames()
        func line(_ peer: Int) -> String {
            names.line(for: CentralCommand.disconnect(peer: Self.peer(peer)), role: 1, showsValues: true).text
        }
        for number in 0...1024 { names.learn(Self.peer(number), "Peer \(number)") }
        names.learn(Self.peer(5), "\"\n" + String(repeating: "x", count: 100))
        #expect(line(0) == "disconnect peer=\(Self.peer(0))")
        #expect(line(1).hasSuffix(":\"Peer 1\""))
        #expect(line(5).hasSuffix(":\"\\\"\\n" + String(repeating: "x", count: 62) + "\""))
    }

    private static func peer(_ number: Int) -> PeerID {
        let (high, low) = (UInt8(number >> 8), UInt8(truncatingIfNeeded: number))
        return PeerID(UUID(uuid: (high, low, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    }

    @Test func categoriesDistinguishDataFromCommandsAndCallbacks() {
        let backend = TracingBackend(around: base, to: .memory)
        let central = backend.makeCentral(RoleOptions())
        central.activate(sink)
        central.submit(.request(link: Samples.link, operation: Samples.operation, .readRSSI))
        central.submit(.request(link: Samples.link, operation: Samples.operation, .read(Samples.attribute)))
        base.central.role.deliver(
            .response(link: Samples.link, operation: Samples.operation, .rssi(-3)),
            .valueNotified(link: Samples.link, attribute: Samples.attribute, value: Samples.value))
        backend.trace.log("power off")
        #expect(
            backend.trace.entries.map(\.category) == [
                .configuration, .configuration, .command, .data, .callback, .data, .simulation,
            ])
    }

    @Test func rolesAreNumbered() {
        let backend = TracingBackend(around: base, to: .memory)
        _ = backend.makeCentral(RoleOptions())
        _ = backend.makePeripheral(RoleOptions(restoreIdentifier: "app"))
        _ = backend.makePairing()
        #expect(backend.trace.entries.map(\.source) == ["central 1", "peripheral 2", "pairing 3"])
        #expect(
            texts(backend) == [
                "configuration makeCentral", "configuration makePeripheral restoreIdentifier=app",
                "configuration makePairing",
            ])
    }

    @Test func afterDeliveryIsTheReceiversOwn() {
        let backend = TracingBackend(around: base, to: .memory)
        backend.makeCentral(RoleOptions()).activate(sink)
        let isSettled = Lock(false)
        base.central.role.deliver(.stateChanged(.poweredOn))
        base.central.role.sink?.afterDelivery { isSettled.withLock { $0 = true } }
        #expect(!isSettled.withLock { $0 })
        #expect(sink.takeEvents() == [.stateChanged(.poweredOn)])
        #expect(isSettled.withLock { $0 })
        #expect(base.central.role.sink?.label == "test")
    }

    @Test func aLogGetsTheLinesInTheReceiversTurn() {
        let recorder = LogRecorder()
        let backend = TracingBackend(around: base, to: .log(recorder.logger))
        backend.makeCentral(RoleOptions()).activate(sink)
        base.central.role.deliver(.stateChanged(.poweredOn))
        #expect(recorder.lines == ["configuration central 1 makeCentral", "configuration central 1 activate"])
        sink.drain()
        #expect(recorder.lines.last == "callback central 1 stateChanged state=poweredOn")
        #expect(backend.trace.entries.isEmpty)
    }
}

/// A logger whose lines a test reads.
private final class LogRecorder: Sendable {
    private let kept = Lock<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(recorder: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = ["category", "source"].compactMap { event.metadata?[$0].map { "\($0)" } }
            recorder.kept.withLock { $0.append((fields + ["\(event.message)"]).joined(separator: " ")) }
        }
    }
}
