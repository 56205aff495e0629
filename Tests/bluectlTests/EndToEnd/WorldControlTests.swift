#if Emulator && BlueZ && os(Linux)
import ChildProcesses
import Foundation
import Testing

/// The display and the control of a served world by `bluectl world show`, `world move` and other commands.
@Suite struct WorldControlTests {
    /// Runs commands of the shell while a world is served or viewed; `$TOOL` is bluectl, `$WORLD` the serving process.
    private func whileServing(
        _ commands: String, by server: String = "world serve", options: String = "", environment: [String: String] = [:]
    ) async throws -> Tool.Outcome {
        try await Tool.withFolder { folder in
            let script = """
                set -e
                mkfifo "$XDG_RUNTIME_DIR/ready"
                "$TOOL" \(server) \(options) > "$XDG_RUNTIME_DIR/ready" &
                WORLD=$!
                exec 3< "$XDG_RUNTIME_DIR/ready"
                read -r FIRST <&3
                \(server == "view" ? "" : "read -r READY <&3")
                set +e
                \(commands)
                kill -INT $WORLD
                wait $WORLD
                """
            return try await Tool.shell(
                script, environment: ["XDG_RUNTIME_DIR": folder.path].merging(environment) { $1 })
        }
    }

    @Test func theDevicesAreShownAndMoved() async throws {
        let outcome = try await whileServing(
            """
            "$TOOL" world move "Heart Rate Monitor" far --rssi -90
            "$TOOL" world show
            """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let line = outcome.lines.first { $0.contains("Heart Rate Monitor") }
        #expect(line?.contains("\tfar\t-90 dBm\tadvertising") == true)
    }

    @Test func aHostOutsideOfTheEmulatorIsShownWithItsPort() async throws {
        let outcome = try await whileServing(
            """
            "$TOOL" world show
            "$TOOL" world passkey "Heart Rate Monitor" 000042; echo $?
            "$TOOL" world passkey "Heart Rate Monitor" 42; echo $?
            """, options: "--hci phone=unix:\"$XDG_RUNTIME_DIR/phone.sock\"")
        let line = outcome.lines.first { $0.contains("\tphone\t") }
        #expect(line?.contains("\twaiting for a Bluetooth stack at unix:/") == true, "\(outcome)")
        #expect(outcome.lines.suffix(2) == ["0", "2"], "\(outcome)")
    }

    @Test func aDeviceIsRenamedSetAndSilent() async throws {
        let outcome = try await whileServing(
            """
            "$TOOL" world rename "Heart Rate Monitor" Heart
            "$TOOL" world set Heart heartRate=180 batteryLevel=5
            "$TOOL" world advertise Heart off
            "$TOOL" world show
            "$TOOL" world save
            "$TOOL" world set Heart speed=1; echo $?
            "$TOOL" world set Heart heartRate; echo $?
            """)
        #expect(outcome.lines.contains { $0.contains("\tHeart\t") && $0.hasSuffix("\tsilent") }, "\(outcome.output)")
        #expect(outcome.output.contains("\"heartRate\" : 180") && outcome.output.contains("\"batteryLevel\" : 5"))
        #expect(outcome.output.hasSuffix("2\n2\n"))
        #expect(outcome.errors.contains("parameters.speed: the parameters are batteryLevel, "), "\(outcome.errors)")
    }

    @Test func theTimeOfAViewIsPausedAdvancedAndAccelerated() async throws {
        let outcome = try await whileServing(
            """
            "$TOOL" world pause
            "$TOOL" world show | head -1
            "$TOOL" world step 60
            "$TOOL" world show | head -1
            "$TOOL" world rate 0.5
            "$TOOL" world continue
            "$TOOL" world show | head -1
            "$TOOL" world rate 1000; echo $?
            """, by: "view")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.lines.map { $0.split(separator: "\t").map(String.init) }
        try #require(lines.count == 4)
        #expect(lines[0].last == "paused" && lines[1].last == "paused" && lines[2].last == "rate 0.5")
        let times = try lines.prefix(2).map { try #require(Double($0[1].dropLast(2))) }
        #expect(abs(times[1] - times[0] - 60) < 0.002)
        #expect(lines[3] == ["2"] && outcome.errors.contains("rate: the number is 0.01...100.0"), "\(outcome.errors)")
    }

    @Test func aWorldThatProgramsUseCannotBePaused() async throws {
        let outcome = try await whileServing("\"$TOOL\" world pause; echo $?")
        #expect(outcome.lines.last == "1")
        #expect(outcome.errors.contains("other programs use this world in real time"), "\(outcome.errors)")
    }

    @Test func theTraceIsPrintedInItsFormats() async throws {
        let outcome = try await whileServing(
            """
            "$TOOL" world move "Heart Rate Monitor" far
            "$TOOL" world trace
            "$TOOL" world trace --format jsonl
            "$TOOL" world trace --format fly; echo $?
            """)
        #expect(outcome.output.contains("setProximity proximity=far"), "\(outcome.output)")
        #expect(outcome.output.contains("\"category\":\"simulation\""))
        #expect(outcome.lines.last == "2")
    }

    @Test func whatHappensIsPrinted() async throws {
        let outcome = try await whileServing(
            """
            "$TOOL" world watch --count 1 --json > "$XDG_RUNTIME_DIR/events" &
            WATCH=$!
            until [ -s "$XDG_RUNTIME_DIR/events" ]; do "$TOOL" world power off; "$TOOL" world power on; done
            wait $WATCH
            cat "$XDG_RUNTIME_DIR/events"
            """)
        #expect(try outcome.objects().first?["sequence"] is NSNumber)
    }

    @Test func aValueAFaultAndTheirTestAreKept() async throws {
        let outcome = try await whileServing(
            """
            "$TOOL" world notify 1 180D/2A38 02 --quietly
            "$TOOL" world fault 1 '{"step": "write", "what": "fail", "code": 128}'
            "$TOOL" world save
            "$TOOL" world fault 1 clear
            "$TOOL" world save --test
            """)
        #expect(outcome.output.contains(#""value" : "02""#))
        #expect(outcome.output.contains(#""what" : "fail""#))
        #expect(outcome.output.contains("setValue(Data([2]), of: CharacteristicPath(\"2A38\", service: \"180D\"))"))
    }

    @Test func faultsOfAnswersAreKeptAndOneThatDoesNotApplyIsRefused() async throws {
        let outcome = try await whileServing(
            """
            "$TOOL" world fault 1 '{"step": "write", "what": "loseAnswer"}'
            "$TOOL" world fault 1 '{"step": "read", "what": "delayAnswer", "time": "2 s"}'
            "$TOOL" world fault 1 '{"step": "write", "what": "corrupt"}'; echo $?
            "$TOOL" world save
            """)
        #expect(outcome.output.contains(#""what" : "loseAnswer""#), "\(outcome.output)")
        #expect(outcome.output.contains(#""what" : "delayAnswer""#))
        #expect(outcome.lines.first == "2")
        #expect(outcome.errors.contains("bluectl: what: write returns no value"), "\(outcome.errors)")
    }

    @Test func aDescriptorIsChanged() async throws {
        let outcome = try await whileServing(
            """
            "$TOOL" world add '{"name": "Box", "services": [{"uuid": "FFF0", "characteristics": [
                {"uuid": "FFF1", "properties": ["read"], "descriptors": [{"uuid": "2901", "value": "41"}]}]}]}'
            "$TOOL" world notify Box FFF0/FFF1 424344 --descriptor 2901
            "$TOOL" world save
            "$TOOL" world save --test
            "$TOOL" world notify Box FFF1 00 --descriptor 2904; echo $?
            """)
        #expect(outcome.output.contains(#""value" : "424344""#), "\(outcome.output)")
        #expect(outcome.output.contains("setValue(Data([66, 67, 68]), ofDescriptor: \"2901\", of: CharacteristicPath("))
        #expect(outcome.lines.last == "2")
        let error = "bluectl: descriptor: the characteristic FFF1 has no descriptor 2904"
        #expect(outcome.errors.contains(error), "\(outcome.errors)")
    }

    @Test func aMistakeIsOneLineWithTheField() async throws {
        let outcome = try await whileServing(
            """
            "$TOOL" world fault 1 '{"step": "fly", "what": "fail"}'; echo $?
            "$TOOL" world move Nothing far; echo $?
            "$TOOL" world move 1; echo $?
            "$TOOL" world show --of 1; echo $?
            """)
        #expect(outcome.lines == ["2", "1", "2", "1"])
        #expect(outcome.errors.contains("bluectl: step: \"fly\": the steps are connect"))
        #expect(outcome.errors.contains("bluectl: there is no device Nothing"))
        #expect(outcome.errors.contains("bluectl: process 1 serves no world"))
    }

    @Test func thePacketsAreCapturedAndKept() async throws {
        let outcome = try await whileServing(
            """
            "$TOOL" world capture on
            "$TOOL" world power off
            "$TOOL" world capture off
            "$TOOL" world save --packets "$XDG_RUNTIME_DIR/packets.pcapng" > /dev/null
            od -A n -t x1 -N 4 "$XDG_RUNTIME_DIR/packets.pcapng"
            """)
        #expect(outcome.lines == [" 0a 0d 0d 0a"], "\(outcome.errors)")
    }

    @Test func anAdapterIsUnpluggedAndPluggedInAgain() async throws {
        let outcome = try await whileServing(
            """
            "$TOOL" world plug off; "$TOOL" world show --json; "$TOOL" world plug on; "$TOOL" world show --json
            "$TOOL" world plug off --host nowhere; echo $?
            """)
        let plugged = outcome.lines.prefix(2).map { $0.contains("\"isPlugged\":true") }
        #expect(plugged == [false, true], "\(outcome)")
        #expect(outcome.lines.last == "1" && outcome.errors.contains("there is no host nowhere"), "\(outcome)")
    }

    @Test func theSocketIsTheUsersAloneAndGoesWithTheWorld() async throws {
        let outcome = try await whileServing(
            """
            stat -c '%a' "$XDG_RUNTIME_DIR/bluectl" "$XDG_RUNTIME_DIR/bluectl/$WORLD" \
                "$XDG_RUNTIME_DIR/bluectl/$WORLD/control.sock"
            kill -INT $WORLD
            wait $WORLD
            ls "$XDG_RUNTIME_DIR/bluectl"
            "$TOOL" world show
            """)
        #expect(outcome.lines == ["700", "700", "600"])
        #expect(outcome.errors.contains("no world is served"))
    }

    @Test func aDirectoryThatOthersMayEnterIsRefused() async throws {
        try await Tool.withFolder { folder in
            let directory = folder.appendingPathComponent("bluectl")
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
            let outcome = try await Tool.run(["world", "show"], environment: ["XDG_RUNTIME_DIR": folder.path])
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("must be a directory that is yours alone"))
        }
    }

    @Test func theAddressOfTheViewIsPrinted() async throws {
        let outcome = try await whileServing(
            """
            read -r VIEW <&3
            echo "$VIEW"
            """, options: "--view")
        let line = try #require(outcome.lines.first)
        #expect(line.hasPrefix("# view: http://127.0.0.1:"))
        #expect(line.contains("/#token="))
    }

    @Test func aViewEndsWithASignal() async throws {
        let outcome = try await Tool.run(["view"], interrupts: true, after: "http://127.0.0.1:")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.lines.count == 1)
    }

    @Test func aViewReportsThePortsThatItDoesNotOpen() async throws {
        let outcome = try await Tool.withFile(
            "hosts: [{ name: firmware, hci: \"tcp:0\" }]", "world.yaml"
        ) { file in
            try await Tool.run(["view", file], interrupts: true, after: "http://127.0.0.1:")
        }
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("the port of host \"firmware\" is not opened"))
    }
}
#endif
