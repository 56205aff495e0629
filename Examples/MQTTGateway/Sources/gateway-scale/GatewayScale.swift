import ArgumentParser

/// Many gateways, each with devices of its own, and one broker.
@main
struct GatewayScale: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway-scale",
        abstract:
            "Runs many gateways with emulated devices against one broker, and compares what was sent and received.",
        subcommands: [RunCommand.self, SimulateCommand.self], defaultSubcommand: RunCommand.self)
}
