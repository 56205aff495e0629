import Foundation
import Mosquitto

extension Configuration {
    /// The largest configuration file, in bytes.
    private static let sizeLimit = 4_194_304

    /// Reads a file.
    ///
    /// - Parameter environment: The variables that may contain a password.
    /// - Throws: ``ConfigurationError``.
    package init(
        contentsOf file: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let text = try Self.readText(file) { ConfigurationError(description: "\(file): \($0)") }
        try self.init(yaml: text, file: file, environment: environment)
    }

    /// Reads a text.
    package init(yaml: String, file: String, environment: [String: String] = [:]) throws {
        let top = try YAMLFields(
            yaml: yaml, file: file,
            known: ["gateway", "broker", "topics", "queue", "metrics", "devices", "advertisements"])
        gateway = try top.name("gateway")
        guard
            let broker = try top.fields(
                "broker", known: ["host", "port", "user", "password", "tls", "keepAlive", "window"])
        else { throw top.error(nil, "lacks the field broker") }
        self.broker = try Self.broker(broker, gateway: gateway, environment)
        let topics = try top.fields("topics", known: ["base", "discovery"])
        baseTopic = try topics?.topic("base") ?? "bluetooth"
        let discovery = try topics?.topic("discovery") ?? "homeassistant"
        discoveryPrefix = discovery == "off" ? nil : discovery
        guard let queue = try top.fields("queue", known: ["file", "rows", "survivesPowerLoss"]) else {
            throw top.error(nil, "lacks the field queue")
        }
        self.queue = QueueSettings(
            file: Self.path(try queue.requiredText("file"), beside: file),
            rows: try queue.integer("rows", in: 1...100_000_000) ?? 100_000,
            survivesPowerLoss: try queue.boolean("survivesPowerLoss") ?? false)
        let metrics = try top.fields("metrics", known: ["port"])
        metricsPort = try metrics.flatMap { try $0.integer("port", in: 1...65_535) }.map(UInt16.init)
        if let metrics, metricsPort == nil { throw metrics.error(nil, "lacks the field port") }
        devices = try DeviceConfiguration.list(top)
        advertisements = try AdvertisementRule.list(top, beside: devices)
        guard !devices.isEmpty || !advertisements.isEmpty else {
            throw top.error(
                top.has("devices") ? "devices" : nil, "needs at least one device, or one of the advertisements")
        }
    }

    // MARK: The broker

    private static func broker(
        _ fields: YAMLFields, gateway: String, _ environment: [String: String]
    ) throws -> BrokerSettings {
        let tls = try fields.fields("tls", known: ["authorities", "certificate", "key"])
        let port = try fields.integer("port", in: 1...65_535) ?? (tls == nil ? 1883 : 8883)
        var broker = BrokerSettings(
            host: try fields.requiredText("host"), port: UInt16(port), clientID: "mqtt-gateway-\(gateway)")
        broker.user = try fields.text("user")
        broker.password = try fields.fields("password", known: ["file", "environment"]).map {
            try password($0, environment)
        }
        if broker.password != nil, broker.user == nil { throw fields.error("password", "needs the field user") }
        broker.tls = try tls.map {
            TLSSettings(
                authorities: try $0.requiredText("authorities"), certificate: try $0.text("certificate"),
                key: try $0.text("key"))
        }
        if let tls, (broker.tls?.certificate == nil) != (broker.tls?.key == nil) {
            throw tls.error(nil, "needs both certificate and key, or neither")
        }
        broker.keepAlive = try fields.duration("keepAlive", in: .seconds(5)...(.seconds(3_600))) ?? .seconds(30)
        broker.window = try fields.integer("window", in: 1...1_000) ?? 20
        return broker
    }

    /// Returns the password from a file or from the environment; the configuration itself contains none.
    private static func password(_ fields: YAMLFields, _ environment: [String: String]) throws -> Secret {
        switch (try fields.text("file"), try fields.text("environment")) {
        case (let file?, nil):
            let text = try readText(file) { fields.error("file", $0) }
            return Secret(String(text.prefix { $0 != "\n" && $0 != "\r\n" }))
        case (nil, let variable?):
            guard let text = environment[variable], !text.isEmpty else {
                throw fields.error("environment", "the variable \(variable) is not set")
            }
            return Secret(text)
        default: throw fields.error(nil, "must have either the field file or the field environment")
        }
    }

    // MARK: Files

    private static func readText(_ file: String, _ error: (String) -> ConfigurationError) throws -> String {
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
            let data = try handle.read(upToCount: sizeLimit + 1) ?? Data()
            try handle.close()
            guard data.count <= sizeLimit else { throw error("\(file) is larger than \(sizeLimit) bytes") }
            guard let text = String(data: data, encoding: .utf8) else { throw error("\(file) is not UTF-8") }
            return text
        } catch let failure as ConfigurationError {
            throw failure
        } catch let failure {
            throw error("\(file) cannot be read: \(failure.localizedDescription)")
        }
    }

    /// Returns a path, relative to the folder of the configuration file if it is relative.
    private static func path(_ path: String, beside file: String) -> String {
        path.hasPrefix("/") ? path : URL(fileURLWithPath: file).deletingLastPathComponent().appending(path: path).path
    }
}
