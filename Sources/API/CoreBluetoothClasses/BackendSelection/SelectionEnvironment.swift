import Foundation

/// The settings of the process's environment that select the backend.
struct SelectionEnvironment: Sendable {
    /// The values of `COREBLUETOOTH_BACKEND`.
    enum Backend: String, CaseIterable, Sendable {
        case auto, bluez, emulator
    }

    /// The value of `COREBLUETOOTH_BACKEND`, if it is known.
    var backend: Backend?
    /// The value of `COREBLUETOOTH_BACKEND`, if it is unknown.
    var unknownBackend: String?
    /// The value of `COREBLUETOOTH_ADAPTER`: `hci1` or an address; on the emulator, a host's name.
    var adapter: String?
    var continuousIntegration: ContinuousIntegration

    /// Reads an environment; empty values count as absent.
    init(_ variables: [String: String], isTestProcess: Bool = false) {
        func value(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }
        let text = value("COREBLUETOOTH_BACKEND")
        backend = text.flatMap(Backend.init(rawValue:))
        unknownBackend = backend == nil ? text : nil
        adapter = value("COREBLUETOOTH_ADAPTER")
        continuousIntegration = ContinuousIntegration(variables, isTestProcess: isTestProcess)
    }

    /// The adapter that the process's environment names now; costs much less than the whole environment.
    static var adapterOfProcess: String? {
        getenv("COREBLUETOOTH_ADAPTER").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The environment of the process, read now.
    static var process: SelectionEnvironment {
        SelectionEnvironment(
            ProcessInfo.processInfo.environment,
            isTestProcess: ContinuousIntegration.isTestProcess(executable: CommandLine.arguments.first ?? ""))
    }
}

/// Whether a process belongs to a job of continuous integration.
///
/// A job's programs may use emulated devices if the machine has no adapter. A variable `CI` alone is no proof: it is
/// inherited, and stays in the environment of images and services that a job has built. A second fact is therefore
/// required.
struct ContinuousIntegration: Sendable {
    /// Variables that the known systems set in their jobs, each by its documentation; `CI` comes with them, or is to be
    /// set in the job.
    static let markers = [
        "APPVEYOR", "BITBUCKET_BUILD_NUMBER", "BUILDKITE", "CIRCLECI", "CIRRUS_CI", "CODEBUILD_BUILD_ID", "DRONE",
        "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "SEMAPHORE", "TEAMCITY_VERSION", "TF_BUILD", "TRAVIS",
    ]

    /// The evidence, for the log; nil without evidence.
    let evidence: String?
    /// Whether `CI` is set although no other variable shows a job.
    let isDoubtful: Bool

    /// - Parameters:
    ///   - variables: The environment; empty values count as absent.
    ///   - isTestProcess: Whether the process runs tests.
    init(_ variables: [String: String], isTestProcess: Bool) {
        let value = variables["CI"] ?? ""
        let isSet = ["true", "1"].contains(value.lowercased())
        let marker = Self.markers.first { variables[$0]?.isEmpty == false }
        evidence =
            if isSet, let marker {
                "CI=\(value) and \(marker) are set"
            } else if isSet, isTestProcess {
                "CI=\(value) is set, and this process runs tests"
            } else {
                nil
            }
        isDoubtful = !value.isEmpty && evidence == nil
    }

    /// Whether the process with this executable runs tests: SwiftPM's bundle, or its helper.
    static func isTestProcess(executable: String) -> Bool {
        let name = executable.split(separator: "/").last ?? ""
        return name.hasSuffix(".xctest") || name == "swiftpm-testing-helper"
    }
}
