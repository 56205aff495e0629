#if os(Linux)
import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import BluetoothValues
import Dispatch
import Glibc
import Testing

@testable import EmulatedHCI

/// Hosts on real sockets and terminals, in real time.
@Suite(.timeLimit(.minutes(2))) final class HCIPortTests: Sendable {
    private static let described = PeripheralDescription.box(services: [
        ServiceDescription(
            "FFE0",
            characteristics: [
                CharacteristicDescription("FFE1", [.read, .write, .writeWithoutResponse], value: Data([1, 2, 3])),
                CharacteristicDescription("FFE2", [.notify]),
            ])
    ])

    /// The attributes of a host as a peripheral: its name, a value, and notifications.
    private static let served: ServedAttributes = {
        var attributes = ServedAttributes([
            TappedService(
                handles: 1...3, uuid: "1800", isPrimary: true, included: [], characteristics: [.at(2, 2, "2A00")]),
            TappedService(
                handles: 10...20, uuid: "FFF0", isPrimary: true, included: [],
                characteristics: [
                    .at(11, 0x02, "FFF1"), .at(13, 0x0C, "FFF2"), .at(15, 0x10, "FFF3", [(17, "2902")]),
                    .at(18, 0x02, "FFF4"),
                ]),
        ])
        attributes.values = [3: Array("Firmware".utf8), 12: Array("firmware 1.2.3".utf8)]
        attributes.refusals = [19: 0x80]
        return attributes
    }()

    private let emulator = Emulator(configuration: .instant)
    /// The ports, which close when nothing refers to them.
    private let ports = Lock<[HCIPort]>([])

    private func open(_ name: String = "external", on address: HCIPortAddress = .tcp(port: 0)) throws -> HCIPort {
        let port = try HCIPort.open(emulator, host: name, on: address)
        ports.withLock { $0.append(port) }
        return port
    }

    private func box() throws -> EmulatedDevice { try emulator.add(Self.described) }

    private func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        var template = Array("/tmp/hci-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { rmdir(folder) }
        return try await body(folder)
    }

    // MARK: Observation

    @Test func aCaptureHasThePacketsOfAHostAndItsControllerAsTheyAre() async throws {
        let port = try open()
        _ = try box()
        let captured = try await withFolder { folder in
            let file = folder + "/air.pcapng"
            defer { unlink(file) }
            let capture = try emulator.capture(to: file)
            let host = try TestHost(port)
            try await host.begin()
            let link = try await host.connect(to: try await host.find("Box"))
            #expect(try await host.perform(.read(handle: 3), on: link) == .value(Array("Box".utf8)))
            try await host.disconnect(link)
            _ = try await host.end(of: link)
            capture.stop()
            var reader = try CaptureReader([UInt8](Data(contentsOf: URL(fileURLWithPath: file))), file: file)
            var packets: [HCIPacket] = []
            while let record = try reader.next() {
                if case .packet(let packet) = record, packet.host == 1 { packets.append(packet.packet) }
            }
            return (packets, link)
        }
        let (packets, link) = captured
        #expect(packets.first == HCIPacket(kind: .command, isReceived: false, body: [0x03, 0x0C, 0]))
        #expect(packets.dropFirst().first?.body == [0x0E, 4, 1, 0x03, 0x0C, 0])
        #expect(packets.count { $0.kind == .command && $0.body.starts(with: [0x09, 0x10]) } == 1, "the host's own")
        let requests = packets.filter { $0.kind == .acl && !$0.isReceived }
        #expect(requests.map(\.body) == [link.bytes + [7, 0, 3, 0, 4, 0, 0x0A, 3, 0]])
        let responses = packets.filter { $0.kind == .acl && $0.isReceived }
        #expect(responses.map { Array($0.body.dropFirst(8)) } == [[0x0B] + Array("Box".utf8)])
    }

    @Test func aTapSeesWhetherAHostIsAttachedToItsPort() async throws {
        let states = Waiting("states")
        let seen = Lock<[HostPort?]>([])
        let tap = emulator.tap([.hosts]) { event in
            switch event.kind {
            case .hostAdded(let host), .hostChanged(let host):
                guard host.name == "external" else { return }
                seen.withLock { if $0.last != host.port { $0.append(host.port) } }
                states.queue.async { states.check() }
            default: break
            }
        }
        let port = try open()
        var host = try TestHost(port) as TestHost?
        try await host?.begin()
        host = nil
        let (waits, attached) = (
            HostPort(address: port.address, isAttached: false), HostPort(address: port.address, isAttached: true)
        )
        try await states.value("the host left") {
            seen.withLock { $0.last == waits && $0.contains(attached) } ? () : nil
        }
        port.close()
        try await states.value("the port is closed") { seen.withLock { $0.last == .some(nil) } ? () : nil }
        #expect(seen.withLock { $0.dropFirst() } == [waits, attached, waits, nil])
        tap.cancel()
    }

    // MARK: The central

    /// Finds the box, and uses all of it.
    private func use(_ box: EmulatedDevice, from host: TestHost) async throws {
        try await host.begin()
        let address = try await host.find("Box")
        #expect(address == HCIAddress(bits: 0xC0DE_0000_0001, isRandom: true))
        let link = try await host.connect(to: address)
        let services = try await host.services(on: link)
        let characteristics = services.filter { $0.uuid == "FFE0" }.flatMap(\.characteristics)
        #expect(characteristics.map(\.uuid) == ["FFE1", "FFE2"])
        let (value, notified) = (try #require(characteristics.first), try #require(characteristics.last))
        #expect(try await host.perform(.read(handle: value.valueHandle), on: link) == .value([1, 2, 3]))
        let long = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try await host.perform(.write(handle: value.valueHandle, long), on: link) == .written)
        #expect(try await host.perform(.read(handle: value.valueHandle), on: link) == .value(long))
        #expect(try await host.perform(.writeCommand(handle: value.valueHandle, [9]), on: link) == .written)
        #expect(try await host.perform(.read(handle: value.valueHandle), on: link) == .value([9]))
        #expect(try await host.perform(.read(handle: 0x7777), on: link) == .failed(.invalidHandle))
        let configuration = try #require(notified.descriptors.first { $0.uuid == "2902" })
        #expect(try await host.perform(.write(handle: configuration.handle, [1, 0]), on: link) == .written)
        for byte: UInt8 in 0..<100 { box.notify("FFE2", value: Data([byte])) }
        #expect(try await host.notified(100, on: link) == (0..<100).map { [UInt8($0)] })
        try await host.disconnect(link)
        #expect(try await host.end(of: link) == 0x16)
    }

    /// Linux reports a device when it has its scan response, or hears another one.
    @Test func aDeviceWithoutAScanResponseAnswersWithAnEmptyOne() async throws {
        let host = try TestHost(try open())
        _ = try box()
        try await host.begin()
        #expect(try await host.scanResponse(of: try await host.find("Box")).data == [])
    }

    @Test func aSignalStrengthThatCannotBeMeasuredAnswersNoOtherRequest() async throws {
        let port = try open()
        let host = try TestHost(port)
        _ = try box()
        try await host.begin()
        let link = try await host.connect(to: try await host.find("Box"))
        let services = try await host.services(on: link)
        let value = try #require(services.first { $0.uuid == "FFE0" }?.characteristics.first)
        let adapter = try #require(emulator.hosts.first { $0.name != "default" })
        adapter.setSupport(.connectedRSSI, false)
        async let read = host.perform(.read(handle: value.valueHandle), on: link)
        #expect(try await host.command(0x1405, link.bytes).last == 127)
        #expect(try await read == .value([1, 2, 3]))
        adapter.setSupport(.connectedRSSI, true)
        #expect(try await host.command(0x1405, link.bytes).last != 127)
        port.close()
    }

    @Test func aRequestThatAHostDoesNotAnswerDelaysOnlyItsOwnCentral() async throws {
        let port = try open("firmware")
        let host = try TestHost(port)
        try await host.begin()
        var attributes = Self.served
        attributes.held = [12]
        try await host.advertise("Firmware", attributes)
        let centrals = [
            TestCentral(emulator), TestCentral(emulator, host: try emulator.add(HostDescription(name: "second"))),
        ]
        let waiting = try await centrals[0].connect(to: "Firmware")
        let held = try #require(try await centrals[0].characteristics(on: waiting.link)["FFF1"])
        centrals[0].role.submit(
            .request(link: waiting.link, operation: OperationID(rawValue: 99), .read(held.id)))
        _ = try await host.command(TestHost.Command.setAdvertisingEnable, [1])
        let served = try await centrals[1].connect(to: "Firmware")
        let other = try #require(try await centrals[1].characteristics(on: served.link)["FFF4"])
        let answer = try await centrals[1].request(.read(other.id), on: served.link)
        #expect(answer == .failure(.att(0x80, operation: "request")))
        port.close()
    }

    @Test func aCentralUsesADescribedDeviceOverTCP() async throws {
        let port = try open()
        try await use(try box(), from: TestHost(port))
        port.close()
    }

    @Test func aCentralUsesADescribedDeviceOverASocketFileOfItsOwner() async throws {
        try await withFolder { folder in
            let path = folder + "/hci"
            let port = try open(on: .unix(path: path))
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            try await use(try box(), from: TestHost(port))
            port.close()
            #expect(stat(path, &status) == -1 && errno == ENOENT)
            try open(on: .unix(path: path)).close()
            _ = try open(on: .unix(path: path))
        }
    }

    @Test func aCentralUsesADescribedDeviceOverATerminal() async throws {
        let port = try open(on: .pty)
        #expect(port.place.hasPrefix("/dev/pts/"))
        try await use(try box(), from: TestHost(port))
        port.close()
    }

    // MARK: The peripheral

    private func advertising(on port: HCIPort) async throws -> TestHost {
        let host = try TestHost(port)
        try await host.begin()
        try await host.advertise("Firmware", Self.served)
        return host
    }

    @Test func anAppUsesAPeripheral() async throws {
        let host = try await advertising(on: open())
        let central = TestCentral(emulator)
        let (peer, link) = try await central.connect(to: "Firmware")
        let handle = try await host.link(isCentral: false)
        let found = try await central.characteristics(on: link)
        let (read, written) = (try #require(found["FFF1"]?.id), try #require(found["FFF2"]?.id))
        let (notified, refused) = (try #require(found["FFF3"]?.id), try #require(found["FFF4"]?.id))
        #expect(try await central.request(.read(read), on: link) == .value(Data("firmware 1.2.3".utf8)))
        guard case .failure(let error) = try await central.request(.read(refused), on: link) else {
            Issue.record("the host refuses the value")
            return
        }
        #expect(error.attCode == 0x80)
        let long = Data((0..<400).map { UInt8(truncatingIfNeeded: $0) })
        #expect(try await central.request(.write(written, long), on: link) == .written)
        #expect(try await host.written(14, on: handle) == Array(long))
        central.role.submit(.writeCommand(link: link, attribute: written, value: Data([7])))
        #expect(try await central.request(.setNotifying(notified, true), on: link) == .notifying(true))
        #expect(try await host.attributes(on: handle).commands == [14: [7]])
        for number: UInt16 in 0..<1_000 { host.notify(16, number.bytes, on: handle) }
        #expect(try await central.notified(1_000) == (0..<1_000).map { Data(UInt16($0).bytes) })
        central.role.submit(.disconnect(peer: peer))
        #expect(try await central.end(of: link) == .local)
        #expect(try await host.end(of: handle) == 0x13)
    }

    @Test func aPeripheralThatDisconnectsEndsTheLinkOfTheApp() async throws {
        let host = try await advertising(on: open())
        let central = TestCentral(emulator)
        let (_, link) = try await central.connect(to: "Firmware")
        let handle = try await host.link(isCentral: false)
        try await host.disconnect(handle)
        #expect(try await host.end(of: handle) == 0x16)
        #expect(try await central.end(of: link) == .remote)
    }

    @Test func aPeripheralThatLeavesIsGone() async throws {
        let port = try open()
        let host = try await advertising(on: port)
        let central = TestCentral(emulator)
        let (_, link) = try await central.connect(to: "Firmware")
        _ = try await host.link(isCentral: false)
        host.close()
        #expect(try await central.end(of: link) != .local)
        // Only an attached host is answered, after the former one is gone.
        let other = try await TestHost.attached(to: port)
        #expect(emulator.devices.map(\.name) == [])
        other.close()
    }

    // MARK: The end of links and hosts

    @Test func aDeviceThatIsOutOfRangeEndsItsLinkByTimeout() async throws {
        let (port, box) = (try open(), try box())
        let host = try TestHost(port)
        try await host.begin()
        let link = try await host.connect(to: try await host.find("Box"))
        box.setProximity(.outOfRange)
        #expect(try await host.end(of: link) == 0x08)
    }

    @Test func anAdapterThatIsSwitchedOffEndsTheLinks() async throws {
        let (port, _) = (try open(), try box())
        let host = try TestHost(port)
        try await host.begin()
        let link = try await host.connect(to: try await host.find("Box"))
        try #require(emulator.host(named: "external")).setPower(false)
        #expect(try await host.end(of: link) == 0x15)
    }

    @Test func aHostThatComesBackHasItsAddress() async throws {
        let port = try open()
        let first = try TestHost(port)
        let address = try await first.begin()
        first.close()
        let second = try await TestHost.attached(to: port)
        #expect(try await second.begin() == address)
        #expect(
            address == HCIAddress(bits: try #require(emulator.host(named: "external")).address.bits, isRandom: false))
    }

    @Test func aHostThatLeavesEndsItsLinks() async throws {
        let (port, box) = (try open(), try box())
        let host = try TestHost(port)
        try await host.begin()
        _ = try await host.connect(to: try await host.find("Box"))
        #expect(box.connections.count == 1)
        // The parameters are those of LE Create Connection.
        #expect(box.connections.first?.parameters.supervisionTimeout == .milliseconds(420))
        host.close()
        _ = try await TestHost.attached(to: port)
        #expect(box.connections.count == 0)
    }

    @Test func aSecondHostOfAPortIsRefused() async throws {
        let port = try open()
        let first = try TestHost(port)
        let address = try await first.begin()
        let second = try TestHost(port)
        try await second.closed()
        #expect(try await first.begin() == address)
    }

    @Test(arguments: [[0xFF], [0x04, 0x0E, 0], Array("GET / HTTP/1.1\r\n\r\n".utf8)] as [[UInt8]])
    func garbageEndsTheConnectionAlone(_ bytes: [UInt8]) async throws {
        let port = try open()
        let host = try TestHost(port)
        try await host.begin()
        host.sendRaw(bytes)
        try await host.closed()
        let other = try await TestHost.attached(to: port)
        try await other.begin()
    }

    @Test func aTerminalIsUsableAfterGarbage() async throws {
        let host = try await advertising(on: try open(on: .pty))
        let central = TestCentral(emulator)
        let (_, link) = try await central.connect(to: "Firmware")
        _ = try await host.link(isCentral: false)
        host.sendRaw([0xFF])
        #expect(try await central.end(of: link) != .local)
        try await use(try box(), from: host)
    }

    @Test(arguments: 0..<10) func randomPacketsAreSurvived(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed, stream: "random packets")
        let (port, _) = (try open(), try box())
        let host = try TestHost(port)
        try await host.begin()
        _ = try await host.connect(to: try await host.find("Box"))
        for _ in 0..<300 {
            let body = (0..<generator.below(30)).map { _ in UInt8(generator.below(256)) }
            // ATT, signaling and the Security Manager on the link, or commands of the Link Layer.
            let packet: [UInt8] =
                generator.happens(0.5)
                ? [2] + UInt16(0x40).bytes + UInt16(body.count + 4).bytes + UInt16(body.count).bytes
                    + UInt16(4 + generator.below(3)).bytes + body
                : [1, UInt8(1 + generator.below(0x60)), 0x20, UInt8(body.count)] + body
            host.sendRaw(packet)
        }
        host.close()
        try await TestHost.attached(to: port).begin()
    }

    @Test func aClosedPortEndsItsHost() async throws {
        let port = try open()
        let host = try TestHost(port)
        try await host.begin()
        port.close()
        try await host.closed()
        #expect(throws: TestHost.Failure.self) { try TestHost(port) }
    }

    // MARK: Several hosts

    @Test func twoHostsUseTheWorldAtOnce() async throws {
        let (phone, watch, box) = (try open("phone"), try open("watch"), try box())
        let first = try TestHost(phone)
        let second = try TestHost(watch)
        #expect(try await first.begin() != second.begin())
        try await second.advertise("Firmware", Self.served)
        let link = try await first.connect(to: try await first.find("Box"))
        #expect(box.connections.count == 1)
        let central = TestCentral(emulator)
        let (_, other) = try await central.connect(to: "Firmware")
        let found = try await central.characteristics(on: other)
        #expect(
            try await central.request(.read(try #require(found["FFF1"]?.id)), on: other)
                == .value(Data("firmware 1.2.3".utf8)))
        #expect(try await first.services(on: link).last?.uuid == "FFE0")
    }

    // MARK: Ports

    @Test func anAddressInUseIsUnavailable() throws {
        let port = try open()
        #expect(throws: HCIPortError.self) { try open("other", on: port.address) }
    }

    @Test func aSocketFileInUseIsUnavailableAndStays() async throws {
        try await withFolder { folder in
            let path = folder + "/hci"
            let port = try open(on: .unix(path: path))
            #expect(throws: HCIPortError.unavailable(.unix(path: path), "Address already in use")) {
                try open("other", on: .unix(path: path))
            }
            try await TestHost(port).begin()
            port.close()
            _ = try open(on: .unix(path: path))
            unlink(path)
        }
    }

    @Test func theSocketFileOfAKilledProcessIsReplaced() async throws {
        try await withFolder { folder in
            let path = folder + "/hci"
            let leftover = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
            let result = withUnsafeBytes(of: &name) {
                bind(
                    leftover, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(MemoryLayout<sockaddr_un>.size))
            }
            #expect(result == 0)
            close(leftover)
            try await TestHost(open(on: .unix(path: path))).begin()
            unlink(path)
        }
    }

    @Test func anotherFileIsUnavailableAndStays() async throws {
        try await withFolder { folder in
            let path = folder + "/hci"
            close(creat(path, 0o600))
            #expect(throws: HCIPortError.self) { try open(on: .unix(path: path)) }
            #expect(unlink(path) == 0)
        }
    }

    @Test(arguments: ["/nonexistent/hci", "/tmp/" + String(repeating: "x", count: 200)])
    func anImpossiblePathIsUnavailable(_ path: String) {
        let error = #expect(throws: HCIPortError.self) { try open(on: .unix(path: path)) }
        guard case .unavailable(.unix(path), _)? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test func aHostThatManagersUseIsRefused() throws {
        let emulator = Emulator(configuration: .instant)
        let central = emulator.makeCentral(RoleOptions())
        #expect(throws: HCIPortError.hostInUse("default")) {
            try HCIPort.open(emulator, host: "default", on: .tcp(port: 0))
        }
        central.invalidate()
        try HCIPort.open(emulator, host: "default", on: .tcp(port: 0)).close()
    }

    @Test func virtualTimeIsRefused() {
        #expect(throws: HCIPortError.virtualTime) {
            try HCIPort.open(Emulator(time: .virtual), host: "external", on: .tcp(port: 0))
        }
    }

    @Test func aHostWithoutANameIsRefused() {
        let error = #expect(throws: HCIPortError.self) { try open("") }
        guard case .invalidHost? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }
}
#endif
