import BluetoothEmulator

/// The course of a test without incidents, by which its histories are generated.
struct HistoryCourse: Sendable {
    let moments: HistoryMoments
    /// The devices of the world, those that the test added included.
    let devices: [PeripheralDescription]
    private let hosts: [String]

    init(_ emulator: Emulator) {
        moments = HistoryMoments(emulator.trace)
        devices = emulator.presentWorld.devices
        hosts = emulator.hosts.map(\.name)
    }

    func generator(_ histories: RadioHistories, seed: UInt64) -> HistoryGenerator {
        HistoryGenerator(
            seed: seed, profile: histories.profile, rate: histories.rate, devices: devices.map(\.name), hosts: hosts,
            moments: moments)
    }
}
