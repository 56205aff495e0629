import Logging

/// The log lines for calls that CoreBluetooth ignores in silence.
enum Misuse {
    /// A new logger each time, so that the handler is the one that the app has bootstrapped by now.
    private static var logger: Logger { Logger(label: "CoreBluetooth") }

    /// Says that a manager was called while it is not powered on.
    static func notPoweredOn(_ manager: CBManager) {
        logger.warning("API MISUSE: \(manager) can only accept this command while in the powered on state")
    }
}
