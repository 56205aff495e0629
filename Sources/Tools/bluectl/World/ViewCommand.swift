#if Emulator && os(Linux)
import ArgumentParser
import BluetoothEmulator
import Foundation
import LiveView

struct ViewCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "view",
        abstract: "Show emulated devices in a browser, and change them there, until Ctrl-C.",
        discussion: """
            Prints an address on this machine, which contains a token: anyone who knows it can control the devices. No \
            other program can use them; "bluectl world serve --view" shows devices that programs use. The time can be \
            paused, accelerated and advanced by steps.
            """)

    @Argument(
        help: ArgumentHelp(
            "A file that describes the devices, in JSON or YAML.",
            discussion: "Default: COREBLUETOOTH_WORLD, else three built-in devices.", valueName: "FILE"),
        completion: .file(extensions: ["json", "yaml", "yml"]))
    var file: String?

    @Option(help: ArgumentHelp("The port on 127.0.0.1; 0 selects a free one.", valueName: "PORT"))
    var port: UInt16 = 0

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        if let backend = global.backend, backend != .emulator {
            throw ValidationError("view shows emulated devices, not those of \(backend.rawValue)")
        }
        if global.world != nil { throw ValidationError("view takes a FILE: omit --world") }
    }

    @MainActor
    func run() async throws {
        let console = global.openConsole()
        let file = file ?? global.effectiveWorld
        let emulator = try BackendSelector.makeEmulator(global, world: file, time: .virtual) { $0.keepTraceForView() }
        for host in emulator.hosts where host.hci != nil {
            console.warn("the port of host \"\(host.name)\" is not opened; \"bluectl world serve --view\" opens it")
        }
        try BackendSelector.beginCapture(global)
        let world = try ControlledWorld(emulator, file: file, clock: WorldClock(emulator), browserPort: port)
        let address = world.address ?? ""
        let served = Task { () async -> Failure? in
            do throws(Failure) {
                try await world.run { @MainActor in console.show(["event": "ready", "address": address], [address]) }
                return nil
            } catch {
                return error
            }
        }
        let signals = Signals { _ in served.cancel() }
        defer { withExtendedLifetime(signals) {} }
        console.onClosedOutput = { served.cancel() }
        if let failure = await served.value { throw failure }
    }
}

extension EmulatorConfiguration {
    /// Keeps the lines of the trace that a view offers to save.
    mutating func keepTraceForView() { traceLimit = traceLimit ?? 10_000 }
}
#endif
