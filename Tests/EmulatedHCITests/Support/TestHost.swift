#if os(Linux)
import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import BluetoothValues
import Dispatch
import Glibc

@testable import EmulatedHCI

/// A small Bluetooth host that attaches to a port, with the client and the server of the Attribute Protocol.
// Invariant: all variables are used on the queue of `waiting` only.
final class TestHost: @unchecked Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The numbers of commands that the tests send.
    enum Command {
        static let disconnect: UInt16 = 0x0406
        static let setEventMask: UInt16 = 0x0C01
        static let reset: UInt16 = 0x0C03
        static let readAddress: UInt16 = 0x1009
        static let setLEEventMask: UInt16 = 0x2001
        static let readLEBufferSize: UInt16 = 0x2002
        static let setRandomAddress: UInt16 = 0x2005
        static let setAdvertisingParameters: UInt16 = 0x2006
        static let setAdvertisingData: UInt16 = 0x2008
        static let setAdvertisingEnable: UInt16 = 0x200A
        static let setScanParameters: UInt16 = 0x200B
        static let setScanEnable: UInt16 = 0x200C
        static let createConnection: UInt16 = 0x200D
    }

    private struct Link {
        var client = ATTClient(maximumMTU: 247)
        var attributes: ServedAttributes
        var outcomes: [Int: ATTClient.Outcome] = [:]
        var notified: [[UInt8]] = []
        let isCentral: Bool
        let peer: HCIAddress
        var channels: TestChannels
    }

    private let waiting = Waiting("test host")
    private let descriptor: CInt
    private var source: (any DispatchSourceRead)?
    private var input: [UInt8] = []
    private var assembler = L2CAPAssembler()
    private var answers: [UInt16: [[UInt8]]] = [:]
    private var reports: [AdvertisingReport] = []
    private var links: [UInt16: Link] = [:]
    private var ends: [UInt16: UInt8] = [:]
    private var waitingFragments: [[UInt8]] = []
    private var freeBuffers = 1
    private var isClosed = false
    private var lastOperation = 0
    /// The behavior of the channels of the next links.
    private var behavior = TestChannels.Behavior()
    /// The attributes of the next links.
    private let served = Lock(ServedAttributes([]))

    /// Attaches to a port.
    convenience init(_ port: HCIPort) throws { self.init(try Self.open(port)) }

    /// Attaches to the other end of a descriptor, which is the host's from now on.
    init(_ descriptor: CInt) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: waiting.queue)
        source.setEventHandler { [weak self] in self?.read() }
        source.setCancelHandler { [descriptor] in Glibc.close(descriptor) }
        self.source = source
        source.resume()
    }

    deinit { source?.cancel() }

    /// Attaches a host to a port, which refuses it until the former one has left.
    static func attached(to port: HCIPort) async throws -> TestHost {
        for _ in 0..<1_000 {
            let host = try TestHost(port)
            if try await host.isAccepted() { return host }
        }
        throw Failure(description: "the port stays in use")
    }

    private static func open(_ port: HCIPort) throws -> CInt {
        if port.address == .pty {
            let descriptor = Glibc.open(port.place, O_RDWR | O_NOCTTY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Failure(description: "open: \(errno)") }
            return descriptor
        }
        let isTCP = if case .tcp = port.address { true } else { false }
        let descriptor = socket(isTCP ? AF_INET : AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        let result: CInt
        switch port.address {
        case .tcp(let number):
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = number.bigEndian
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            result = withUnsafeBytes(of: &name) {
                Glibc.connect(
                    descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        case .unix(let path):
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
            result = withUnsafeBytes(of: &name) {
                Glibc.connect(
                    descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        case .pty, .vhci, .usb: result = -1
        }
        guard result == 0 else {
            defer { Glibc.close(descriptor) }
            throw Failure(description: "connect: \(errno)")
        }
        return descriptor
    }

    // MARK: The stream

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else {
            isClosed = true
            source?.cancel()
            return waiting.check()
        }
        input += buffer[..<count]
        while let packet = nextPacket() { receive(packet) }
        waiting.check()
    }

    private func nextPacket() -> HCIPacket? {
        guard let type = input.first, let kind = HCIPacket.Kind(rawValue: type), input.count >= 5 || type == 4 else {
            return nil
        }
        guard input.count >= 3 else { return nil }
        let length = kind == .event ? 3 + Int(input[2]) : 5 + Int(input[3]) + Int(input[4]) << 8
        guard input.count >= length else { return nil }
        defer { input.removeFirst(length) }
        return HCIPacket(kind: kind, isReceived: true, body: Array(input[1..<length]))
    }

    /// Sends bytes as they are.
    func sendRaw(_ bytes: [UInt8]) { waiting.queue.async { [self] in write(bytes) } }

    private func write(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count < 0, errno == ENOTSOCK {
                let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            } else {
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Leaves the port.
    func close() {
        waiting.queue.async { [self] in
            isClosed = true
            source?.cancel()
        }
    }

    /// Waits until the port has closed the connection.
    func closed() async throws {
        try await waiting.value("the end of the connection") { [self] in isClosed ? () : nil }
    }

    /// Whether the controller has reported the end of a link.
    func hasSeenEnd(of link: UInt16) async throws -> Bool {
        try await waiting.value("the links") { [self] in ends[link] != nil }
    }

    /// Whether the port accepts the host, and does not close the connection.
    func isAccepted() async throws -> Bool {
        sendRaw([1] + HCIPacket(command: Command.readAddress).body)
        return try await waiting.value("an answer, or the end of the connection") { [self] in
            answers[Command.readAddress]?.popLast() != nil ? true : isClosed ? false : nil
        }
    }

    // MARK: Packets

    private func receive(_ packet: HCIPacket) {
        let body = packet.body
        if packet.kind == .event {
            switch body[0] {
            case 0x0E where body.count >= 5:
                answers[UInt16(body[3]) | UInt16(body[4]) << 8, default: []].append(Array(body[5...]))
            case 0x0F where body.count >= 6:
                answers[UInt16(body[4]) | UInt16(body[5]) << 8, default: []].append([body[2]])
            case 0x13 where body.count >= 3:
                for index in 0..<Int(body[2]) { freeBuffers += Int(body[5 + 4 * index]) }
                sendFragments()
            default: break
            }
        }
        switch HCIMessage(packet) {
        case .advertising(let found): reports += found
        case .connected(let connection):
            links[connection.handle] = Link(
                attributes: served.withLock { $0 }, isCentral: connection.isCentral, peer: connection.peer,
                channels: TestChannels(isCentral: connection.isCentral, behavior))
        case .disconnected(let handle, let reason):
            ends[handle] = reason
            perform(links[handle]?.client.end() ?? [], handle)
        case .data(let handle, let isFirst, let part):
            let added = assembler.add(part, isFirst: isFirst, host: 0, handle: handle, isReceived: true)
            switch added?.channel {
            case nil: break
            case 4?: receive(added?.payload ?? [], handle)
            case let channel?: send(links[handle]?.channels.receive(added?.payload ?? [], on: channel), handle)
            }
        default: break
        }
    }

    private func receive(_ payload: [UInt8], _ handle: UInt16) {
        guard let pdu = ATTPDU(payload) else { return }
        if pdu.isOfClient {
            for response in links[handle]?.attributes.send(payload) ?? [] { send(response, handle) }
        } else {
            perform(links[handle]?.client.receive(pdu) ?? [], handle)
        }
    }

    private func perform(_ actions: [ATTClient.Action], _ handle: UInt16) {
        for action in actions {
            switch action {
            case .send(let pdu): send(pdu, handle)
            case .complete(let number, let outcome): links[handle]?.outcomes[number] = outcome
            case .notified(_, let value, _): links[handle]?.notified.append(value)
            case .servicesChanged: break
            }
        }
    }

    private func send(_ pdu: ATTPDU, _ handle: UInt16) { send(pdu.bytes, on: 4, handle) }

    /// Sends a packet in fragments of 27 bytes, as many at a time as the controller has buffers.
    private func send(_ payload: [UInt8], on channel: UInt16, _ handle: UInt16) {
        let body = HCIPacket(connection: handle, channel: channel, payload: payload, isReceived: false).body
        let data = Array(body[4...])
        for start in stride(from: 0, to: data.count, by: 27) {
            let part = Array(data[start..<min(start + 27, data.count)])
            let flags = handle | (start == 0 ? 0 : 0x1000)
            waitingFragments.append([2] + flags.bytes + UInt16(part.count).bytes + part)
        }
        sendFragments()
    }

    private func sendFragments() {
        while freeBuffers > 0, !waitingFragments.isEmpty {
            freeBuffers -= 1
            write(waitingFragments.removeFirst())
        }
    }

    // MARK: Commands

    /// Sends a command, and waits for its answer.
    ///
    /// - Returns: The return parameters, or the status alone.
    @discardableResult func command(_ opcode: UInt16, _ parameters: [UInt8] = []) async throws -> [UInt8] {
        sendRaw([1] + HCIPacket(command: opcode, parameters).body)
        return try await waiting.value("an answer to \(String(opcode, radix: 16))") { [self] in
            guard answers[opcode]?.isEmpty == false else { return nil }
            return answers[opcode]?.removeFirst()
        }
    }

    /// Forgets all that it knows of its controller, once the controller has answered the commands so far.
    func forget() async throws {
        // A command of vendors, which no test sends besides.
        guard try await command(0xFC99) == [HCIStatus.unknownCommand.rawValue] else {
            throw Failure(description: "the controller is out of step")
        }
        try await waiting.value("the packets before") { [self] in
            (answers, links, ends, reports, assembler) = ([:], [:], [:], [], L2CAPAssembler())
            waitingFragments = []
        }
    }

    private func succeed(_ opcode: UInt16, _ parameters: [UInt8] = []) async throws {
        let answer = try await command(opcode, parameters)
        guard answer.first == 0 else {
            throw Failure(description: "\(String(opcode, radix: 16)) failed with status \(answer)")
        }
    }

    /// Resets the controller, and wants all events.
    ///
    /// - Returns: The public address.
    @discardableResult func begin() async throws -> HCIAddress {
        try await succeed(Command.reset)
        try await succeed(Command.setEventMask, [UInt8](repeating: 0xFF, count: 7) + [0x3F])
        try await succeed(Command.setLEEventMask, [0x1F, 0, 0, 0, 0, 0, 0, 0])
        let buffers = try await command(Command.readLEBufferSize)
        guard buffers.count == 4, buffers[3] > 0 else { throw Failure(description: "no buffers: \(buffers)") }
        try await waiting.value("buffers") { [self] in freeBuffers = Int(buffers[3]) }
        var cursor = ByteCursor(Array(try await command(Command.readAddress).dropFirst()))
        guard let address = HCIAddress(&cursor, isRandom: false) else { throw Failure(description: "no address") }
        return address
    }

    // MARK: The central

    /// Scans until a device of a name is heard.
    func find(_ name: String) async throws -> HCIAddress {
        try await succeed(Command.setScanParameters, [1, 0x10, 0, 0x10, 0, 0, 0])
        try await succeed(Command.setScanEnable, [1, 0])
        let encoded = Array(name.utf8)
        let address = try await waiting.value("an advertisement of \(name)") { [self] in
            reports.first { report in
                Advertisement(structures: report.data).localName.map { Array($0.utf8) } == encoded
            }?.address
        }
        try await succeed(Command.setScanEnable, [0, 0])
        return address
    }

    /// Scans until a device has answered a scan request.
    func scanResponse(of address: HCIAddress) async throws -> AdvertisingReport {
        try await succeed(Command.setScanEnable, [1, 0])
        let response = try await waiting.value("a scan response") { [self] in
            reports.first { $0.isScanResponse && $0.address == address }
        }
        try await succeed(Command.setScanEnable, [0, 0])
        return response
    }

    /// Connects to a device.
    ///
    /// - Returns: The handle of the link.
    func connect(to address: HCIAddress) async throws -> UInt16 {
        var parameters: [UInt8] = [0x60, 0, 0x30, 0, 0, address.isRandom ? 1 : 0]
        parameters += address.bytes
        parameters += [0, 0x18, 0, 0x28, 0, 0, 0, 0x2A, 0, 0, 0, 0, 0]
        try await succeed(Command.createConnection, parameters)
        return try await link(isCentral: true)
    }

    /// Waits for a link that has not ended.
    func link(isCentral: Bool) async throws -> UInt16 {
        try await waiting.value("a link") { [self] in
            links.first { $0.value.isCentral == isCentral && ends[$0.key] == nil }?.key
        }
    }

    func disconnect(_ handle: UInt16) async throws { try await succeed(Command.disconnect, handle.bytes + [0x13]) }

    /// Waits for Disconnection Complete.
    func end(of handle: UInt16) async throws -> UInt8 {
        try await waiting.value("the end of the link") { [self] in ends[handle] }
    }

    @discardableResult func perform(
        _ operation: ATTClient.Operation, on handle: UInt16
    ) async throws -> ATTClient.Outcome {
        let number = try await waiting.value("\(operation)") { [self] in start(operation, on: handle) }
        return try await waiting.value("the outcome of \(operation)") { [self] in
            links[handle]?.outcomes[number]
        }
    }

    private func start(_ operation: ATTClient.Operation, on handle: UInt16) -> Int {
        lastOperation += 1
        perform(links[handle]?.client.perform(operation, lastOperation) ?? [], handle)
        return lastOperation
    }

    /// Reads a value again and again, on one thread that waits for each answer, as firmware does.
    ///
    /// - Returns: The times of the reads; none if one of them fails.
    func timesOfReads(_ count: Int, of value: UInt16, on handle: UInt16) async throws -> [Duration] {
        try await waiting.value("\(count) reads") { [self] in
            var times: [Duration] = []
            for _ in 0..<count {
                let begin = ContinuousClock.now
                let number = start(.read(handle: value), on: handle)
                while links[handle]?.outcomes[number] == nil {
                    var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    guard !isClosed, poll(&input, 1, 30_000) == 1 else { return [] }
                    read()
                }
                times.append(ContinuousClock.now - begin)
                guard case .value = links[handle]?.outcomes.removeValue(forKey: number) else { return [] }
            }
            return times
        }
    }

    func services(on handle: UInt16) async throws -> [TappedService] {
        guard case .discovered(let services, _) = try await perform(.discover, on: handle) else { return [] }
        return services
    }

    /// Waits until as many values have been notified.
    func notified(_ count: Int, on handle: UInt16) async throws -> [[UInt8]] {
        try await waiting.value("\(count) notifications") { [self] in
            guard let values = links[handle]?.notified, values.count >= count else { return nil }
            return values
        }
    }

    // MARK: Channels

    private func send(_ packets: [TestChannels.Packet]?, _ handle: UInt16) {
        for packet in packets ?? [] { send(packet.payload, on: packet.channel, handle) }
    }

    /// Changes the behavior of the channels of present and later links.
    func setChannels(_ change: @escaping @Sendable (inout TestChannels.Behavior) -> Void) {
        waiting.queue.async { [self] in
            change(&behavior)
            for handle in links.keys { links[handle]?.channels.behavior = behavior }
        }
    }

    /// Consumes what has been received, and what follows.
    func consumeChannels(on handle: UInt16) {
        setChannels { $0.consumes = true }
        waiting.queue.async { [self] in send(links[handle]?.channels.consume(), handle) }
    }

    /// Answers the requests that wait.
    func answerChannels(_ result: ChannelResult, on handle: UInt16) {
        waiting.queue.async { [self] in send(links[handle]?.channels.answer(result), handle) }
    }

    /// Requests a channel.
    ///
    /// - Returns: The number of the channel, and the answer.
    func openChannel(_ psm: UInt16, on handle: UInt16) async throws -> (number: Int, result: ChannelResult) {
        let number = try await waiting.value("a free channel") { [self] () -> Int? in
            guard let (number, packets) = links[handle]?.channels.open(psm) else { return nil }
            send(packets, handle)
            return number
        }
        let result = try await waiting.value("an answer to the request for \(psm)") { [self] in
            links[handle]?.channels.streams[number]?.result
        }
        return (number, result)
    }

    func send(_ bytes: [UInt8], onChannel number: Int, of handle: UInt16) {
        waiting.queue.async { [self] in send(links[handle]?.channels.send(bytes, on: number), handle) }
    }

    func closeChannel(_ number: Int, of handle: UInt16) {
        waiting.queue.async { [self] in send(links[handle]?.channels.close(number), handle) }
    }

    /// Sends an L2CAP packet as it is.
    func sendPacket(_ payload: [UInt8], on channel: UInt16, of handle: UInt16) {
        waiting.queue.async { [self] in send(payload, on: channel, handle) }
    }

    /// Waits until a channel has a state.
    @discardableResult func channel(
        _ what: String, of handle: UInt16, _ match: @escaping @Sendable (Int, TestChannels.Stream) -> Bool
    ) async throws -> (number: Int, stream: TestChannels.Stream) {
        try await waiting.value(what) { [self] in
            links[handle]?.channels.streams.first { match($0.key, $0.value) }.map { ($0.key, $0.value) }
        }
    }

    // MARK: The peripheral

    /// Serves attributes on the next links, and advertises.
    func advertise(_ name: String, _ attributes: ServedAttributes) async throws {
        served.withLock { $0 = attributes }
        try await succeed(Command.setRandomAddress, [0x01, 0, 0, 0, 0, 0xC0])
        try await succeed(
            Command.setAdvertisingParameters, [0x20, 0, 0x20, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0])
        let data: [UInt8] = [2, 1, 6, UInt8(name.utf8.count + 1), 9] + Array(name.utf8)
        try await succeed(
            Command.setAdvertisingData,
            [UInt8(data.count)] + data + [UInt8](repeating: 0, count: 31 - data.count))
        try await succeed(Command.setAdvertisingEnable, [1])
    }

    /// Sends a notification, if the central has subscribed.
    func notify(_ handle: UInt16, _ value: [UInt8], on link: UInt16) {
        waiting.queue.async { [self] in
            guard var attributes = links[link]?.attributes else { return }
            let actions = attributes.server.notified(.at(handle), Data(value))
            for pdu in attributes.perform(actions) { send(pdu, link) }
            links[link]?.attributes = attributes
        }
    }

    /// The values that the host serves on a link.
    func attributes(on link: UInt16) async throws -> ServedAttributes {
        try await waiting.value("the attributes") { [self] in links[link]?.attributes }
    }

    /// Waits until a central has written a value.
    func written(_ handle: UInt16, on link: UInt16) async throws -> [UInt8] {
        try await waiting.value("a write") { [self] in
            links[link]?.attributes.commands[handle] ?? links[link]?.attributes.values[handle]
        }
    }
}
#endif
