import ArgumentParser

/// A test with many gateways, each with its devices, and one broker.
@main
struct GatewayScale: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway-scale",
        abstract:
            "Runs many gateways with emulated devices against one broker, and compares what was sent and received.",
        subcommands: [RunCommand.self, SimulateCommand.self], defaultSubcommand: RunCommand.self)
}
