#if Emulator && os(Linux)
import ArgumentParser
import LiveView

struct WorldRenameCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Rename a served device.")

    @Argument(help: "The device: its number or its name.")
    var device: String

    @Argument(help: ArgumentHelp("The new GAP Device Name, 1...248 bytes.", valueName: "NAME"))
    var name: String

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        LiveRequest("PATCH", try devices.path(of: device), ["name": name])
    }
}

struct WorldAdvertiseCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "advertise", abstract: "Switch the advertising of a served device on or off.")

    @Argument(help: "The device: its number or its name.")
    var device: String

    @Argument(help: "on or off.")
    var state: SwitchState

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        LiveRequest("PATCH", try devices.path(of: device), ["advertising": state == .on])
    }
}

struct WorldSetCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set parameters of a served built-in device.",
        discussion: "Examples: heartRate=180, batteryLevel=5, temperature=-10.")

    @Argument(help: "The device: its number or its name.")
    var device: String

    @Argument(help: ArgumentHelp("A parameter and a number.", valueName: "PARAMETER=VALUE"))
    var parameters: [DeviceParameterValue]

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        let values = Dictionary(parameters.map { ($0.name, $0.value) }) { $1 }
        return LiveRequest("PATCH", try devices.path(of: device), ["parameters": values])
    }
}

/// The argument `heartRate=180`.
struct DeviceParameterValue: ExpressibleByArgument, Equatable, Sendable {
    let name: String
    let value: Double

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let value = Double(parts[1]), value.isFinite else { return nil }
        (name, self.value) = (parts[0], value)
    }
}

struct WorldTraceCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Print the trace of a served world.",
        discussion: "text, jsonl (one entry per line), mermaid (a sequence diagram), perfetto or html (a page).")

    enum Format: String, CaseIterable, ExpressibleByArgument, Sendable {
        case text, jsonl, mermaid, perfetto, html
    }

    @Option(help: "The format.")
    var format = Format.text

    @OptionGroup var control: WorldControlOptions

    func validate() throws {
        if control.global.timestamps { throw ValidationError("a trace has times of its own: omit --timestamps") }
    }

    @MainActor
    func run() async throws {
        let console = control.global.openConsole()
        let trace = try await control.client().send(
            LiveRequest("GET", "/v1/trace", query: ["format": format.rawValue]))
        console.put(trace)
    }
}
#endif
