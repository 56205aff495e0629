#if os(Linux)
import BluetoothSupport
import Logging

/// The log of this backend, under the label `BlueZ`.
///
/// Each Bluetooth address is replaced, also in BlueZ's object paths and messages: addresses show who is near, and logs
/// are passed on. Values are never written.
enum BlueZLog {
    private static let logger = Logger(label: "BlueZ")

    static func debug(_ text: @autoclosure () -> String) { logger.line(.debug, hidingAddresses(in: text())) }
    static func info(_ text: @autoclosure () -> String) { logger.line(.info, hidingAddresses(in: text())) }
    static func warning(_ text: @autoclosure () -> String) { logger.line(.warning, hidingAddresses(in: text())) }
    static func error(_ text: @autoclosure () -> String) { logger.line(.error, hidingAddresses(in: text())) }

    /// Returns the text with "…" for each Bluetooth address, in plain notation (`00:11:22:33:44:55`) or in that of
    /// object paths (`dev_00_11_22_33_44_55`).
    static func hidingAddresses(in text: String) -> String {
        text.replacing(/[0-9A-Fa-f]{2}(?:[:_][0-9A-Fa-f]{2}){5}/, with: "…")
    }
}
#endif
