import ArgumentParser
import CoreBluetoothPackage

/// `bluectl unpair`: forgets a bond.
struct UnpairCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpair",
        abstract: "Forget the bond with a device, on this side.",
        discussion: """
            The device need not be in reach. It keeps its keys: it has to forget this computer too before the two pair \
            anew.
            """)

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in session: Session) async throws {
        let known = try await session.findBonded(device.query)
        let peripheral = if let known { known } else { try await session.find(device.query) }
        try await session.unpair(peripheral)
        session.show(BondRecord("unpaired", peripheral, isBonded: nil, backend: session.emulatedBackend))
    }
}

extension Session {
    /// The device that is meant among those that BlueZ keeps keys of; nil where there is none, or no BlueZ.
    ///
    /// The classes tell of no device that is neither connected nor heard: the daemon is asked.
    ///
    /// - Throws: A failure: several bear the name.
    fileprivate func findBonded(_ query: DeviceQuery) async throws(Failure) -> CBPeripheral? {
        #if BlueZ && os(Linux)
        guard backendName == "bluez" else { return nil }
        let bonded = await FactFinder(limit: limit).facts().devices.filter {
            $0.isPaired && query.matches(DeviceRecord(identifier: $0.identifier, address: $0.address, name: $0.name))
        }
        // Those of other adapters are strangers here.
        let found = central.retrievePeripherals(withIdentifiers: bonded.map(\.identifier))
        guard found.count < 2 else { throw Self.ambiguous(query, found.map { DeviceRecord($0) }) }
        return found.first
        #else
        return nil
        #endif
    }

    /// Forgets the bond with a device.
    func unpair(_ peripheral: CBPeripheral) async throws {
        let agent = CBPairingAgent(backend: radio, capability: .noInputNoOutput, delegate: nil, queue: .main)
        console.progress("Removing the bond…")
        try await perform(.unpairing) {
            agent.unpair(peripheral) { [self] error in
                let isUnknown = (error as? CBError)?.code == .unknownDevice
                let failure = error.map {
                    Failure(
                        .failed, isUnknown ? "there is no bond with it" : "cannot remove the bond: " + ErrorText.of($0))
                }
                MainActor.assumeIsolated { answer(.unpairing, error: failure) }
            }
        }
        withExtendedLifetime(agent) {}
        console.clearProgress()
    }
}
