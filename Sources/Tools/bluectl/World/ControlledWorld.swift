#if Emulator && os(Linux)
import BluetoothEmulator
import LiveView

/// A served world that `bluectl world show`, `world move` and other commands control, and that a browser can show.
struct ControlledWorld {
    let directory: ControlDirectory
    private let server: ViewServer

    /// The address for a browser; nil without one.
    var address: String? { server.address }

    /// The variable through which programs that see the world find its control socket.
    static let variable = "BLUECTL_CONTROL"

    /// Prepares the control of a world.
    ///
    /// - Parameters:
    ///   - file: The name of the world's file, for display.
    ///   - clock: Drives the emulator; nil if its time passes by itself.
    ///   - port: The port for a browser, 0 for a free one; nil for none.
    init(_ emulator: Emulator, file: String?, clock: WorldClock? = nil, browserPort port: UInt16?) throws(Failure) {
        directory = try ControlDirectory()
        let world = LiveWorld(emulator, file: file, clock: clock, directory: directory.path)
        do throws(ViewServer.ServerError) {
            server = try ViewServer(world, socket: directory.socket, browserPort: port)
        } catch {
            directory.remove()
            throw Failure(.failed, error.description)
        }
    }

    /// Serves until the task ends.
    func run(_ ready: @escaping @Sendable () async -> Void) async throws(Failure) {
        defer { directory.remove() }
        do {
            try await server.run(ready)
        } catch {
            throw Failure(.failed, "the world cannot be controlled: \(error)")
        }
    }
}

/// The control of a world that other programs use, and which works without it.
@MainActor
struct WorldControl {
    /// The world; nil if it cannot be controlled.
    let world: ControlledWorld?
    private let task: Task<Void, Never>?

    /// Starts the control; when this returns, commands can be sent.
    ///
    /// A failure is reported as a warning.
    ///
    /// - Parameter port: The port for a browser, 0 for a free one; nil for none.
    init(_ emulator: Emulator, file: String?, browserPort port: UInt16?, console: Console) async {
        let controlled: ControlledWorld
        do throws(Failure) {
            controlled = try ControlledWorld(emulator, file: file, browserPort: port)
        } catch {
            console.warn(error.description)
            (world, task) = (nil, nil)
            return
        }
        let (ready, signal) = AsyncStream<Void>.makeStream()
        task = Task { @MainActor in
            do throws(Failure) {
                try await controlled.run { signal.yield() }
            } catch {
                console.warn(error.description)
            }
            signal.finish()
        }
        var isReady = false
        for await _ in ready {
            isReady = true
            break
        }
        world = isReady ? controlled : nil
    }

    func end() async {
        task?.cancel()
        await task?.value
    }
}
#endif
