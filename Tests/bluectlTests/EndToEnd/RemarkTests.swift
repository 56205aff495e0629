#if Emulator && os(Linux)
import Foundation
import Testing

@testable import bluectl

/// The messages of commands about something that is missing.
@Suite struct RemarkTests {
    @Test func aDeviceThatIsNotFoundEndsWithWhatWasHeard() async throws {
        let run = try await Tool.run(["--backend", "emulator", "--timeout", "2", "info", "Heart Rate Monitr"])
        #expect(run.status == 3)
        let heard = "; heard: Echo, Heart Rate Monitor, nRF Blinky; did you mean \"Heart Rate Monitor\"?\n"
        #expect(
            run.errors.hasSuffix(
                "there is no device Heart Rate Monitr in range: timed out after 2 s looking for the device" + heard))
    }

    @Test func aScanWithoutAMatchSaysWhatWasHeard() async throws {
        let run = try await Tool.run(["--backend", "emulator", "scan", "--first", "--name", "lamp", "--duration", "2"])
        #expect(run.status == 3)
        #expect(run.errors.hasSuffix("; heard: Echo, Heart Rate Monitor, nRF Blinky\n"), "\(run)")
    }

    @Test func aPipedScanPrintsADeviceOnceAndComplete() async throws {
        for option in ["--json", "--timestamps"] {
            let run = try await Tool.run(["--backend", "emulator", "scan", "--duration", "4", option])
            #expect(run.lines.count == 3, "\(run)")
            let blinky = try #require(run.lines.first { $0.contains("nRF Blinky") })
            #expect(blinky.contains("00001523-1212-EFDE-1523-785FEABCD123"))
        }
    }

    @Test func aPipedScanWithDuplicatesPrintsEveryReport() async throws {
        let run = try await Tool.run(["--backend", "emulator", "scan", "--duration", "2", "--duplicates"])
        #expect(run.lines.count > 3, "\(run)")
    }

    @Test(arguments: [
        ([], "no device is paired or connected"), (["--paired"], "no device is paired"),
        (["--connected"], "no device is connected"),
        (["--paired", "--connected"], "no device is paired and connected"),
    ])
    func aListWithoutDevicesSaysSo(options: [String], text: String) async throws {
        let run = try await Tool.run(["--backend", "emulator", "devices"] + options)
        #expect(run.status == 0 && run.output.isEmpty)
        #expect(run.errors.hasSuffix("\n\(text)\n"))
    }

    @Test(arguments: [
        (
            "read 2A19",
            "the DEVICE is missing in front of \"2A19\"; in a shell, \".\" is the device that was connected last"
        ),
        (
            "write 2A19 01",
            "the DEVICE is missing in front of \"2A19\"; in a shell, \".\" is the device that was connected last"
        ),
        (
            "subscribe battery-level",
            "the DEVICE is missing in front of \"battery-level\"; in a shell, \".\" is the device that was connected last"
        ),
        ("read Lamp", "the CHARACTERISTIC is missing behind the DEVICE \"Lamp\""),
    ])
    func aMissingDeviceIsNamed(line: String, text: String) async throws {
        let run = try await Tool.run(["--backend", "emulator", "shell"], input: line + "\n")
        #expect(run.status == 2)
        #expect(run.errors.contains(text), "\(run)")
    }

    @Test func theHelpOfTheShellNamesItsCommand() async throws {
        let run = try await Tool.run(["--backend", "emulator", "shell"], input: "help\n")
        #expect(run.output.contains("See 'help <subcommand>' for detailed help."), "\(run)")
    }

    @Test func aCommandOfACommandIsSuggested() async throws {
        let run = try await Tool.run(["run", "pytest"])
        #expect(run.errors == "bluectl: there is no command \"run\"; did you mean \"world run\"?\n")
    }

    @Test func theAutomaticBackendSaysWhyDevicesAreEmulated() async throws {
        for command in [["scan", "--duration", "1"], ["adapters"]] {
            let run = try await Tool.run(
                ["--backend", "auto"] + command, environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus"])
            #expect(
                run.errors.contains(" are not real; BlueZ has no adapter, and then --backend auto uses the emulator\n"),
                "\(run)")
        }
    }

    @Test(arguments: ["scan", "adapters", "devices", "doctor"]) func aMissingBusHasOneText(command: String) async throws
    {
        let run = try await Tool.run(
            [command], environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus"])
        #expect(run.status == 1)
        #expect((run.output + run.errors).contains("no message bus"), "\(run)")
    }

    @Test func theAttributesOfNordicsExamplesHaveNames() async throws {
        let run = try await Tool.run(["--backend", "emulator", "explore", "nRF Blinky"])
        for name in ["Nordic LED Button Service", "Button State", "LED State"] {
            #expect(run.output.contains(name), "\(run)")
        }
        let read = try await Tool.run(["--backend", "emulator", "read", "nRF Blinky", "button-state"])
        #expect(read.output.hasPrefix("Button State 00001524-1212-EFDE-1523-785FEABCD123: "), "\(read)")
    }
}
#endif
