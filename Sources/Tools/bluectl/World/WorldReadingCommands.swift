#if Emulator && os(Linux)
import ArgumentParser
import BluetoothBackend
import BluetoothEmulator
import BluetoothProfiles
import BluetoothSupport
import Foundation
import LiveView

struct WorldShowCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the hosts, devices and links of a served world, or the values of a device.",
        discussion: """
            With DEVICE, prints a line for each characteristic: service and UUID, as "world notify" takes them, name, \
            current value, and the number of subscribed links.
            """)

    @Argument(help: "The device: its number or its name.")
    var device: String?

    @OptionGroup var control: WorldControlOptions

    @MainActor
    func run() async throws {
        let console = control.global.openConsole()
        let client = try control.client()
        let world = try await client.send(LiveRequest("GET", "/v1/world"))
        guard let device else { return try show(world, LiveState.self, console) { WorldText.lines(of: $0) } }
        let path = try WorldDevices(state: try decoded(world)).path(of: device)
        let details = try await client.send(LiveRequest("GET", path))
        try show(details, DeviceDetails.self, console) { WorldText.lines(of: $0) }
    }

    @MainActor
    private func show<Answer: Decodable>(
        _ data: Data, _ type: Answer.Type, _ console: Console, lines: (Answer) -> [String]
    ) throws(Failure) {
        if console.isJSON { return console.print(String(decoding: data, as: UTF8.self)) }
        for line in lines(try decoded(data)) { console.print(line) }
    }

    private func decoded<Answer: Decodable>(_ data: Data) throws(Failure) -> Answer {
        do {
            return try JSONDecoder().decode(Answer.self, from: data)
        } catch {
            throw Failure(.failed, "the world's answer is malformed: \(error)")
        }
    }
}

struct WorldWatchCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print the events of a served world until Ctrl-C.",
        discussion: "With --json, the events have the format of the control protocol.")

    @Option(help: ArgumentHelp("End after this number of events.", valueName: "N"))
    var count: Int?

    @OptionGroup var control: WorldControlOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("the number of events is 1 or more") }
    }

    @MainActor
    func run() async throws {
        let console = control.global.openConsole()
        let client = try control.client()
        let watch = Task { try await self.watch(client, console) }
        let signals = Signals { _ in watch.cancel() }
        defer { withExtendedLifetime(signals) {} }
        console.onClosedOutput = { watch.cancel() }
        let result = await watch.result
        if !watch.isCancelled { try result.get() }
    }

    @MainActor
    private func watch(_ client: LiveClient, _ console: Console) async throws {
        var left = count ?? .max
        let state: LiveState = try await client.send(LiveRequest("GET", "/v1/world"))
        var sequence = state.sequence
        while left > 0, !Task.isCancelled {
            for event in try await client.events(after: sequence).prefix(left) {
                sequence = event.sequence ?? sequence
                if show(event, console) { left -= 1 }
            }
        }
    }

    /// - Returns: Whether the event is shown.
    @MainActor
    private func show(_ event: LiveEvent, _ console: Console) -> Bool {
        guard event.kind != .heartbeat else { return false }
        if console.isJSON {
            do {
                console.print(String(decoding: try event.jsonLine(), as: UTF8.self))
            } catch {
                console.warn("an event cannot be printed: \(error)")
            }
            return true
        }
        guard let line = WorldText.line(of: event) else { return false }
        console.print(line)
        return true
    }
}

struct WorldSaveCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "save", abstract: "Save a served world as a world file, a capture or a test.",
        discussion: """
            Without an option, a world file is printed. --test prints the source of a Swift test that \
            repeats the manual changes.
            """)

    @Option(help: ArgumentHelp("Write the captured packets to a file, in pcapng.", valueName: "FILE"))
    var packets: String?

    @Flag(help: "Print the source of a test.")
    var test = false

    @OptionGroup var control: WorldControlOptions

    func validate() throws {
        if packets != nil, test { throw ValidationError("only one of --packets and --test") }
        if control.global.timestamps { throw ValidationError("a file has no times: omit --timestamps") }
    }

    @MainActor
    func run() async throws {
        let console = control.global.openConsole()
        let data = try await control.client().send(request)
        guard let packets else { return console.put(data) }
        try OutputFile(packets).write(Array(data))
        console.show(["file": packets], [packets])
    }

    private var request: LiveRequest {
        if packets != nil { return LiveRequest("GET", "/v1/capture.pcapng") }
        return LiveRequest("GET", test ? "/v1/test.swift" : "/v1/world.json")
    }
}

/// The text of a served world and its events as lines for people, with tabs between their parts; names and values are
/// untrusted.
enum WorldText {
    static func lines(of state: LiveState) -> [String] {
        let pace = state.clock.isPaused ? "paused" : "rate \(state.clock.rate)"
        let time = ["time", "\(Decimals.fixed(state.time, 3)) s"] + (state.clock.isOurs ? [pace] : [])
        let hosts = state.hosts.map { ["host", "\($0.id)", $0.name, $0.address, Self.state(of: $0)] }
        let devices = state.devices.map { device in
            [
                "device", "\(device.id)", device.name, device.address, proximity(of: device),
                device.signal.map { "\($0) dBm" } ?? "-", device.isAdvertising ? "advertising" : "silent",
            ]
        }
        let links = state.links.map { link in
            [
                "link", "\(link.id)", "host \(link.host)", "device \(link.device)", "MTU \(link.mtu)", link.security,
                "sent \(link.sent)", "received \(link.received)",
            ]
        }
        return ([time] + hosts + devices + links).map(joined)
    }

    private static func state(of host: LiveHost) -> String {
        guard let port = host.port, host.isPlugged else { return host.state.words }
        return host.isAttached ? "attached at \(port)" : "waiting for a Bluetooth stack at \(port)"
    }

    private static func proximity(of device: LiveDevice) -> String {
        Proximity(rawValue: device.proximity)?.words ?? device.proximity
    }

    /// Returns a line for each characteristic of a device.
    static func lines(of details: DeviceDetails) -> [String] {
        details.services.flatMap(\.characteristics).map { found in
            let value = found.value.isEmpty ? "empty" : found.value
            return joined([
                "\(found.service)/\(found.uuid)", found.name ?? "-", value + (found.meaning.map { " (\($0))" } ?? ""),
                "subscribers \(found.subscribers)",
            ])
        }
    }

    /// Returns the line of an event; nil for events whose content `world show` shows.
    static func line(of event: LiveEvent) -> String? {
        switch event.kind {
        case .log(let line):
            let direction = line.direction.map { $0 == .toDevice ? "> " : "< " } ?? ""
            let ends = [line.host.map { "host \($0)" }, line.device.map { "device \($0)" }].compactMap { $0 }
            return joined(
                [
                    Decimals.fixed(event.time ?? 0, 3), ends.joined(separator: ", "),
                    (line.isProblem ? "! " : "") + direction + line.text, line.value ?? "", line.meaning ?? "",
                ].filter { !$0.isEmpty })
        case .dropped(let count): return "\(count) events were dropped"
        default: return nil
        }
    }

    private static func joined(_ parts: [String]) -> String {
        parts.map(PrintableText.of).joined(separator: "\t")
    }
}
#endif
