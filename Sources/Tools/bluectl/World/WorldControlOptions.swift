#if Emulator && os(Linux)
import ArgumentParser
import BluetoothSupport
import Foundation
import LiveView

/// The options that select the served world to control, and the common ones.
struct WorldControlOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The process that serves the world.",
            discussion: "Default: the world of the enclosing \"bluectl world run\", else the only served world.",
            valueName: "PROCESS"))
    var of: Int32?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    /// Creates a client of the world.
    ///
    /// - Throws: A failure if no world is served, or more than one.
    func client() throws(Failure) -> LiveClient {
        if let mistake = global.deviceOptionMistake { throw Failure(.usage, mistake) }
        let limit = max(global.timeout.duration, .seconds(20))
        let own = ProcessInfo.processInfo.environment[ControlledWorld.variable] ?? ""
        if of == nil, !own.isEmpty { return LiveClient(socket: own, limit: limit) }
        let worlds = try ControlDirectory.sockets()
        let chosen = of.map { process in worlds.filter { $0.process == process } } ?? worlds
        guard let world = chosen.first else {
            throw Failure(
                .failed, of.map { "process \($0) serves no world" } ?? "no world is served: bluectl world serve")
        }
        guard chosen.count == 1 else {
            let processes = chosen.map { "\($0.process)" }.joined(separator: ", ")
            throw Failure(.usage, "worlds are served by the processes \(processes): choose one with --of")
        }
        return LiveClient(socket: world.socket, limit: limit)
    }
}

extension Failure {
    init(_ error: LiveClient.ClientError) {
        switch error {
        case .noServer: self.init(.failed, "no world is served: bluectl world serve")
        case .refused(let error):
            let text = [error.path, error.rule].filter { !$0.isEmpty }.joined(separator: ": ")
            self.init([400, 415].contains(error.status) ? .usage : .failed, text)
        case .timedOut: self.init(.timedOut, "the world did not answer in time")
        case .malformed(let reason): self.init(.failed, "the world's answer is malformed: \(reason)")
        }
    }
}

/// The fields of a command's body.
extension LiveRequest {
    init(_ method: String, _ path: String, _ fields: JSONFields) {
        self.init(method, path, body: Data(fields.line.utf8))
    }
}
#endif
