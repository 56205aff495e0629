import Logging

/// The module's log lines: label `AsyncBluetooth`, each with a `category`.
///
/// Values are not logged. `info` for what an app might tell its user, `debug` for the rest.
enum Log {
    /// What a line is about.
    enum Category: String {
        case state, scan, connection, discovery, command, subscription, channel, server
    }

    /// A step on the way.
    static func debug(_ category: Category, _ text: @autoclosure () -> String) { write(category, .debug, text) }

    /// Something that a user of the app might be told.
    static func info(_ category: Category, _ text: @autoclosure () -> String) { write(category, .info, text) }

    /// A new logger each time, so that the handler is the one that the app has bootstrapped by now.
    private static func write(_ category: Category, _ level: Logger.Level, _ text: () -> String) {
        let logger = Logger(label: "AsyncBluetooth")
        guard logger.logLevel <= level else { return }
        logger.log(level: level, "\(text())", metadata: ["category": "\(category.rawValue)"])
    }
}
