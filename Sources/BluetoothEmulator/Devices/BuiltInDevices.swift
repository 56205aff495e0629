extension Emulator {
    /// The devices that an emulator holds where no world file is given.
    static let builtIn: [@Sendable () throws -> EmulatedPeripheral] = []

    func addBuiltInDevices() {
        for make in Self.builtIn {
            do { try add(make()) } catch { preconditionFailure("a built-in device is impossible: \(error)") }
        }
    }
}
