#if Emulator && BlueZ && os(Linux)
import ChildProcesses
import Foundation
import Testing

/// The commands `bluectl world`, with which other programs see emulated devices.
@Suite struct WorldTests {
    private func run(_ command: String..., environment: [String: String] = [:]) async throws -> Tool.Outcome {
        try await Tool.run(["world", "run", "--"] + command, environment: environment)
    }

    @Test func theExitStatusIsThatOfTheCommand() async throws {
        #expect(try await run("sh", "-c", "exit 7").status == 7)
        #expect(try await run("sh", "-c", "kill -TERM $$").status == 128 + SIGTERM)
        #expect(try await run("/nonexistent").status == 127)
    }

    @Test func theCommandFindsTheDevicesByItsEnvironmentAlone() async throws {
        let outcome = try await run(Tool.path, "--backend", "bluez", "explore", "Heart Rate Monitor")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("Heart Rate Measurement"))
        #expect(outcome.output.contains("MTU 517"), "bluetoothd asks for the largest one")
    }

    @Test func nothingIsLeftBehind() async throws {
        let outcome = try await run("sh", "-c", "echo \"$DBUS_SYSTEM_BUS_ADDRESS\"")
        let address = outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let path = address.dropFirst("unix:path=".count).prefix { $0 != "," }
        #expect(path.hasSuffix("/system_bus_socket"))
        let directory = String(path.dropLast("/system_bus_socket".count))
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test(arguments: [(["--dialect", "5.66"], false), (["--experimental"], true), (["--dialect", "5.87"], true)])
    func theVersionAndTheOptionDecideWhatIsThere(_ options: [String], _ isThere: Bool) async throws {
        let script = """
            dbus-send --system --print-reply --dest=org.bluez /org/bluez/hci0 org.freedesktop.DBus.Introspectable.Introspect
            """
        let outcome = try await Tool.run(["world", "run"] + options + ["--", "sh", "-c", script])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("org.bluez.Adapter1"))
        #expect(outcome.output.contains("org.bluez.BatteryProviderManager1") == isThere)
    }

    @Test func aHostWithAPortInTheFileIsNoAdapterAndItsPortIsOpen() async throws {
        try await Tool.withFolder { folder in
            let (file, socket) = (folder.path + "/world.yaml", folder.path + "/phone.sock")
            try "hosts: [{ name: phone, hci: 'unix:\(socket)' }, { name: tablet }]\n".write(
                toFile: file, atomically: true, encoding: .utf8)
            let script = "test -S \(socket) && exec \(Tool.path) --backend bluez --json adapters"
            let outcome = try await Tool.run(["world", "run", file, "--", "sh", "-c", script])
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.contains("hci1") && !outcome.output.contains("hci2"), "\(outcome.output)")
            #expect(outcome.errors.contains("hci: host phone attaches at unix:\(socket)"))
            #expect(!FileManager.default.fileExists(atPath: socket))
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func aSignalReachesTheCommandWhichDecides(signal: Int32) async throws {
        let script = "trap 'echo received; exit 9' INT TERM HUP; echo started; while :; do sleep 0.1; done"
        let outcome = try await Tool.run(
            ["world", "run", "--", "sh", "-c", script], interrupts: true, after: "started", with: signal)
        #expect(outcome.status == 9, "\(outcome)")
        #expect(outcome.lines == ["started", "received"])
    }

    @Test func aBusThatIsLostEndsTheCommandAndIsAFailure() async throws {
        let script = """
            daemon=$(dbus-send --system --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
              org.freedesktop.DBus.GetConnectionUnixProcessID string:org.freedesktop.DBus | sed -n 's/.*uint32 //p')
            kill -KILL "$daemon"
            while :; do sleep 0.1; done
            """
        let outcome = try await run("sh", "-c", script)
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.errors.hasPrefix("bluectl: the message bus is gone"))
    }

    @Test func aServedWorldWhoseBusIsLostIsAFailure() async throws {
        try await Tool.withFolder { folder in
            let script = """
                "$0" world serve >ready 2>errors &
                until grep -q '^# ready' ready; do sleep 0.1; done
                . ./ready
                daemon=$(dbus-send --system --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
                  org.freedesktop.DBus.GetConnectionUnixProcessID string:org.freedesktop.DBus | sed -n 's/.*uint32 //p')
                kill -KILL "$daemon"
                wait $!
                echo $?; cat errors; ls -d "$TMPDIR"/bluez-* || echo nothing left
                """
            let environment = Tool.environment.merging(["TMPDIR": folder.path]) { $1 }
            let outcome = try await ChildProcess.run(
                "/usr/bin/timeout", ["60", "/bin/sh", "-c", "cd \"$TMPDIR\"; " + script, Tool.path],
                environment: environment)
            let lines = outcome.output.split(separator: "\n")
            #expect(lines.count == 3, "\(outcome)")
            #expect(lines.first == "1" && lines.last == "nothing left")
            #expect(outcome.output.contains("bluectl: the message bus is gone"))
        }
    }

    @Test func theBusEndsWithAProcessThatIsKilled() async throws {
        try await Tool.withFolder { folder in
            let script = """
                "$0" world serve >ready &
                until grep -q '^# ready' ready; do sleep 0.1; done
                . ./ready
                kill -KILL $!
                while [ -n "$(ls -d "$TMPDIR"/bluez-* 2>/dev/null)" ]; do sleep 0.1; done
                dbus-send --system --dest=org.freedesktop.DBus / org.freedesktop.DBus.Peer.Ping || echo gone
                """
            let environment = Tool.environment.merging(["TMPDIR": folder.path]) { $1 }
            let outcome = try await ChildProcess.run(
                "/usr/bin/timeout", ["60", "/bin/sh", "-c", "cd \"$TMPDIR\"; " + script, Tool.path],
                environment: environment)
            #expect(outcome.output == "gone\n")
        }
    }

    @Test func withoutADBusDaemonOneLineNamesThePackage() async throws {
        let outcome = try await run("true", environment: ["PATH": "/nonexistent"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("apt install dbus-daemon"))
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func aServedWorldEndsWithCtrlC() async throws {
        let outcome = try await Tool.run(["world", "serve"], interrupts: true, after: "export BLUETOOTH")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.lines.first?.hasPrefix("export DBUS_SYSTEM_BUS_ADDRESS=") == true)
        #expect(
            outcome.lines.dropFirst() == [
                "# ready: org.bluez 5.66 with hci0 (default) and 3 devices",
                "export BLUETOOTH_FORCE_DBUS_LE_VERSION=5.66",
            ])
    }

    @Test func aWorldIsShownOnABusOnce() async throws {
        let outcome = try await run(Tool.path, "world", "serve", "--bus", "system")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("another program owns the name org.bluez on this bus: bluectl, process "))
    }

    @Test(arguments: [
        ["world"], ["world", "run"], ["world", "fly"], ["world", "run", "--world", "x.json", "--", "true"],
        ["--backend", "bluez", "world", "run", "--", "true"], ["world", "serve", "--dialect", "4.0"],
        ["world", "run", "nosuch.json", "--", "true"],
    ]) func mistakesAreUsageErrors(_ arguments: [String]) async throws {
        let outcome = try await Tool.run(arguments)
        #expect(outcome.status == (arguments == ["world"] ? 0 : 2), "\(outcome)")
    }
}
#endif
