#if os(Linux)
import BluetoothEmulator
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// The times of hosts' operations over TCP, without the latency of links; `make bench-hci` prints them.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["COREBLUETOOTH_FIGURES"] != nil, "make bench-hci"))
struct HostFigures {
    private let emulator = Emulator(configuration: .instant)
    private let box: EmulatedDevice

    init() throws {
        box = try emulator.add(
            .box(
                continuesWhileConnected: true,
                services: [
                    ServiceDescription(
                        "FFE0",
                        characteristics: [
                            CharacteristicDescription("FFE1", [.read], value: Data([1])),
                            CharacteristicDescription("FFE2", [.notify]),
                        ])
                ]))
    }

    /// A host that is connected to the box, with the handles of its two values and of the descriptor for notifications.
    private struct Connected {
        let port: HCIPort
        let host: TestHost
        let link: UInt16
        let value: UInt16
        let configuration: UInt16

        func read() async throws {
            #expect(try await host.perform(.read(handle: value), on: link) == .value([1]))
        }
    }

    private func connect(_ name: String) async throws -> Connected {
        let port = try HCIPort.open(emulator, host: name, on: .tcp(port: 0))
        let host = try TestHost(port)
        try await host.begin()
        let link = try await host.connect(to: try await host.find("Box"))
        let characteristics = try await host.services(on: link).filter { $0.uuid == "FFE0" }.flatMap(\.characteristics)
        let (value, notified) = (try #require(characteristics.first), try #require(characteristics.last))
        return Connected(
            port: port, host: host, link: link, value: value.valueHandle,
            configuration: try #require(notified.descriptors.first).handle)
    }

    @Test func theTimeOfARead() async throws {
        let phone = try await connect("phone")
        // The first reads fill caches.
        for _ in 0..<500 { try await phone.read() }
        let times = try await phone.host.timesOfReads(5_000, of: phone.value, on: phone.link).sorted()
        try #require(times.count == 5_000)
        print("figures: a read \(times[2_500]), of 100 the slowest \(times[4_950])")
    }

    @Test func theTimeOfAThousandNotifications() async throws {
        let phone = try await connect("phone")
        _ = try await phone.host.perform(.write(handle: phone.configuration, [1, 0]), on: phone.link)
        var times: [Duration] = []
        for round in 1...10 {
            let start = ContinuousClock.now
            for byte in 0..<1_000 { box.notify("FFE2", value: Data([UInt8(truncatingIfNeeded: byte)])) }
            _ = try await phone.host.notified(1_000 * round, on: phone.link)
            times.append(ContinuousClock.now - start)
        }
        print("figures: 1,000 notifications \(times.sorted()[5])")
    }

    @Test func theTimeOfFiftyHosts() async throws {
        let start = ContinuousClock.now
        var phones: [Connected] = []
        for number in 0..<50 { phones.append(try await connect("phone \(number)")) }
        let connected = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for phone in phones { group.addTask { for _ in 0..<200 { try await phone.read() } } }
            try await group.waitForAll()
        }
        let end = ContinuousClock.now
        print("figures: 50 hosts connected in \(connected - start), 200 reads of each in \(end - connected)")
    }
}
#endif
