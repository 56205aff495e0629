#if Emulator && os(Linux)
public import ArgumentParser
public import BluetoothEmulator
import BluetoothSupport
import Foundation
import LiveView

/// A command that changes a served world and prints the number of the event at which the change had taken effect.
protocol WorldControlCommand: AsyncParsableCommand, Sendable {
    var control: WorldControlOptions { get }

    /// Returns the request; a device is named by its number or its name, as ``WorldDevices/path(of:)`` finds it.
    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest
}

extension WorldControlCommand {
    @MainActor
    func run() async throws {
        let console = control.global.openConsole()
        let client = try control.client()
        let state: LiveState = try await client.send(LiveRequest("GET", "/v1/world"))
        let request = try request(WorldDevices(state: state))
        let result: LiveResult = try await client.send(request)
        console.show(["sequence": Int(result.sequence), "device": result.id.map { Int($0) }], [])
    }
}

/// The devices and hosts of a served world, for finding those that a command names.
struct WorldDevices {
    let state: LiveState

    /// Returns the path of a device, by its number, or by its name if only one device has it.
    func path(of text: String) throws(Failure) -> String {
        if let number = UInt32(text), state.devices.contains(where: { $0.id == number }) {
            return "/v1/devices/\(number)"
        }
        let named = state.devices.filter { $0.name == text }
        guard let device = named.first else { throw Self.missing("device", text, among: state.devices.map(\.name)) }
        guard named.count == 1 else {
            let numbers = named.map { "\($0.id)" }.joined(separator: ", ")
            throw Failure(.usage, "the devices \(numbers) are named \(text): use a number")
        }
        return "/v1/devices/\(device.id)"
    }

    /// Returns the path of the host with a name.
    func path(ofHost name: String) throws(Failure) -> String {
        guard let host = state.hosts.first(where: { $0.name == name }) else {
            throw Self.missing("host", name, among: state.hosts.map(\.name))
        }
        return "/v1/hosts/\(host.id)"
    }

    private static func missing(_ kind: String, _ name: String, among names: [String]) -> Failure {
        let text = "there is no \(kind) \(name)" + Suggestion.text(for: name, among: names)
        return Failure(.failed, text + "; \"bluectl world show\" lists them")
    }
}

struct WorldMoveCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move a served device nearer or farther.",
        discussion: "Out of range, its links end after the supervision timeout.")

    @Argument(help: "The device: its number or its name.")
    var device: String

    @Argument(help: "The new distance.")
    var proximity: Proximity?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The mean signal strength, -127...20 dBm.", valueName: "DBM"))
    var rssi: Int?

    @OptionGroup var control: WorldControlOptions

    func validate() throws {
        if proximity == nil, rssi == nil { throw ValidationError("name a distance, or a signal strength with --rssi") }
    }

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        LiveRequest("PATCH", try devices.path(of: device), ["proximity": proximity?.rawValue, "rssi": rssi])
    }
}

extension Proximity: ExpressibleByArgument {}

struct WorldNotifyCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Change a value of a served device, and notify subscribers.",
        discussion: "A descriptor is changed without a notification.")

    @Argument(help: "The device: its number or its name.")
    var device: String

    @Argument(help: ArgumentHelp("The characteristic: its UUID, or SERVICE/UUID.", valueName: "CHARACTERISTIC"))
    var characteristic: String

    @Argument(help: ArgumentHelp("The bytes, in hexadecimal digits.", valueName: "HEX"))
    var value: String

    @Option(help: ArgumentHelp("Change this descriptor of the characteristic: its UUID, as 2901.", valueName: "UUID"))
    var descriptor: String?

    @Flag(help: "Store the value without notifying it.")
    var quietly = false

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        let parts = characteristic.split(separator: "/", maxSplits: 1).map(String.init)
        return LiveRequest(
            "POST", try devices.path(of: device) + "/values",
            [
                "characteristic": parts.last ?? "", "service": parts.count > 1 ? parts[0] : nil,
                "descriptor": descriptor, "value": value, "notify": descriptor == nil && !quietly,
            ])
    }
}

struct WorldDisconnectCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect", abstract: "Close the links of a served device.")

    @Argument(help: "The device: its number or its name.")
    var device: String

    @Flag(help: "Lose the links as in a crash: centrals notice after the supervision timeout.")
    var silently = false

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        LiveRequest("POST", try devices.path(of: device) + "/disconnect", ["silent": silently])
    }
}

struct WorldFaultCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault", abstract: "Inject or clear faults on a served device.",
        discussion: """
            FAULT is a fault as in world files: '{"step": "write", "what": "fail", "code": 128}'. With the effect \
            "fail", "delay", "pause" or "disconnect" the device does not act, or not yet; with "loseAnswer" or \
            "delayAnswer" it acts, and its answer is lost with the link or comes late; with "corrupt" its value \
            arrives malformed. "clear" removes all faults, and "resume" continues paused steps.
            """)

    @Argument(help: "The device: its number or its name.")
    var device: String

    @Argument(help: "The fault, or clear, or resume.")
    var fault: String

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        let path = try devices.path(of: device)
        switch fault {
        case "clear": return LiveRequest("DELETE", path + "/faults")
        case "resume": return LiveRequest("POST", path + "/resume")
        default: return LiveRequest("POST", path + "/faults", body: Data(fault.utf8))
        }
    }
}

struct WorldPasskeyCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "passkey", abstract: "Enter a passkey as the user of a served device.",
        discussion: """
            A pairing waits for the number if a Bluetooth stack outside of the emulator displays one, and the device's \
            description has no passkey.
            """)

    @Argument(help: "The device: its number or its name.")
    var device: String

    @Argument(help: ArgumentHelp("The number that the stack displays, 000000 to 999999.", valueName: "DIGITS"))
    var passkey: Passkey

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        LiveRequest("POST", try devices.path(of: device) + "/passkey", ["passkey": passkey.number])
    }
}

/// The position of a switch on the command line.
enum SwitchState: String, CaseIterable, ExpressibleByArgument, Sendable { case on, off }

struct WorldPowerCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "power", abstract: "Switch the adapter of a served host on or off.")

    @Argument(help: "on or off.")
    var state: SwitchState

    @Option(help: ArgumentHelp("The host.", valueName: "NAME"))
    var host = "default"

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        LiveRequest("PATCH", try devices.path(ofHost: host), ["powered": state == .on])
    }
}

struct WorldPlugCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "plug", abstract: "Plug the adapter of a served host in, or unplug it.",
        discussion: """
            The adapter is gone from the programs that use it, and comes back with the bonds of its host. A host outside of the \
            emulator loses its controller.
            """)

    @Argument(help: "on plugs it in, off unplugs it.")
    var state: SwitchState

    @Option(help: ArgumentHelp("The host.", valueName: "NAME"))
    var host = "default"

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        LiveRequest("PATCH", try devices.path(ofHost: host), ["plugged": state == .on])
    }
}

struct WorldAddCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a device to a served world.")

    @Argument(help: ArgumentHelp("A device as in world files, in JSON.", valueName: "JSON"))
    var device: String

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        LiveRequest("POST", "/v1/devices", body: Data(device.utf8))
    }
}

struct WorldRemoveCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a device from a served world.")

    @Argument(help: "The device: its number or its name.")
    var device: String

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        LiveRequest("DELETE", try devices.path(of: device))
    }
}

struct WorldCaptureCommand: WorldControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture", abstract: "Begin or end a capture of the packets of a served world.",
        discussion: "\"bluectl world save --packets FILE\" writes it to a file.")

    @Argument(help: "on or off.")
    var state: SwitchState

    @OptionGroup var control: WorldControlOptions

    func request(_ devices: WorldDevices) throws(Failure) -> LiveRequest {
        LiveRequest("PATCH", "/v1/capture", ["running": state == .on])
    }
}
#endif
