package import BluetoothBackend
package import BluetoothSupport
import Logging

/// The faults that `COREBLUETOOTH_FAULTS` requests for all managers of the process.
package enum EnvironmentFaults {
    /// The plan; nil if the environment requests none, or one that cannot be read.
    private static let plan: FaultPlan? = {
        let (logger, environment) = (Logger(label: "CoreBluetooth"), ProcessInfo.processInfo.environment)
        do throws(SettingsError) {
            guard let plan = try make(environment) else { return nil }
            logger.line(.warning, "\(variable) is set: the faults of \(environment[variable] ?? "") are injected")
            return plan
        } catch {
            logger.line(.error, "no faults: \(error)")
            return nil
        }
    }()

    private static let variable = "COREBLUETOOTH_FAULTS"
    private static let managers = ManagerNumbers()

    /// Returns the plan that an environment requests.
    ///
    /// - Throws: ``SettingsError`` if the file is missing or is no plan, or if one of its faults cannot happen.
    package static func make(_ environment: [String: String]) throws(SettingsError) -> FaultPlan? {
        guard let name = environment[variable], !name.isEmpty else { return nil }
        do {
            let text = try InputFile.text(of: name, atMost: largestFile)
            let plan = try JSONDecoder().decode(FaultPlan.self, from: Data(text.utf8))
            try plan.validate()
            return plan
        } catch {
            let reason = (error as? InputFileError)?.reason ?? (error as? DecodingError)?.reason ?? "\(error)"
            throw SettingsError("\(variable): \(name): \(reason)")
        }
    }

    /// The largest size of a file, in bytes.
    private static let largestFile = 10_000_000

    /// Returns a backend with the requested faults; the same backend if the environment requests none.
    ///
    /// The managers of all backends are numbered together, as in the process's trace.
    package static func faulty(_ backend: any BluetoothBackend) -> any BluetoothBackend {
        guard let plan else { return backend }
        return FaultInjectingBackend(around: backend, validated: plan, managers: managers)
    }
}
