import BluetoothBackend
import BluetoothEmulator

/// The course of a test without incidents, by which its histories are generated.
struct HistoryCourse: Sendable {
    let moments: HistoryMoments
    /// The devices of the world, those that the test added included.
    let devices: [PeripheralDescription]
    private let hosts: [String]
    private let names: [PeerID: String]

    init(_ emulator: Emulator) {
        moments = HistoryMoments(emulator.centralMessages)
        names = Dictionary(
            emulator.devices.flatMap { device in
                emulator.hosts.compactMap { host in device.identifier(onHost: host.name).map { ($0, device.name) } }
            }, uniquingKeysWith: { first, _ in first })
        devices = emulator.presentWorld.devices
        hosts = emulator.hosts.map(\.name)
    }

    func generator(_ histories: RadioHistories, seed: UInt64) -> HistoryGenerator {
        HistoryGenerator(
            seed: seed, profile: histories.profile, rate: histories.rate, devices: devices.map(\.name), hosts: hosts,
            names: names, moments: moments)
    }
}
