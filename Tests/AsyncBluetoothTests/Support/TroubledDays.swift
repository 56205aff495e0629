import BluetoothEmulator
import BluetoothSupport
import Foundation

/// Simulated days of devices and of the machine: values arrive every half minute, and a failure occurs every few
/// minutes, from a seed.
///
/// A value that is sent to a subscriber in the absence of failures arrives within ten seconds. A device without
/// failures for three minutes, with a machine without failures for as long, has its subscriber back.
struct TroubledDays {
    /// The failures of a device or the machine.
    private enum Trouble: CaseIterable {
        case outOfRange, crash, disconnection, silence, refusedConnections, lostPackets
        case powerOff, daemonRestart, unplugged

        var isOfMachine: Bool { [.powerOff, .daemonRestart, .unplugged].contains(self) }
    }

    private static let recovery = Duration.seconds(180)

    private let emulator: Emulator
    private let devices: [EmulatedDevice]
    private let names: [String]
    private let ledger: GatewayLedger
    private var random: SeededGenerator
    private var now = Duration.zero
    private var number: UInt32 = 0
    private(set) var sent = 0
    private(set) var troubles = 0
    /// The time at which each device, and the machine as the last entry, has recovered.
    private var wellSince: [Duration]
    private var present: [Trouble?]
    private var isReported: [Bool]

    /// - Parameter devices: The devices; each notifies `SimulatedGateway.value`, and has a unique name.
    init(_ emulator: Emulator, _ devices: [EmulatedDevice], _ ledger: GatewayLedger, seed: UInt64) {
        (self.emulator, self.devices, self.ledger) = (emulator, devices, ledger)
        names = devices.map(\.name)
        random = SeededGenerator(seed: seed, stream: "troubles")
        wellSince = Array(repeating: .zero, count: devices.count + 1)
        present = Array(repeating: nil, count: devices.count + 1)
        isReported = Array(repeating: false, count: devices.count)
    }

    private var machine: Int { devices.count }

    /// Passes half a minute.
    mutating func pass() async throws {
        let receivers = devices.indices.filter { isWell($0) && subscribers(of: $0) > 0 }
        number += 1
        for index in receivers {
            let value = Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) })
            devices[index].notify("FFF1", value: value)
        }
        sent += receivers.count
        try await sleep(.seconds(10))
        let last = ledger.contents.last
        for index in receivers where last[names[index]] != number {
            report("\(names[index]): value \(number) did not arrive, the last is \(last[names[index]] ?? 0)")
        }
        if random.below(8) == 0 { begin() }
        try await sleep(.seconds(20))
        for index in present.indices where present[index] != nil && wellSince[index] <= now { end(index) }
        checkRecovery()
    }

    /// Ends all failures.
    mutating func end() {
        for index in present.indices { end(index) }
    }

    private func isWell(_ index: Int) -> Bool { present[index] == nil && present[machine] == nil }

    private func subscribers(of index: Int) -> Int { devices[index].subscriberCount(of: "FFF1") }

    private mutating func sleep(_ duration: Duration) async throws {
        try await emulator.swiftClock.sleep(for: duration)
        now += duration
    }

    private func report(_ violation: String) { ledger.report("after \(now.components.seconds) s: \(violation)") }

    private mutating func checkRecovery() {
        for index in devices.indices {
            let isDue = isWell(index) && now - max(wellSince[index], wellSince[machine]) > Self.recovery
            let isMissing = subscribers(of: index) != 1
            if isDue && isMissing && !isReported[index] {
                report("\(names[index]): \(subscribers(of: index)) subscribers, well since \(wellSince[index])")
            }
            isReported[index] = isDue && isMissing
        }
    }

    // MARK: Troubles

    private mutating func begin() {
        let trouble = Trouble.allCases[Int(random.below(UInt64(Trouble.allCases.count)))]
        let index = trouble.isOfMachine ? machine : Int(random.below(UInt64(devices.count)))
        guard present[index] == nil else { return }
        troubles += 1
        present[index] = trouble
        let duration = Duration.seconds([1, 10, 100, 1_000][Int(random.below(4))])
        wellSince[index] = now + duration
        switch trouble {
        case .outOfRange: devices[index].setProximity(.outOfRange)
        case .crash: devices[index].reset(staysOnAir: false)
        case .disconnection: devices[index].disconnect()
        case .silence:
            devices[index].setAdvertising(false)
            devices[index].disconnect()
        case .refusedConnections:
            devices[index].failNextConnections(3)
            devices[index].disconnect()
        case .lostPackets: devices[index].setPacketLossRate(0.3)
        case .powerOff: emulator.host.setPower(false)
        case .daemonRestart: emulator.host.reset(for: duration)
        case .unplugged: emulator.host.setPlugged(false)
        }
    }

    private mutating func end(_ index: Int) {
        guard let trouble = present[index] else { return }
        present[index] = nil
        wellSince[index] = now
        switch trouble {
        case .outOfRange: devices[index].setProximity(.near)
        case .crash, .silence: devices[index].setAdvertising(true)
        case .disconnection, .refusedConnections, .daemonRestart: break
        case .lostPackets: devices[index].setPacketLossRate(0)
        case .powerOff: emulator.host.setPower(true)
        case .unplugged: emulator.host.setPlugged(true)
        }
    }
}
