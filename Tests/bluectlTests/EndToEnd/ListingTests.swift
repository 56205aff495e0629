#if Emulator && os(Linux)
import ArgumentParser
import ChildProcesses
import Foundation
import Testing

@testable import bluectl

/// The commands `bluectl adapters`, `monitor` and `completions` as processes.
struct ListingTests {
    @Test func theEmulatorsHostsAreItsAdapters() async throws {
        let world = "hosts: [{name: garage, address: C0:DE:00:00:AA:01, powered: false}]\ndevices: []\n"
        try await Tool.withFile(world, "w.yaml") { file in
            let all = try await Tool.run(["adapters", "--backend", "emulator", "--world", file, "--json"])
            #expect(all.status == 0, "\(all)")
            let objects = try all.objects()
            #expect(Set(objects.compactMap { $0["adapter"] as? String }) == ["default", "garage"])
            #expect(objects.allSatisfy { $0["backend"] as? String == "emulator" && $0["roles"] is [String] })
            let one = try await Tool.run(
                ["--backend", "emulator", "--adapter", "garage", "--world", file, "adapters"])
            #expect(one.output == "garage\tC0:DE:00:00:AA:01\toff\tcentral, peripheral, central-peripheral\t-\n")
            let timed = try await Tool.run(
                ["adapters", "--backend", "emulator", "--adapter", "garage", "--world", file, "--timestamps", "--json"])
            #expect(try timed.objects().allSatisfy { ($0["time"] as? String)?.hasSuffix("Z") == true })
            let none = try await Tool.run(["adapters", "--backend", "emulator", "--adapter", "attic"])
            #expect(none.status == 1)
            #expect(none.errors == "bluectl: there is no adapter attic; run \"bluectl doctor\" for details\n")
        }
    }

    @Test func monitorBeginsWithTheStateAndReportsDiscoveries() async throws {
        let run = try await Tool.run(["monitor", "--backend", "emulator", "--duration", "1", "--json"])
        #expect(run.status == 0, "\(run)")
        let objects = try run.objects()
        #expect(objects.first?["state"] as? String == "poweredOn")
        let discovered = objects.filter { $0["event"] as? String == "discovered" }
        #expect(Set(discovered.compactMap { $0["name"] as? String }) == ["Heart Rate Monitor", "nRF Blinky", "Echo"])
        #expect(objects.allSatisfy { ($0["time"] as? String)?.hasSuffix("Z") == true })
    }

    @Test func monitorForPeopleEndsWithCtrlC() async throws {
        let run = try await Tool.run(
            ["--backend", "emulator", "monitor", "--service", "180D"], interrupts: true, after: "Heart Rate 180D")
        #expect(run.status == 0)
        let fields = try #require(run.lines.first { $0.contains("discovered") }).split(separator: "\t")
        #expect(fields.count == 7 && fields[5] == "Heart Rate Monitor")
        #expect(!run.output.contains("Echo"))
    }

    @Test func completionsToBeReadByAShellHaveNoTimes() async throws {
        let run = try await Tool.run(["completions", "bash", "--timestamps"])
        #expect(run.status == 2 && run.output.isEmpty)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func theCompletionsOfEachShellNameAllCommands(shell: String) async throws {
        let run = try await Tool.run(["completions", shell])
        #expect(run.status == 0)
        for command in Bluectl.configuration.subcommands {
            #expect(run.output.contains(command.configuration.commandName ?? "?"))
        }
        try await Tool.withFolder { home in
            let environment = ["HOME": home.path, "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""]
            let installed = try await Tool.run(["completions", shell, "--install"], environment: environment)
            #expect(installed.status == 0, "\(installed)")
            let file = installed.output.trimmingCharacters(in: .newlines)
            #expect(file.hasPrefix(home.path + "/."))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == run.output)
        }
    }

    @Test func bashCompletesCommandsAndOptions() async throws {
        let script = try await Tool.run(["completions", "bash"]).output
        let ask = """
            complete_words() {
              COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
              handler=$(complete -p bluectl | sed 's/.*-F \\([^ ]*\\).*/\\1/')
              "$handler" bluectl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
              echo "${COMPREPLY[@]}"
            }
            complete_words bluectl se
            complete_words bluectl serve --vi
            complete_words bluectl completions z
            """
        let lines = try await Tool.withFile(script + ask, "ask.bash") { file in
            try await Self.bash([file]).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(lines == ["serve", "--visit", "zsh"])
    }

    @Test(arguments: [["monitor"], ["monitor", "--service", "FFFF"], ["serve", "FILE", "--visit"]])
    func aReaderThatLeavesEndsTheCommand(arguments: [String]) async throws {
        // The visitor's read and write are reported long after the reader has left, and nothing of FFFF after the
        // state.
        let attribute = "{uuid: FFE1, properties: [read, write], value: '00'}"
        let world = """
            devices: [{name: A, services: [{uuid: FFE0, characteristics: [\(attribute)]}], \
            advertising: [{data: {localName: A}}]}]
            """
        try await Tool.withFile(world, "w.yaml") { file in
            let words = [Tool.path, "--backend", "emulator"] + arguments.map { $0 == "FILE" ? file : $0 }
            let script = #"timeout 60 "$@" 2>/dev/null | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}""#
            let status = try await Self.bash(["-c", script, "bash"] + words)
            #expect(status == "0\n")
        }
    }

    private static func bash(_ arguments: [String]) async throws -> String {
        try await ChildProcess.run("/bin/bash", ["--noprofile", "--norc"] + arguments).output
    }
}
#endif
