import ArgumentParser

/// `bluectl pair`: keys for an encrypted link.
struct PairCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a device and bond.",
        discussion: """
            What the pairing asks comes on standard error and is answered on standard input: a number to compare, to \
            type here, or to type at the device. The end of the input is a no. While a question is open, --timeout \
            does not run. Another device that asks to pair meanwhile is refused.
            """)

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @Flag(help: "Say yes to all that this device asks and that needs no number: consent, comparison, out-of-band data.")
    var yes = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device.query)
        let isBonded = try await PairingPrompt.pair(peripheral, in: role, saysYes: yes)
        role.show(BondRecord("paired", peripheral, isBonded: isBonded, backend: role.emulatedBackend))
    }
}
