#if Emulator && os(Linux)
import Foundation
import Testing

@testable import bluectl

/// The commands `bluectl serve` and `advertise` as processes, on the emulator.
struct ServeTests {
    private static let lamp = """
        devices:
          - name: Lamp
            advertising: [{data: {localName: Lamp, services: [FFE0]}}]
            services:
              - uuid: FFE0
                characteristics:
                  - {uuid: FFE1, properties: [read, write, notify], value: 01, echo: true}
                  - {uuid: FFE2, properties: [notify], timer: {interval: 100ms, values: [05, 06]}}
                  - {uuid: FFE3, properties: [writeWithoutResponse], maximumLength: 4}
        """

    private func serve(_ world: String, _ arguments: String..., name: String = "w.yaml") async throws -> Tool.Outcome {
        try await Tool.withFile(world, name) { file in
            try await Tool.run(["serve", file, "--backend", "emulator"] + arguments)
        }
    }

    @Test func aVisitShowsEachRequestAndEachSubscription() async throws {
        let run = try await serve(Self.lamp, "--visit", "--once", "--json")
        #expect(run.status == 0, "\(run)")
        let objects = try run.objects()
        let events = objects.map { object in
            [object["event"], object["characteristic"], object["value"]].compactMap { $0 as? String }
                .joined(separator: " ")
        }
        #expect(events.prefix(2) == ["published", "advertising"])
        #expect(
            events.dropFirst(2).prefix(6) == [
                "subscribe FFE1", "read FFE1 01", "write FFE1 01", "notify FFE1 01", "subscribe FFE2",
                "notify FFE2 05",
            ])
        #expect(events.contains("write FFE3 ") && events.contains("unsubscribe FFE1"))
        #expect(objects.allSatisfy { $0["backend"] as? String == "emulator" })
        let known: Set = [
            "event", "name", "services", "central", "service", "characteristic", "offset", "value", "error", "backend",
        ]
        #expect(objects.allSatisfy { Set($0.allKeys.compactMap { $0 as? String }).isSubset(of: known) })
        let centrals = Set(objects.compactMap { $0["central"] as? String })
        #expect(centrals.count == 1 && centrals.allSatisfy { UUID(uuidString: $0) != nil })
    }

    @Test func theDurationEndsAVisitThatIsNotOver() async throws {
        let slow = Self.lamp.replacingOccurrences(of: "100ms", with: "1h")
        let run = try await serve(slow, "--visit", "--duration", "1")
        #expect(run.status == 0, "\(run)")
        #expect(run.errors.hasSuffix("the visit was cut short: --duration has passed\n"))
        #expect(!run.output.contains("FFE3"))
        let alone = try await serve(slow, "--once")
        #expect(alone.status == 2 && alone.errors == "bluectl: --once needs --visit\n")
    }

    @Test func aVisitThatFailsFailsTheCommand() async throws {
        let mute = Self.lamp.replacingOccurrences(
            of: "advertising: [{data: {localName: Lamp, services: [FFE0]}}]", with: "advertising: []")
        let run = try await serve(mute, "--visit", "--timeout", "0.5")
        #expect(run.status == 3, "\(run)")
        #expect(run.errors.hasSuffix("bluectl: timed out after 0.5 s looking for the device\n"))
    }

    @Test func theNumberOfAChannelIsTheSystemsChoice() async throws {
        let world = Self.lamp + "\n    channels: [{psm: 37, echo: true}]"
        let run = try await serve(world, "--duration", "0.1")
        #expect(run.status == 0 && run.lines.count == 3, "\(run)")
        let number = try #require(run.lines[1].split(separator: " ").last.flatMap { Int($0) })
        #expect(run.lines[1] == "Listening for channels at number \(number)" && (0x80...0xFF).contains(number))
        #expect(run.errors.contains("channels[0].psm"))
    }

    @Test func peopleGetALineForEach() async throws {
        let run = try await serve(Self.lamp, "--visit", "--once")
        #expect(run.errors == "EMULATED: these devices are not real\n")
        #expect(run.lines.prefix(2) == ["Published \"Lamp\": FFE0", "Advertising as \"Lamp\" with FFE0"])
        #expect(run.lines.contains { $0.hasPrefix("read         ") && $0.hasSuffix("  FFE1: 01") })
        #expect(run.lines.contains { $0 == "notify       all subscribers  FFE2: 05" })
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsServingWithStatus0(signal: Int32) async throws {
        let run = try await Tool.withFile(Self.lamp, "w.yaml") { file in
            try await Tool.run(
                ["--backend", "emulator", "serve", file], interrupts: true, after: "Advertising", with: signal)
        }
        #expect(run.status == 0)
        #expect(run.lines.count == 2)
    }

    @Test func oneOfSeveralDevicesIsPickedByName() async throws {
        let two = """
            devices:
              - {name: Left, services: [{uuid: FFE0}], advertising: [{data: {localName: Left}}]}
              - {name: Right, services: [{uuid: FFE1}], advertising: [{data: {localName: Right}}]}
            """
        let right = try await serve(two, "--device", "right", "--duration", "0.1")
        #expect(right.lines == ["Published \"Right\": FFE1", "Advertising as \"Right\""])
        let none = try await serve(two, "--duration", "0.1")
        #expect(none.status == 2)
        #expect(
            none.errors.contains("w.yaml:1:1: devices: there are several devices: choose one with --device: \"Left\", ")
        )
        let wrong = try await serve(two, "--device", "Middle", "--duration", "0.1")
        #expect(wrong.status == 2)
    }

    @Test(arguments: [
        ("uuid: FFE1", "uuid: nonsense", "w.yaml:7:14: devices[0].services[0].characteristics[0].uuid: "),
        ("uuid: FFE0", "uuid: 1801", "w.yaml:5:9: devices[0].services[0]: cannot publish the service "),
        ("value: 01,", "value: 01, descriptors: [{uuid: 2905}],", "descriptors[0].uuid: serve can publish only "),
        (
            "name: Lamp", "name: Lamp\n    handler: heart-rate",
            "w.yaml:3:5: devices[0].handler: \"heart-rate\" runs only"
        ),
        (
            "properties: [notify]", "properties: [notify, broadcast]",
            "w.yaml:5:9: devices[0].services[0]: cannot publish"
        ),
    ])
    func aMistakeIsReportedWithLineColumnAndRule(text: String, wrong: String, error: String) async throws {
        let run = try await serve(Self.lamp.replacingOccurrences(of: text, with: wrong), "--duration", "0.1")
        #expect(run.status == 2, "\(run)")
        #expect(run.output.isEmpty)
        #expect(run.errors.contains(error), "\(run.errors)")
    }

    @Test func whatOnlyAnEmulatedDeviceHasIsSaid() async throws {
        let world = Self.lamp.replacingOccurrences(of: "name: Lamp\n", with: "name: Lamp\n    rssi: -40\n")
        let run = try await serve(world, "--duration", "0.1")
        #expect(run.status == 0)
        #expect(run.errors.hasSuffix("ignored, since the adapter decides them: rssi\n"))
        let parts = try await serve("seed: 3\nhosts: [{name: other}]\n" + Self.lamp, "--duration", "0.1")
        #expect(parts.errors.hasSuffix("ignored, since only an emulated world has them: seed, hosts\n"), "\(parts)")
    }

    @Test(arguments: [["--backend", "bluez"], ["--backend", "emulator", "--adapter", "default"]])
    func aVisitNeedsTheEmulatorAndTwoAdapters(options: [String]) async throws {
        let run = try await Tool.run(["serve", "w.yaml", "--visit"] + options)
        #expect(run.status == 2)
        #expect(run.errors.hasPrefix("bluectl: --visit "))
    }

    @Test func advertiseSaysWhatIsOnTheAir() async throws {
        let arguments = [
            "advertise", "--name", "Hi", "--service", "180D", "--duration", "0.1", "--backend", "emulator",
        ]
        let run = try await Tool.run(arguments)
        #expect(run.status == 0)
        #expect(run.output == "Advertising as \"Hi\" with Heart Rate 180D\n")
        let json = try await Tool.run(arguments + ["--json"])
        #expect(json.output == #"{"backend":"emulator","event":"advertising","name":"Hi","services":["180D"]}"# + "\n")
    }

    @Test func anAdvertisementEndsWithCtrlC() async throws {
        let run = try await Tool.run(["advertise", "--backend", "emulator"], interrupts: true)
        #expect(run.status == 0)
        #expect(run.output == "Advertising\n")
    }
}
#endif
