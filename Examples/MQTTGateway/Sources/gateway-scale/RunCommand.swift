import ArgumentParser
import Foundation
import GatewaySimulation

/// The command that runs the scale test.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs gateways, kills the broker and gateways, and compares the counts.")

    @Option(help: "The number of gateways, each a process.") var gateways = 20
    @Option(help: "The number of devices of each gateway.") var devices = 50
    @Option(help: "The milliseconds between two values of a device.") var interval = 1_000
    @Option(help: "The seconds of the run, 30 or more.") var seconds = 600
    @Option(help: "How many gateways are killed, each once.") var kills = 4
    @Option(help: "The seconds for which the broker is away, each time.") var outage = 10

    func validate() throws {
        guard gateways >= 1, (1...10_000).contains(devices), interval >= 10, seconds >= 30, outage * 4 < seconds,
            (0...gateways).contains(kills)
        else { throw ValidationError("an option is out of range: see --help") }
        guard BrokerProcess.executable != nil else { throw ValidationError("mosquitto is not installed") }
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gateway-scale-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let broker = try BrokerProcess(folder: folder)
        try broker.start()
        let observer = try Observer(port: broker.port)
        let counting = Task { await observer.run() }
        let processes = (1...gateways).map { number in
            GatewayProcess(
                "gateway-\(number)", folder: folder,
                arguments: ["--port", "\(broker.port)", "--devices", "\(devices)", "--interval", "\(interval)"])
        }
        report(
            "\(gateways) gateways with \(devices) devices, a value each \(interval) ms, \(seconds) s, in \(folder.path)"
        )
        await observer.subscribed()
        // A broker that is killed restarts with the observer's session.
        try broker.save()
        try await play(processes, broker)
        let isClean = try await end(processes, observer)
        observer.stop()
        await counting.value
        broker.kill()
        let result = try ScaleResult(
            processes, observer, folder: folder.path, seconds: seconds, interval: .milliseconds(interval))
        report(result.text)
        guard result.isComplete, isClean else {
            report("The counts do not agree, or a gateway did not stop cleanly; the logs are in \(folder.path)")
            throw ExitCode.failure
        }
        try FileManager.default.removeItem(at: folder)
    }

    /// Kills the broker at a quarter and at three fifths of the time, and gateways at two fifths, and the last of them
    /// while the broker is down.
    private func play(_ processes: [GatewayProcess], _ broker: BrokerProcess) async throws {
        let victims = processes.prefix(kills)
        for process in processes { try process.start() }
        try await Task.sleep(for: .seconds(seconds / 4))
        try await interrupt(broker) {}
        try await Task.sleep(for: .seconds(seconds * 3 / 20 - outage))
        for victim in victims.dropLast() { try restart(victim) }
        try await Task.sleep(for: .seconds(seconds / 5))
        try await interrupt(broker) { if let last = victims.last { try restart(last) } }
        try await Task.sleep(for: .seconds(seconds * 2 / 5 - outage))
    }

    private func interrupt(_ broker: BrokerProcess, _ meanwhile: () throws -> Void) async throws {
        broker.kill()
        report("the broker is killed")
        try await Task.sleep(for: .seconds(outage / 2))
        try meanwhile()
        try await Task.sleep(for: .seconds(outage - outage / 2))
        try broker.start()
        report("the broker is back")
    }

    private func restart(_ gateway: GatewayProcess) throws {
        gateway.kill9()
        try gateway.start()
        report("\(gateway.name) is killed and started again")
    }

    /// Silences the devices, lets the queues drain, and stops the gateways.
    ///
    /// - Returns: Whether all gateways ended with status 0.
    private func end(_ processes: [GatewayProcess], _ observer: Observer) async throws -> Bool {
        for process in processes { process.send(SIGUSR1) }
        // The wait ends when five seconds bring no new message, at most after a minute.
        var last = -1
        for _ in 0..<12 where observer.messages != last {
            last = observer.messages
            try await Task.sleep(for: .seconds(5))
        }
        let statuses = processes.map { $0.stop() }
        try await Task.sleep(for: .seconds(2))
        return statuses.allSatisfy { $0 == 0 }
    }

    /// Prints a line at once, also to a file.
    private func report(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
