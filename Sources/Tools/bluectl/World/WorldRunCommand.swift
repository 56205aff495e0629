#if Emulator && BlueZ && os(Linux)
import ArgumentParser
import BluetoothSupport
import EmulatedBlueZ
import EmulatedHCI
import Foundation

struct WorldRunCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a program that sees emulated devices.",
        usage: """
            bluectl world run [FILE] [--dialect V] [--experimental] [--passkey DIGITS] [--view] -- COMMAND [ARGUMENT ...]
            """,
        discussion: """
            Programs for BlueZ, in any language and unchanged, find the devices of FILE: a private message bus exists \
            as long as COMMAND runs, and DBUS_SYSTEM_BUS_ADDRESS in the environment of COMMAND contains its address.

            While COMMAND runs, "bluectl world show", "world move" and the other commands show and change the devices. \
            Within COMMAND they need no further options, because BLUECTL_CONTROL in its environment names the socket; \
            elsewhere they need none if this is the only served world. With --view, a line on standard error contains \
            an address on this machine for a browser. The address contains a token: anyone who knows it can control \
            the devices.

            Standard input, output and errors are those of COMMAND, which also receives the signals. The exit status \
            is that of COMMAND, and 128+N if signal N ended it; 127 if there is no such program, and 126 if it cannot \
            be run. If the bus is lost, COMMAND receives SIGTERM, after --timeout SIGKILL, and the status is 1.
            """)

    @OptionGroup
    var world: WorldOptions

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The program and its arguments, after \"--\".", valueName: "COMMAND"))
    var command: [String] = []

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        try world.shared.validate(global)
        if command.isEmpty {
            throw ValidationError("a COMMAND is required, after \"--\": bluectl world run [FILE] -- COMMAND")
        }
        if global.timestamps { throw ValidationError("the output is that of COMMAND: omit --timestamps") }
    }

    @MainActor
    func run() async throws {
        // libdbus ignores SIGPIPE for the whole process, which the command would inherit.
        let restored = ForwardedSignals.hasDefaultAction(SIGPIPE) ? [SIGPIPE] : []
        let console = global.openConsole()
        let emulator = try world.shared.emulator(global)
        try BackendSelector.beginCapture(global)
        let served = try await ServedWorld(
            emulator, on: .ownBus, world.configuration, limit: global.timeout.duration)
        defer { served.stop() }
        let ports = try world.shared.openPorts(emulator)
        defer { for port in ports { port.port.close() } }
        let signals = try ForwardedSignals()
        for port in ports {
            console.remark(
                ["hci": port.place, "host": port.name],
                "hci: host \(PrintableText.of(port.name)) attaches at \(port.place)")
        }
        let control = await WorldControl(
            emulator, file: world.shared.file ?? global.effectiveWorld, browserPort: world.shared.browserPort,
            console: console)
        if let address = control.world?.address { console.remark(["view": address], "view: \(address)") }
        let process: SpawnedProcess
        do throws(Failure) {
            process = try start(served, control.world, defaultSignals: restored)
        } catch {
            await control.end()
            throw error
        }
        signals.forward(to: process)
        let watch = Task { await end(process, whenLost: served) }
        let status = await process.status()
        served.service.stop()
        await control.end()
        if let error = await watch.value { throw Failure(.failed, error.description) }
        if status != 0 { throw ExitCode(status) }
    }

    private func start(
        _ served: ServedWorld, _ control: ControlledWorld?, defaultSignals: [Int32]
    ) throws(Failure) -> SpawnedProcess {
        var environment = ProcessInfo.processInfo.environment
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = served.address
        environment[ControlledWorld.variable] = control?.directory.socket
        environment[world.versionForQt.name] = world.versionForQt.value
        do throws(SpawnedProcess.SpawnError) {
            return try SpawnedProcess(
                command[0], Array(command.dropFirst()), environment: environment, defaultSignals: defaultSignals)
        } catch {
            throw Failure(error.code == ENOENT ? .noProgram : .notExecutable, "\(command[0]): \(error)")
        }
    }

    /// Ends the command if the bus is lost.
    ///
    /// - Returns: The reason that the bus was lost; nil if the world was served to the end.
    private func end(_ process: SpawnedProcess, whenLost served: ServedWorld) async -> EmulatedBlueZError? {
        do throws(EmulatedBlueZError) {
            try await served.service.waitUntilEnd()
            return nil
        } catch {
            process.signal(SIGTERM)
            let limit = global.timeout.duration
            Task.detached {
                try await Task.sleep(for: limit)
                process.signal(SIGKILL)
            }
            return error
        }
    }
}

extension SpawnedProcess {
    /// Waits on a separate thread.
    fileprivate func status() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.wait()) }
        }
    }
}
#endif
