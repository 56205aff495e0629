#if os(Linux)
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import ScriptedBlueZ
import Testing

@testable import BluetoothHCI
@testable import EmulatedHCI

/// Hosts that send random commands and data to their controllers, in a world with a device and an app, in real time.
///
/// After each burst, the controller must answer, and the device must be usable. Ten hosts run, or as many as fit in
/// `FUZZ_SECONDS`, from the seed `FUZZ_SEED` on: `make fuzz`.
@Suite(.timeLimit(.minutes(120))) struct RandomHostTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let time = environment["FUZZ_SECONDS"].flatMap { Double($0) }.map { Duration.seconds($0) }
    private static let firstSeed = environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
    /// The growth of a process that has filled its pools and caches, in KiB.
    private static let tolerance = 65_536

    private let emulator = Emulator(configuration: .instant)

    @Test func randomHostsAreSurvivedAndLeaveNothingBehind() async throws {
        try emulator.add(
            .box(
                services: [
                    ServiceDescription(
                        "FFE0", characteristics: [CharacteristicDescription("FFE1", [.read, .write, .notify])])
                ], channels: [ChannelDescription(psm: 0x80, echo: true)]))
        let port = try HCIPort.open(emulator, host: "random", on: .tcp(port: 0))
        let end = Self.time.map { ContinuousClock.now + $0 }
        var before: Int?
        var seed = Self.firstSeed
        repeat {
            do {
                try await run(seed, on: port)
            } catch {
                Issue.record("FUZZ_SEED=\(seed): \(error)")
                break
            }
            // The first hosts fill pools and caches.
            if seed == Self.firstSeed + 9 { before = try ProcessResources().memory }
            seed += 1
        } while end.map { ContinuousClock.now < $0 } ?? (seed < Self.firstSeed + 10)
        port.close()
        guard let before else { return }
        let after = try ProcessResources().memory
        print("random hosts: \(seed - Self.firstSeed), memory from \(before) to \(after) KiB")
        #expect(after - before < Self.tolerance)
    }

    /// Runs a host, by turns a central of the device and a peripheral of an app.
    private func run(_ seed: UInt64, on port: HCIPort) async throws {
        var random = RandomHost(seed: seed)
        let host = try await TestHost.attached(to: port)
        try await host.begin()
        let link: UInt16
        if seed.isMultiple(of: 2) {
            link = try await host.connect(to: try await host.find("Box"))
            _ = try await host.services(on: link)
        } else {
            try await host.advertise("Random", ServedAttributes())
            let app = TestCentral(emulator)
            let connected = try await app.connect(to: "Random")
            link = try await host.link(isCentral: false)
            app.role.submit(
                .request(link: connected.link, operation: OperationID(rawValue: 99), .discoverServices(nil)))
        }
        for _ in 0..<20 { host.sendRaw(random.burst(on: link)) }
        try await host.forget()
        try await host.begin()
        let again = try await host.connect(to: try await host.find("Box"))
        let services = try await host.services(on: again)
        guard services.contains(where: { $0.uuid == "FFE0" }) else {
            throw TestHost.Failure(description: "\(services)")
        }
        host.close()
    }
}

/// The random packets of a host: commands and data that are mostly almost right.
private struct RandomHost {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed, stream: "random host") }

    /// Returns fifty packets in the format of UART (H4).
    ///
    /// - Parameter link: The handle of an open link.
    mutating func burst(on link: UInt16) -> [UInt8] {
        (0..<50).flatMap { _ in generator.happens(0.5) ? command(link) : data(link) }
    }

    private mutating func byte() -> UInt8 {
        generator.happens(0.4) ? UInt8(truncatingIfNeeded: generator.next()) : UInt8(generator.below(8))
    }

    private mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }

    private mutating func handle(_ link: UInt16) -> UInt16 {
        generator.happens(0.9) ? link : UInt16(generator.below(0x0F00))
    }

    private mutating func command(_ link: UInt16) -> [UInt8] {
        let command = HCICommand.allCases[Int(generator.below(UInt64(HCICommand.allCases.count)))]
        // These end the host's own view of its controller, and rarely occur.
        let isDrastic = [.reset, .disconnect, .setControllerToHostFlowControl].contains(command)
        guard !isDrastic || generator.happens(0.05) else { return data(link) }
        let range = command.definition.length
        var parameters = bytes(range.lowerBound + Int(generator.below(UInt64(min(range.count, 64)))))
        if parameters.count >= 2, command.definition.answer == .commandCompleteWithHandle || generator.happens(0.1) {
            parameters.replaceSubrange(0..<2, with: handle(link).bytes)
        }
        // The device's address, where a command for connections or lists has it.
        if [.createConnection, .extendedCreateConnection].contains(command), parameters.count >= 12 {
            parameters.replaceSubrange(5..<12, with: [1, 1, 0, 0, 0, 0xDE, 0xC0])
        }
        return [1] + command.rawValue.bytes + [UInt8(parameters.count)] + parameters
    }

    /// Returns a fragment of an L2CAP packet of one of the fixed channels, or of one that may be open.
    private mutating func data(_ link: UInt16) -> [UInt8] {
        var data = bytes(Int(generator.below(generator.happens(0.9) ? 40 : 300)))
        let channel = [4, 4, 4, 5, 5, 6, 6, 0x40, 0x41, UInt16(byte())][Int(generator.below(10))]
        let isFirst = generator.happens(0.8)
        if isFirst {
            let isWhole = generator.happens(0.8)
            data = UInt16(data.count + (isWhole ? 0 : Int(generator.below(100)))).bytes + channel.bytes + data
        }
        let flags = handle(link) & 0x0FFF | (isFirst ? 0 : 0x1000)
        return [2] + flags.bytes + UInt16(data.count).bytes + data
    }
}
#endif
