import ArgumentParser
import Foundation
import GatewayCore
import Logging

/// A program that publishes Bluetooth LE devices to an MQTT broker.
@main
struct MQTTGateway: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mqtt-gateway", abstract: "Publishes Bluetooth LE devices to an MQTT broker.",
        subcommands: [RunCommand.self, CheckCommand.self])
}

/// The option for the configuration file.
struct FileOptions: ParsableArguments {
    @Argument(help: "The configuration file, in YAML.") var file: String

    /// Reads the file.
    ///
    /// - Throws: The exit status 2, after the mistake was printed.
    func read() throws -> GatewayCore.Configuration {
        do {
            return try GatewayCore.Configuration(contentsOf: file)
        } catch let error as ConfigurationError {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            throw ExitCode(2)
        }
    }
}

/// The command that checks a configuration file.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a configuration file; exit status 2 for a mistake.")

    @OptionGroup var options: FileOptions

    func run() throws {
        let configuration = try options.read()
        let values = configuration.devices.reduce(0) { $0 + $1.values.count }
        let commands = configuration.devices.reduce(0) { $0 + $1.commands.count }
        print(
            "\(configuration.devices.count) devices with \(values) values and \(commands) commands, "
                + "\(configuration.advertisements.count) rules for advertisements")
    }
}

/// The command that runs the gateway.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs the gateway until SIGTERM or SIGINT.")

    enum LogFormat: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    /// The time limit of a stop: less than systemd's `TimeoutStopSec`.
    static let stopLimit = Duration.seconds(15)

    @OptionGroup var options: FileOptions
    @Option(help: "The format of log lines on standard error: text or json.") var logFormat = LogFormat.text
    @Option(help: "The least level of log lines: debug, info, notice, warning or error.") var logLevel = "info"

    func validate() throws {
        guard Logger.Level(rawValue: logLevel) != nil else {
            throw ValidationError("\"\(logLevel)\" is none of debug, info, notice, warning, error")
        }
    }

    func run() async throws {
        let stop = TerminationSignals.sequence(limit: Self.stopLimit)
        let (format, level) = (logFormat, Logger.Level(rawValue: logLevel) ?? .info)
        LoggingSystem.bootstrap { label in
            var handler: any LogHandler =
                switch format {
                case .json: JSONLogHandler(label: label)
                case .text: StreamLogHandler.standardError(label: label)
                }
            handler.logLevel = level
            return handler
        }
        let logger = Logger(label: "mqtt-gateway")
        let gateway = Gateway(try options.read(), logger: logger)
        do {
            try await gateway.run(until: stop)
        } catch {
            logger.error("the gateway cannot run", metadata: ["error": "\(error)"])
            throw ExitCode.failure
        }
    }
}
