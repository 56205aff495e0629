import ArgumentParser
import AsyncBluetooth
import CoreBluetoothPackage
import Foundation

/// `bluectl pair`: keys for an encrypted link.
struct PairCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a device and bond.",
        discussion: """
            Questions of the pairing are printed to standard error and answered on standard input: a number to \
            compare, to enter here, or to enter on the device. The end of the input means no. While a question is \
            open, --timeout is suspended. Other devices that ask to pair meanwhile are refused.
            """)

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @Flag(help: "Accept consent, comparison and out-of-band questions of this device without asking.")
    var yes = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device.query)
        let isBonded = try await PairingPrompt.pair(peripheral, in: role, saysYes: yes)
        role.console.show(
            peripheral.fields.merging(["event": "paired", "isBonded": isBonded]),
            ["Paired with \(peripheral.label)" + (isBonded ? "; bonded" : "; not bonded")])
    }
}

/// `bluectl unpair`: forgets a bond.
struct UnpairCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpair",
        abstract: "Delete the bond with a device from this computer.",
        discussion: """
            The device need not be in range. It keeps its own keys: before the two can pair again, the device must \
            delete its bond, too.
            """)

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let known = try await role.findBonded(device.query)
        let peripheral = if let known { known } else { try await role.find(device.query) }
        try await role.unpair(peripheral)
        role.console.show(
            peripheral.fields.merging(["event": "unpaired"]), ["The bond with \(peripheral.label) is removed"])
    }
}

extension CentralRole {
    /// The bonded device that a query matches; nil if there is none, or no BlueZ.
    ///
    /// Asks the daemon, since the CB classes do not list devices that are neither connected nor discovered.
    ///
    /// - Throws: A failure: several bear the name.
    fileprivate func findBonded(_ query: DeviceQuery) async throws -> Peripheral? {
        #if BlueZ && os(Linux)
        guard backendName == "bluez" else { return nil }
        let bonded = await SystemProbe(limit: limit).facts().devices.filter {
            $0.isPaired && query.matches(DeviceRecord(identifier: $0.identifier, address: $0.address, name: $0.name))
        }
        // Devices of other adapters are left out.
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
                    .failed,
                    isUnknown ? "there is no bond with this device" : "cannot remove the bond: " + ErrorText.of(reason))
            }
        }
    }
}

extension Peripheral {
    /// The device in a result as JSON.
    var fields: JSONFields { ["identifier": identifier.uuidString, "address": address, "name": name] }

    /// The name, or the identifier of a device without one, and the address: `Heart (F0:F1:F2:F3:F4:F5)`.
    var label: String {
        (name.map(PrintableText.of) ?? identifier.uuidString) + (address.map { " (\($0))" } ?? "")
    }
}
