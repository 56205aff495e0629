#if Emulator && os(Linux)
import Foundation
import Testing

@testable import bluectl

/// Commands for one device, as processes: info, rssi, descriptors, files, pipes, reconnection.
struct DeviceTests {
    private static let echo = "0000EC41-7A3D-4C5B-9E1F-2B6A8D4C0F01"
    private static let world = """
        devices:
          - name: Bench
            address: C0:DE:00:00:00:09
            advertising: [{data: {localName: Bench}}]
            channels: [{psm: 37, echo: true}]
            faults: [{step: read, characteristic: FFE2, what: disconnect}]
            services:
              - uuid: FFE0
                characteristics:
                  - uuid: FFE1
                    properties: [read, write]
                    maximumLength: 512
                    descriptors: [{uuid: 2901, value: "5661", permissions: [readable, writeable]}]
                  - {uuid: FFE2, properties: [read, notify], timer: {interval: 100ms, values: [01, 02]}}
        """

    private func tool(_ arguments: String..., input: String = "") async throws -> Tool.Outcome {
        try await Tool.withFile(Self.world, "bench.yaml") { file in
            try await Tool.run(arguments + ["--backend", "emulator", "--world", file], input: input)
        }
    }

    @Test func infoSummarizesADevice() async throws {
        let run = try await Tool.run(["info", "Heart Rate Monitor", "--backend", "emulator"])
        #expect(run.status == 0, "\(run)")
        #expect(run.lines.first?.hasSuffix("  Heart Rate Monitor") == true)
        #expect(run.lines.contains { $0.hasPrefix("Battery Level ") && $0.hasSuffix("  87 %") })
        #expect(run.lines.contains { $0.hasPrefix("RSSI ") && $0.hasSuffix(" dBm") })
        let json = try await Tool.run(["info", "Heart Rate Monitor", "--backend", "emulator", "--json"])
        let object = try #require(try json.objects().first)
        #expect(object["services"] as? [String] == ["180D", "180F", "180A"])
        #expect((object["information"] as? [String: String])?["Battery Level"] == "87 %")
        #expect(object["isPaired"] as? Bool == false && object["mtu"] is Int && object["rssi"] is Int)
    }

    @Test func rssiReadsTheLink() async throws {
        let run = try await Tool.run(
            ["rssi", "Echo", "--count", "2", "--interval", "0.1", "--backend", "emulator", "--json"])
        #expect(run.status == 0, "\(run)")
        #expect(try run.objects().compactMap { $0["rssi"] as? Int }.count == 2)
    }

    @Test func aBondIsListed() async throws {
        let run = try await Tool.run(
            ["--backend", "emulator", "shell"],
            input: "devices\npair Echo --yes\ndevices --paired --json\nunpair Echo\ndevices\n")
        #expect(run.status == 0, "\(run)")
        let listed = try #require(run.lines.first { $0.contains("isPaired") })
        #expect(listed.contains(#""isPaired":true"#) && listed.contains(#""name":"Echo""#))
        #expect(run.lines.count == 3)
    }

    @Test func descriptorsAreReadAndWritten() async throws {
        let run = try await tool(
            "read", "Bench", "FFE1", "--descriptor", "Characteristic User Description", "--json")
        let object = try #require(try run.objects().first, "\(run)")
        #expect(object["descriptor"] as? String == "2901" && object["value"] as? String == "5661")
        #expect(object["characteristic"] as? String == "FFE1")
        let written = try await tool("write", "Bench", "FFE1", "--descriptor", "2901", "--text", "Vb")
        #expect(written.status == 0, "\(written)")
        let missing = try await tool("read", "Bench", "FFE1", "--descriptor", "2904")
        #expect(missing.status == 1 && missing.errors.contains("the characteristic has no descriptor 2904"))
        let configuration = try await tool("write", "Bench", "FFE2", "0100", "--descriptor", "2902")
        #expect(configuration.status == 1 && configuration.errors.contains("is written by subscribing"))
    }

    @Test func aFileIsWrittenInPieces() async throws {
        try await Tool.withFile("0123456789", "data.bin") { data in
            let run = try await tool("write", "Bench", "FFE1", "--file", data, "--chunk", "4")
            #expect(run.output == "FFE1: 10 bytes in 3 writes\n", "\(run)")
        }
        let piped = try await tool("write", "Bench", "FFE1", "--file", "-", "--json", input: "hello")
        #expect(try piped.objects().map { $0["value"] as? String } == ["68656C6C6F"], "\(piped)")
        let missing = try await tool("write", "Bench", "FFE1", "--file", "/nonexistent/file")
        #expect(missing.status == 2)
        let both = try await tool("write", "Bench", "FFE1", "--file", "x", "--text", "y")
        #expect(both.status == 2)
    }

    @Test func aChannelIsAPipe() async throws {
        let run = try await tool("channel", "Bench", "37", "--count", "5", input: "hello")
        #expect(run.status == 0 && run.output == "hello", "\(run)")
        let json = try await tool("channel", "Bench", "0x25", "--quiet", "0.5", "--json", input: "hi")
        #expect(try json.objects().first?["received"] as? String == "6869")
        let closed = try await tool("channel", "Bench", "99", input: "x")
        #expect(closed.status == 1 && closed.errors.contains("cannot open the channel 99"), "\(closed)")
    }

    @Test func aSerialLineIsAPipe() async throws {
        let arguments = ["uart", "Echo", "--receive", Self.echo, "--transmit", Self.echo, "--backend", "emulator"]
        let run = try await Tool.run(arguments + ["--count", "6"], input: "hello\n")
        #expect(run.status == 0 && run.output == "hello\n", "\(run)")
        let quiet = try await Tool.run(arguments + ["--quiet", "0.5"], input: "hi")
        #expect(quiet.status == 0 && quiet.output == "hi", "\(quiet)")
        let none = try await Tool.run(["uart", "Echo", "--backend", "emulator"], input: "x")
        #expect(none.status == 1 && none.errors.contains("has no characteristic 6E400002-"))
    }

    @Test func aSubscriptionComesBackWithTheConnection() async throws {
        let lamp = Self.world.replacingOccurrences(
            of: "step: read, characteristic: FFE2", with: "step: notify, characteristic: FFE2, skip: 1")
        try await Tool.withFile(lamp, "bench.yaml") { file in
            let arguments = ["subscribe", "Bench", "FFE2", "--count", "4", "--backend", "emulator", "--world", file]
            let run = try await Tool.run(arguments + ["--reconnect"])
            #expect(run.status == 0 && run.lines.count == 4, "\(run)")
            #expect(run.errors.contains("connecting again: the device disconnected"))
            let once = try await Tool.run(arguments)
            #expect(once.status == 1 && once.lines.count < 4, "\(once)")
        }
    }

    @Test func dataAreAdvertised() async throws {
        let arguments = [
            "advertise", "--manufacturer-data", "99 04 05", "--service-data", "FCD2=400161", "--backend", "emulator",
            "--duration", "0.1",
        ]
        let run = try await Tool.run(arguments)
        #expect(run.output == "Advertising with data of FCD2 400161, manufacturer data 990405\n", "\(run)")
        let json = try await Tool.run(arguments + ["--json"])
        let object = try #require(try json.objects().first)
        #expect(object["manufacturerData"] as? String == "990405")
        #expect(object["serviceData"] as? [String: String] == ["FCD2": "400161"])
    }

    @Test(arguments: [
        ["--manufacturer-data", "99"], ["--service-data", "FCD2"], ["--service-data", "FCD2=4"],
        ["--manufacturer-data", String(repeating: "00", count: 27)],
    ])
    func dataThatCannotBeAdvertisedAreAUsageError(arguments: [String]) async throws {
        let run = try await Tool.run(["advertise", "--backend", "emulator"] + arguments)
        #expect(run.status == 2 && run.output.isEmpty, "\(run)")
    }
}
#endif
