import ArgumentParser
import AsyncBluetooth
import CoreBluetoothPackage

/// `bluectl unpair`: forgets a bond.
struct UnpairCommand: BackendCommand {
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

    func perform(in role: CentralRole) async throws {
        let known = try await role.findBonded(device.query)
        let peripheral = if let known { known } else { try await role.find(device.query) }
        try await role.unpair(peripheral)
        role.show(BondRecord("unpaired", peripheral, isBonded: nil, backend: role.emulatedBackend))
    }
}

extension CentralRole {
    /// The device that is meant among those that BlueZ keeps keys of; nil where there is none, or no BlueZ.
    ///
    /// The classes tell of no device that is neither connected nor heard: the daemon is asked.
    ///
    /// - Throws: A failure: several bear the name.
    fileprivate func findBonded(_ query: DeviceQuery) async throws -> Peripheral? {
        #if BlueZ && os(Linux)
        guard backendName == "bluez" else { return nil }
        let bonded = await SystemProbe(limit: limit).facts().devices.filter {
            $0.isPaired && query.matches(DeviceRecord(identifier: $0.identifier, address: $0.address, name: $0.name))
        }
        // Those of other adapters are strangers here.
        let found = try await known(bonded.map(\.identifier))
        guard found.count < 2 else { throw Self.ambiguous(query, found.map { DeviceRecord($0) }) }
        return found.first
        #else
        return nil
        #endif
    }

    /// Forgets the bond with a device.
    func unpair(_ peripheral: Peripheral) async throws {
        let agent = CBPairingAgent(backend: backend, capability: .noInputNoOutput, delegate: nil, queue: .main)
        console.progress("Removing the bond…")
        defer { console.clearProgress() }
        try await step("removing the bond") {
            do {
                try await agent.unpair(peripheral)
            } catch let error as BluetoothError {
                guard case .refused(let reason) = error.reason else { throw error }
                let isUnknown = (reason as? CBError)?.code == .unknownDevice
                throw Failure(
                    .failed, isUnknown ? "there is no bond with it" : "cannot remove the bond: " + ErrorText.of(reason))
            }
        }
    }
}
