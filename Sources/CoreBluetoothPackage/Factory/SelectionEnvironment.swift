import Foundation

/// What the process's environment says of the radio.
struct SelectionEnvironment: Sendable {
    /// The values of `COREBLUETOOTH_BACKEND`.
    enum Backend: String, CaseIterable, Sendable {
        case auto, bluez, emulator
    }

    /// `COREBLUETOOTH_BACKEND`, if it says something known.
    var backend: Backend?
    /// `COREBLUETOOTH_BACKEND`, if it says something unknown.
    var unknownBackend: String?
    /// `COREBLUETOOTH_ADAPTER`: `hci1` or an address; on the emulator, a host's name.
    var adapter: String?
    /// `COREBLUETOOTH_WORLD`: the path of a world file for the shared emulator.
    var world: String?
    /// Whether the process belongs to a job of continuous integration.
    var continuousIntegration: ContinuousIntegration

    /// Reads an environment; empty values count as absent.
    init(_ variables: [String: String], isTestProcess: Bool = false) {
        func value(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }
        let text = value("COREBLUETOOTH_BACKEND")
        backend = text.flatMap(Backend.init(rawValue:))
        unknownBackend = backend == nil ? text : nil
        adapter = value("COREBLUETOOTH_ADAPTER")
        world = value("COREBLUETOOTH_WORLD")
        continuousIntegration = ContinuousIntegration(variables, isTestProcess: isTestProcess)
    }

    /// The process's own, read now.
    static var process: SelectionEnvironment {
        SelectionEnvironment(
            ProcessInfo.processInfo.environment,
            isTestProcess: ContinuousIntegration.isTestProcess(executable: CommandLine.arguments.first ?? ""))
    }
}
