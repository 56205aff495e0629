import ArgumentParser
import AsyncBluetooth
import CoreBluetoothClasses
import Foundation

struct PairCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a device and bond.",
        discussion: """
            Questions of the pairing are printed to standard error and answered on standard input: a number to \
            compare, to enter here, or to enter on the device. The end of the input means no. While a question is \
            open, --timeout is suspended. Other devices that ask to pair meanwhile are refused.
            """)

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery

    @Flag(help: "Accept consent, comparison and out-of-band questions of this device without asking.")
    var yes = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device)
        let isBonded = try await PairingPrompt.pair(peripheral, in: role, saysYes: yes)
        role.console.show(
            DeviceRecord(peripheral).identity.merging(["event": "paired", "isBonded": isBonded]),
            ["Paired with \(DeviceRecord(peripheral).place)" + (isBonded ? "; bonded" : "; not bonded")])
    }
}

struct UnpairCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpair",
        abstract: "Delete the bond with a device from this computer.",
        discussion: """
            The device need not be in range. It keeps its own keys: before the two can pair again, the device must \
            delete its bond, too.
            """)

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let known = try await role.findBonded(device)
        let peripheral = if let known { known } else { try await role.find(device) }
        try await role.unpair(peripheral)
        role.console.show(
            DeviceRecord(peripheral).identity.merging(["event": "unpaired"]),
            ["The bond with \(DeviceRecord(peripheral).place) is removed"])
    }
}

extension CentralRole {
    /// Returns the bonded device that a query matches, which need not be in range; nil if no device matches.
    ///
    /// - Throws: A failure if several devices have the name.
    fileprivate func findBonded(_ query: DeviceQuery) async throws -> Peripheral? {
        let bonded = try await knownDevices().filter { $0.isPaired && query.matches($0.device) }.map(\.device)
        guard bonded.count < 2 else { throw Self.ambiguous(query, bonded) }
        return try await known(bonded.map(\.identifier)).first
    }

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
                    .failed,
                    isUnknown ? "there is no bond with this device" : "cannot remove the bond: " + ErrorText.of(reason))
            }
        }
    }
}
