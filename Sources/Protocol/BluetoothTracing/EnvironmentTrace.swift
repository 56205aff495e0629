package import BluetoothBackend
import BluetoothSupport
import Logging

/// The trace that `COREBLUETOOTH_TRACE` requests, with the commands and events of all managers of the process.
package enum EnvironmentTrace {
    /// The trace; nil if the environment requests none, or one that cannot be written.
    package static let shared: BackendTrace? = {
        do {
            return try make(ProcessInfo.processInfo.environment)
        } catch {
            Logger(label: "CoreBluetooth").line(.error, "no trace: \(error)")
            return nil
        }
    }()

    /// Returns the trace that an environment requests.
    ///
    /// - Throws: ``SettingsError`` for an unknown category or setting, ``TraceFileError`` for a file that cannot be
    ///   written.
    package static func make(_ environment: [String: String]) throws -> BackendTrace? {
        guard let name = environment["COREBLUETOOTH_TRACE"], !name.isEmpty else { return nil }
        let settings = try TraceSettings(environment)
        return BackendTrace(
            .file(try TraceFile(name)), filter: settings.filter, clock: SystemClock(), showsValues: settings.showsValues
        )
    }

    /// Returns a backend whose commands and events are traced; the same backend if nothing is traced.
    package static func traced(_ backend: any BluetoothBackend) -> any BluetoothBackend {
        guard let shared else { return backend }
        return TracingBackend(around: backend, shared)
    }
}

/// The settings of the variables other than `COREBLUETOOTH_TRACE`.
struct TraceSettings: Hashable {
    var filter = TraceFilter()
    var showsValues = true

    init(_ environment: [String: String]) throws(SettingsError) {
        func list(_ name: String) -> [String] {
            (environment[name] ?? "").split(separator: ",").map(Self.trimmed).filter { !$0.isEmpty }
        }
        filter.devices = list("COREBLUETOOTH_TRACE_DEVICES")
        for name in list("COREBLUETOOTH_TRACE_KINDS") {
            guard let category = TraceCategory(rawValue: name) else {
                let known = TraceCategory.allCases.map(\.rawValue).joined(separator: ", ")
                throw SettingsError("COREBLUETOOTH_TRACE_KINDS: \"\(name)\" is none of \(known)")
            }
            filter.categories.insert(category)
        }
        switch environment["COREBLUETOOTH_TRACE_VALUES"] ?? "" {
        case "", "shown": break
        case "hidden": showsValues = false
        case let other: throw SettingsError("COREBLUETOOTH_TRACE_VALUES: \"\(other)\" is none of shown, hidden")
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}
