#if Emulator && os(Linux)
import BluetoothEmulator
import LiveView

/// A served world that `bluectl world show`, `world move` and so on control, and that a browser shows if wanted.
struct ControlledWorld {
    let directory: ControlDirectory
    private let server: ViewServer

    /// The address for a browser; nil without one.
    var address: String? { server.address }

    /// Prepares the control of a world.
    ///
    /// - Parameters:
    ///   - file: The name of the world's file, to show.
    ///   - clock: Drives the emulator; nil where its time passes by itself.
    ///   - port: The port for a browser, 0 for a free one; nil for none.
    init(_ emulator: Emulator, file: String?, clock: WorldClock? = nil, browserPort port: UInt16?) throws(Failure) {
        directory = try ControlDirectory()
        let world = LiveWorld(emulator, file: file, clock: clock, directory: directory.path)
        do throws(ViewServer.ServerError) {
            server = try ViewServer(world, socket: directory.socket, browserPort: port)
        } catch {
            directory.remove()
            throw Failure(.failed, PrintableText.of(error.description))
        }
    }

    /// Serves until the task ends.
    func run(_ ready: @escaping @Sendable () async -> Void) async throws(Failure) {
        defer { directory.remove() }
        do {
            try await server.run(ready)
        } catch {
            throw Failure(.failed, PrintableText.of("the world cannot be controlled: \(error)"))
        }
    }
}
#endif
