#if Emulator && BlueZ && os(Linux)
import Foundation
import Testing

/// The display and the control of a world within `bluectl world run`, without further arguments.
@Suite struct WorldRunControlTests {
    private static let lock = """
        devices:
          - name: Lock
            address: C0:DE:00:00:00:01
            advertising: [{data: {localName: Lock}}]
            pairing: {capability: displayOnly, passkey: 000123, requiresAuthentication: true}
        """

    private func run(_ script: String, _ options: String...) async throws -> Tool.Outcome {
        try await Tool.withFile(Self.lock, "w.yaml") { file in
            let runtime = URL(fileURLWithPath: file).deletingLastPathComponent().path
            return try await Tool.run(
                ["world", "run", file] + options + ["--", "bash", "-c", script],
                environment: ["TOOL": Tool.path, "XDG_RUNTIME_DIR": runtime])
        }
    }

    @Test func theWorldIsShownMovedAndSaved() async throws {
        let script = """
            "$TOOL" world move Lock far
            "$TOOL" world fault Lock '{"step": "read", "what": "fail"}'
            "$TOOL" world show
            "$TOOL" world save | grep -c '"step" : "read"'
            """
        let outcome = try await run(script)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.lines.contains { $0.contains("\tLock\t") && $0.contains("\tfar\t") }, "\(outcome)")
        #expect(outcome.lines.last == "1")
    }

    @Test func aProgramAsksWhatADeviceReceived() async throws {
        let outcome = try await Tool.run(
            [
                "world", "run", "--", "bash", "-c",
                """
                "$TOOL" --backend bluez write "nRF Blinky" 00001525-1212-EFDE-1523-785FEABCD123 01 > /dev/null
                "$TOOL" world show "nRF Blinky"
                """,
            ], environment: ["TOOL": Tool.path])
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.lines.contains { $0.contains("\tLED State\t01\t") }, "\(outcome)")
    }

    /// Ends a subscription by a command, and prints its status and its error.
    private static func endOfSubscription(by command: String) -> String {
        """
        mkfifo "$XDG_RUNTIME_DIR/values"
        "$TOOL" --backend bluez subscribe "Heart Rate Monitor" 2A37 > "$XDG_RUNTIME_DIR/values" &
        exec 3< "$XDG_RUNTIME_DIR/values"
        read -r VALUE <&3
        \(command)
        wait $!
        echo $?
        """
    }

    private func endSubscription(by command: String) async throws -> Tool.Outcome {
        try await Tool.withFolder { folder in
            try await Tool.run(
                ["world", "run", "--", "bash", "-c", Self.endOfSubscription(by: command)],
                environment: ["TOOL": Tool.path, "XDG_RUNTIME_DIR": folder.path])
        }
    }

    /// bluetoothd reports the adapter as off before it removes it.
    @Test func anAdapterThatIsUnpluggedIsGoneAndNotOff() async throws {
        let outcome = try await endSubscription(by: "\"$TOOL\" world plug off")
        #expect(outcome.lines == ["1"])
        #expect(outcome.errors.contains("the Bluetooth adapter is gone: it was unplugged, or bluetoothd has ended"))
        #expect(!outcome.errors.contains("is off"), "\(outcome)")
    }

    @Test func anAdapterThatIsSwitchedOffIsOff() async throws {
        let outcome = try await endSubscription(by: "\"$TOOL\" world power off")
        #expect(outcome.lines == ["1"])
        #expect(outcome.errors.contains("the Bluetooth adapter is off: \"bluetoothctl power on\""), "\(outcome)")
    }

    @Test func anotherWorldIsChosenByItsProcess() async throws {
        let outcome = try await run("\"$TOOL\" world show --of 1; echo $?")
        #expect(outcome.lines == ["1"])
        #expect(outcome.errors.contains("process 1 serves no world"))
    }

    @Test func theAddressOfTheViewIsOnStandardErrorAndAnswers() async throws {
        let outcome = try await run("\"$TOOL\" world show | grep -c Lock", "--view")
        #expect(outcome.lines == ["1"])
        #expect(outcome.errors.hasPrefix("view: http://127.0.0.1:"), "\(outcome)")
        let json = try await run("true", "--view", "--json")
        #expect(json.errors.hasPrefix("{\"view\":\"http://127.0.0.1:"), "\(json)")
    }

    @Test func theSocketGoesWithTheProgram() async throws {
        let outcome = try await run("dirname \"$BLUECTL_CONTROL\"")
        let directory = try #require(outcome.lines.first)
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    private static let pair = """
        "$TOOL" --backend bluez scan --duration 2 > /dev/null
        dbus-send --system --print-reply --reply-timeout=30000 --dest=org.bluez \
          /org/bluez/hci0/dev_C0_DE_00_00_00_01 org.bluez.Device1.Pair > /dev/null 2>&1
        echo $?
        """

    @Test func aProgramWithoutAnAgentPairsWithThePasskey() async throws {
        #expect(try await run(Self.pair, "--passkey", "000123").lines == ["0"])
        #expect(try await run(Self.pair, "--passkey", "000124").lines == ["1"])
        let without = try await run(Self.pair, "--verbose")
        #expect(without.lines == ["1"])
        #expect(without.errors.contains("C0:DE:00:00:00:01 was not paired, and no program has registered an agent"))
    }

    @Test(arguments: ["12345", "1234567", "abcdef"]) func aPasskeyHasSixDigits(passkey: String) async throws {
        let outcome = try await run("true", "--passkey", passkey)
        #expect(
            outcome.status == 2 && outcome.errors.contains("'\(passkey)' is invalid for '--passkey <DIGITS>'"),
            "\(outcome)")
    }
}
#endif
