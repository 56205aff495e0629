import ArgumentParser

struct DoctorCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check bus, daemon, adapter, power, rfkill and permissions, and suggest remedies.",
        discussion: "Exit status 1 if BlueZ cannot be used.",
        aliases: ["check"])

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        if let backend = global.backend, backend != .bluez {
            throw ValidationError("doctor checks BlueZ, not \(backend.rawValue)")
        }
        if global.world != nil { throw ValidationError("doctor checks BlueZ: omit --world") }
        try global.refuseDeviceOptions()
    }

    @MainActor
    func run() async throws {
        #if BlueZ && os(Linux)
        let console = global.openConsole()
        let facts = await SystemProbe(limit: global.timeout.duration).facts()
        let diagnosis = Diagnosis(facts: facts, adapter: global.effectiveAdapter)
        report(diagnosis.findings + [global.emulationFinding].compactMap { $0 }, on: console)
        if diagnosis.hasProblem { throw ExitCode.failure }
        #else
        throw Failure(.failed, "this bluectl was built without BlueZ")
        #endif
    }

    @MainActor
    private func report(_ findings: [Finding], on console: Console) {
        for finding in findings {
            let mark =
                switch finding.status {
                case .ok: console.palette.good("ok     ")
                case .note: console.palette.caution("note   ")
                case .problem: console.palette.bad("PROBLEM")
                }
            let remedy = finding.remedy.map { "         → \($0)" }
            console.show(finding.fields, ["\(mark)  \(finding.check): \(finding.detail)"] + (remedy.map { [$0] } ?? []))
        }
    }
}

extension GlobalOptions {
    /// A note if the environment makes the other commands use another backend.
    fileprivate var emulationFinding: Finding? {
        guard backend == nil, effectiveBackend == .emulator else { return nil }
        return Finding(
            "backend", .note, "COREBLUETOOTH_BACKEND is emulator: the other commands use emulated devices",
            remedy: "unset COREBLUETOOTH_BACKEND, or add --backend bluez")
    }
}

/// The result of one of the doctor's checks.
struct Finding: Equatable, Sendable {
    enum Status: String, Sendable {
        case ok
        /// Information only; Bluetooth can be used.
        case note
        /// Bluetooth cannot be used.
        case problem
    }

    let check: String
    let status: Status
    let detail: String
    let remedy: String?

    init(_ check: String, _ status: Status, _ detail: String, remedy: String? = nil) {
        self.check = check
        self.status = status
        self.detail = detail
        self.remedy = remedy
    }

    /// The doctor checks only BlueZ.
    var fields: JSONFields {
        ["check": check, "status": status.rawValue, "detail": detail, "remedy": remedy, "backend": "bluez"]
    }
}
