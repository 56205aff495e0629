import BluetoothSupport
import CoreBluetooth
import Logging

/// The log lines of one central or server, each with a `category`; those about a device carry its identifier and name.
///
/// Values are not logged.
struct Log: Sendable {
    /// The subject of a line.
    enum Category: String {
        case state, scan, connection, discovery, server, buffer
    }

    /// The app's logger; nil for one of label `AsyncBluetooth`.
    private let logger: Logger?

    init(_ logger: Logger?) { self.logger = logger }

    func debug(_ category: Category, _ text: @autoclosure () -> String, _ device: BluetoothError.Context? = nil) {
        write(.debug, category, text(), device)
    }

    func warning(_ category: Category, _ text: @autoclosure () -> String, _ device: BluetoothError.Context? = nil) {
        write(.warning, category, text(), device)
    }

    private func write(
        _ level: Logger.Level, _ category: Category, _ text: @autoclosure () -> String,
        _ device: BluetoothError.Context?
    ) {
        // A new logger for each line uses the handler that is bootstrapped by now.
        let logger = logger ?? Logger(label: "AsyncBluetooth")
        logger.line(level, text(), metadata: Self.metadata(category, device))
    }

    private static func metadata(_ category: Category, _ device: BluetoothError.Context?) -> [String: String] {
        var metadata = ["category": category.rawValue]
        metadata["peripheral"] = device?.peer?.uuidString
        metadata["name"] = device?.peerName
        return metadata
    }
}
