import Logging

/// The module's log lines: label `AsyncBluetooth`, level `debug`, each with a `category`.
///
/// Values are not logged.
enum Log {
    /// What a line is about.
    enum Category: String {
        case state, scan, connection, discovery, server
    }

    /// Writes a line.
    ///
    /// A new logger each time, so that the handler is the one that the app has bootstrapped by now.
    static func debug(_ category: Category, _ text: @autoclosure () -> String) {
        Logger(label: "AsyncBluetooth").debug("\(text())", metadata: ["category": "\(category.rawValue)"])
    }
}
