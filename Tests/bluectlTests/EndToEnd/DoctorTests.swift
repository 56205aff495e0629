#if BlueZ && Emulator && os(Linux)
import BluetoothDBus
import Foundation
import ScriptedBlueZ
import Testing

/// The messages of `bluectl` as a process, on a private bus in place of the system's, if BlueZ cannot be used.
struct DoctorTests {
    /// The problems that a user may have.
    enum Trouble: String, CaseIterable, Sendable {
        case noBus, noDaemon, deadDaemon, muteDaemon, noAdapter, poweredOff, blocked, denied

        /// The doctor's line, and the remedy below it.
        var lines: (problem: String, remedy: String) {
            switch self {
            case .noBus: ("bus: no message bus at unix:path=/nonexistent/bus (", "systemctl start dbus")
            case .noDaemon: ("daemon: bluetoothd is not running", "apt install bluez")
            case .deadDaemon: ("daemon: bluetoothd is not running", "systemctl enable --now bluetooth")
            case .muteDaemon: ("permissions: bluetoothd does not list its objects", "systemctl restart bluetooth")
            case .noAdapter: ("adapter: bluetoothd has no adapter", "plug one in")
            case .poweredOff: ("adapter: hci0 (00:11:22:33:44:55) is off", "bluetoothctl power on")
            case .blocked: ("adapter: hci0 (00:11:22:33:44:55) is blocked", "rfkill unblock bluetooth")
            case .denied: ("permissions: ", "bluetooth")
            }
        }
    }

    /// A system with or without a problem.
    private struct System {
        var bus: PrivateBus?
        var daemon: ScriptedBlueZ?

        var environment: [String: String] {
            ["DBUS_SYSTEM_BUS_ADDRESS": bus?.address.text ?? "unix:path=/nonexistent/bus"]
        }
    }

    private func system(_ trouble: Trouble?) throws -> System {
        switch trouble {
        case .noBus: return System()
        case .noDaemon: return System(bus: try PrivateBus())
        case .deadDaemon: return System(bus: try PrivateBus(activatable: ["org.bluez": "/bin/false"]))
        default: break
        }
        let bus = try PrivateBus(forbidden: trouble == .denied ? ["org.bluez"] : [])
        let daemon = try ScriptedBlueZ(on: bus, isPowered: trouble != .poweredOff && trouble != .blocked)
        switch trouble {
        case .muteDaemon:
            daemon.service.on("org.freedesktop.DBus.ObjectManager", "GetManagedObjects") { _ in .none }
        case .noAdapter: daemon.service.remove(ScriptedBlueZ.adapter)
        case .blocked:
            let blocked: [String: DBusValue] = ["PowerState": .string("off-blocked")]
            daemon.service.set(ScriptedBlueZ.adapter, ScriptedBlueZ.Interface.adapter, blocked)
        default: break
        }
        return System(bus: bus, daemon: daemon)
    }

    @Test(arguments: Trouble.allCases)
    func theDoctorNamesTheProblemAndTheRemedyAndExitsWith1(trouble: Trouble) async throws {
        let system = try system(trouble)
        let run = try await Tool.run(["doctor", "--timeout", "2"], environment: system.environment)
        #expect(run.status == 1, "\(run)")
        let index = try #require(run.lines.firstIndex { $0.hasPrefix("PROBLEM  " + trouble.lines.problem) }, "\(run)")
        let remedy = try #require(run.lines.dropFirst(index + 1).first)
        #expect(remedy.hasPrefix("         → ") && remedy.contains(trouble.lines.remedy))
        #expect(run.errors == "")
    }

    @Test func theDoctorNamesThePackageOfALibraryThatIsMissing() async throws {
        try await Tool.withFolder { folder in
            // The loader finds this file first, and it is not a library.
            try Data().write(to: folder.appendingPathComponent("libdbus-1.so.3"))
            let run = try await Tool.run(["doctor"], environment: ["LD_LIBRARY_PATH": folder.path])
            #expect(run.status == 1, "\(run)")
            let index = try #require(
                run.lines.firstIndex { $0.hasPrefix("PROBLEM  bus: libdbus-1 is missing") }, "\(run)")
            #expect(run.lines[index + 1] == "         → apt install libdbus-1-3")
            let scan = try await Tool.run(["scan"], environment: ["LD_LIBRARY_PATH": folder.path])
            #expect(scan.status == 1, "\(scan)")
            #expect(scan.errors.hasPrefix("bluectl: ") && scan.errors.contains("doctor"))
        }
    }

    @Test func theDoctorFindsNothingWrongWhereBlueZCanBeUsed() async throws {
        let system = try system(nil)
        let run = try await Tool.run(["doctor"], environment: system.environment)
        #expect(run.status == 0, "\(run)")
        #expect(run.lines.contains("ok       adapter: hci0 (00:11:22:33:44:55) is on"))
        #expect(!run.output.contains("PROBLEM"))
        let json = try await Tool.run(["doctor", "--json"], environment: system.environment)
        #expect(json.status == 0)
        #expect(
            try json.objects().first == [
                "backend": "bluez", "check": "bus", "detail": "the system bus answers", "status": "ok",
            ])
        let other = try await Tool.run(
            ["doctor"], environment: system.environment.merging(["COREBLUETOOTH_BACKEND": "emulator"]) { $1 })
        #expect(other.status == 0)
        #expect(other.lines.contains { $0.hasPrefix("note     backend: COREBLUETOOTH_BACKEND is emulator") })
    }

    @Test func aMissingDBusDaemonIsANoteSinceOnlyTheWorldNeedsIt() async throws {
        let system = try system(nil)
        let run = try await Tool.run(
            ["doctor"], environment: system.environment.merging(["PATH": "/nonexistent"]) { $1 })
        #expect(run.status == 0, "\(run)")
        let index = try #require(run.lines.firstIndex { $0.hasPrefix("note     world: dbus-daemon is not installed") })
        #expect(run.lines[index + 1].contains("apt install dbus-daemon"))
        let installed = try await Tool.run(["doctor"], environment: system.environment)
        #expect(!installed.output.contains("world:"))
    }

    @Test func anAdapterThatIsNotThereIsAProblemThoughAnotherIs() async throws {
        let system = try system(nil)
        let run = try await Tool.run(["doctor", "--adapter", "hci7"], environment: system.environment)
        #expect(run.status == 1)
        #expect(run.output.contains("there is no adapter hci7 among hci0"))
    }

    @Test func adaptersAreThoseThatTheDaemonHas() async throws {
        let system = try system(.poweredOff)
        let run = try await Tool.run(["adapters"], environment: system.environment)
        #expect(run.status == 0, "\(run)")
        #expect(run.output.hasPrefix("hci0\t00:11:22:33:44:55\toff\t"))
        let json = try await Tool.run(["adapters", "--json", "--adapter", "hci0"], environment: system.environment)
        #expect(try json.objects().first?["isPowered"] as? Bool == false)
        #expect(try json.objects().first?["backend"] as? String == "bluez")
    }

    @Test(arguments: [Trouble.noBus, .noDaemon, .deadDaemon, .muteDaemon, .noAdapter, .denied])
    func whereThereIsNoAdapterTheListFailsWithOneLine(trouble: Trouble) async throws {
        let system = try system(trouble)
        let run = try await Tool.run(["adapters", "--timeout", "1"], environment: system.environment)
        #expect(run.status == 1, "\(run)")
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("bluectl: ") && run.errors.filter { $0 == "\n" }.count == 1, "\(run.errors)")
    }

    /// Every other command ends in the same way: status 1, nothing on standard output, and one line.
    @Test(arguments: Trouble.allCases.filter { $0 != .muteDaemon })
    func aScanThatCannotBeginSaysWhyInOneLineAndExitsWith1(trouble: Trouble) async throws {
        let system = try system(trouble)
        let run = try await Tool.run(["scan"], environment: system.environment)
        #expect(run.status == 1, "\(run)")
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("bluectl: ") && run.errors.contains("doctor"))
        #expect(run.errors.filter { $0 == "\n" }.count == 1, "\(run.errors)")
    }

    @Test func aDaemonThatNeverAnswersIsATimeOut() async throws {
        let system = try system(.muteDaemon)
        let run = try await Tool.run(["scan", "--timeout", "1", "--json"], environment: system.environment)
        #expect(run.status == 3, "\(run)")
        #expect(run.errors.contains(#""code":3"#))
    }
}
#endif
