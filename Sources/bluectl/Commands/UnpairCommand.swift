import ArgumentParser
import CoreBluetoothPackage

/// `bluectl unpair`: forgets a bond.
struct UnpairCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpair",
        abstract: "Forget the bond with a device, on this side.",
        discussion: "The device keeps its keys: it has to forget this computer too before the two pair anew.")

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in session: Session) async throws {
        let peripheral = try await session.find(device.query)
        try await session.unpair(peripheral)
        session.show(BondRecord("unpaired", peripheral, isBonded: nil, backend: session.emulatedBackend))
    }
}

extension Session {
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
