#if Emulator && os(Linux)
import Foundation
import Testing

@testable import bluectl

/// The command `bluectl shell` as a process: scripts, and one backend for all lines.
struct ShellTests {
    private static let echo = "0000EC41-7A3D-4C5B-9E1F-2B6A8D4C0F01"

    private func shell(_ input: String, _ arguments: String...) async throws -> Tool.Outcome {
        try await Tool.run(["--backend", "emulator", "shell"] + arguments, input: input)
    }

    @Test func connectionsLastFromOneLineToTheNext() async throws {
        let run = try await shell(
            """
            # a comment, and an empty line

            connect "Heart Rate Monitor"
            read . battery-level
            devices --connected
            disconnect
            devices --connected
            """)
        #expect(run.status == 0, "\(run)")
        #expect(run.lines.count == 4)
        #expect(run.lines.first == "Connected to Heart Rate Monitor (C0:DE:00:00:18:0D)")
        #expect(run.lines.dropFirst().first == "Battery Level 2A19: 57 (87 %)")
        #expect(
            run.lines.dropFirst(2).first?.hasSuffix("\tC0:DE:00:00:18:0D\t-\tconnected\tHeart Rate Monitor") == true)
        #expect(run.lines.last == "Disconnected from Heart Rate Monitor (C0:DE:00:00:18:0D)")
        #expect(run.errors == "EMULATED: these devices are not real\nno device is connected\n")
    }

    @Test func theWorldIsOneForAllLines() async throws {
        let run = try await shell(
            "write Echo \(Self.echo) --text hello\nread Echo \(Self.echo) --json\nexit\nread nothing")
        #expect(run.status == 0, "\(run)")
        #expect(run.lines.last?.contains(#""value":"68656C6C6F""#) == true)
    }

    @Test func aScriptEndsAtTheFirstLineThatFails() async throws {
        let script = "connect Echo\nread Echo 2A99\nread Echo \(Self.echo)\n"
        try await Tool.withFile(script, "setup.txt") { file in
            let run = try await shell("", "--script", file)
            #expect(run.status == 1 && run.lines.count == 1, "\(run)")
            #expect(run.errors.hasSuffix("bluectl: \(file):2: the device has no characteristic 2A99\n"))
            let going = try await shell("", "--script", file, "--keep-going")
            #expect(going.status == 1 && going.lines.count == 2, "\(going)")
        }
    }

    @Test(arguments: [
        ("scna", 2, "standard input:1: there is no command \"scna\"; did you mean \"scan\"?"),
        ("read \"Echo", 2, "standard input:1: a quotation mark is not closed"),
        ("scan --backend bluez", 2, "standard input:1: a shell uses one backend: "),
        ("scan --capture air.pcapng", 2, "standard input:1: a shell uses one backend: "),
        ("scan --seed 5", 2, "standard input:1: a shell uses one backend: "),
        ("scan --preset instant", 2, "standard input:1: a shell uses one backend: "),
        ("scan --verbose", 2, "standard input:1: a shell uses one backend: "),
        ("demo", 2, "standard input:1: there is no command \"demo\""),
        ("scan --first --name x --timeout 0.3", 3, "standard input:1: no device matches: "),
        ("info .", 1, "\".\" is the device that was connected last, and there is none"),
    ])
    func aLineFailsAsItsCommandDoes(line: String, status: Int32, error: String) async throws {
        let run = try await shell(line, "--script", "-")
        #expect(run.status == status, "\(run)")
        #expect(run.errors.contains("bluectl: ") && run.errors.contains(error), "\(run.errors)")
    }

    @Test func aScriptThatIsNotThereIsAUsageError() async throws {
        let run = try await shell("", "--script", "/nonexistent/script")
        #expect(run.status == 2 && run.errors.contains("/nonexistent/script: the script cannot be read"))
    }

    @Test func verboseShowsCommandsAndEvents() async throws {
        let run = try await Tool.run(["read", "Echo", Self.echo, "--backend", "emulator", "--verbose"])
        #expect(run.status == 0)
        #expect(
            run.errors.contains("[trace] central 1: connect ") && run.errors.contains("[trace] central 1: valueRead "))
        let quiet = try await Tool.run(["read", "Echo", Self.echo, "--backend", "emulator"])
        #expect(!quiet.errors.contains("[trace]"))
    }

    @Test func resultsBearTheirTime() async throws {
        let run = try await Tool.run(["--timestamps", "read", "Echo", Self.echo, "--backend", "emulator", "--json"])
        #expect((try run.objects().first?["time"] as? String)?.hasSuffix("Z") == true, "\(run)")
        let text = try await Tool.run(["read", "Echo", Self.echo, "--backend", "emulator", "--timestamps"])
        #expect(text.output.split(separator: "\t").first?.hasSuffix("Z") == true)
    }
}
#endif
