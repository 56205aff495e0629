import BluetoothEmulator
import CoreBluetooth

/// The choice between native and mock managers.
enum BackendChoice {
    private static let isMockLogged = Protected(false)

    /// Returns whether a factory creates a mock; the order is described in ``CBMCentralManagerFactory``.
    static func isMocked(forceMock: Bool) -> Bool {
        if forceMock || Emulator.selected != nil { return true }
        switch ProcessInfo.processInfo.environment["COREBLUETOOTH_BACKEND"] {
        case "bluez": return false
        case "emulator": return true
        default: break
        }
        guard MockWorlds.hasSimulated else { return false }
        logMock()
        return true
    }

    private static func logMock() {
        let isLogged = isMockLogged.withLock { isLogged in
            defer { isLogged = true }
            return isLogged
        }
        guard !isLogged else { return }
        log.notice(
            """
            the factories make mock managers, as this process has simulated peripherals; set COREBLUETOOTH_BACKEND=bluez for \
            native ones
            """)
    }
}
