#if Emulator && os(Linux)
import BluetoothProfiles
import Foundation
import Testing

@testable import bluectl

/// The commands `bluectl serve --profile` and `watch` as processes, on the emulator.
struct ProfileTests {
    @Test func profilesArePublishedAndAdvertised() async throws {
        let run = try await Tool.run([
            "serve", "--profile", "heart-rate", "--profile", "battery", "--backend", "emulator", "--duration", "0.1",
        ])
        #expect(run.status == 0, "\(run)")
        #expect(
            run.lines == [
                "Published \"Heart Rate\": Heart Rate 180D, Battery 180F",
                "Advertising as \"Heart Rate\" with Heart Rate 180D, Battery 180F",
            ])
    }

    @Test func profilesAndTheirNameAreInJSON() async throws {
        let run = try await Tool.run([
            "serve", "--profile", "nordic-uart", "--name", "Line", "--backend", "emulator", "--duration", "0.1",
            "--json",
        ])
        let objects = try run.objects()
        #expect(objects.map { $0["event"] as? String } == ["published", "advertising"])
        #expect(objects.allSatisfy { $0["name"] as? String == "Line" && $0["backend"] as? String == "emulator" })
    }

    @Test(arguments: [
        [], ["w.yaml", "--profile", "battery"], ["--profile", "toaster"], ["--profile", "battery", "--device", "D"],
        ["w.yaml", "--name", "N"],
    ])
    func whatCannotBeServedIsAUsageError(arguments: [String]) async throws {
        let run = try await Tool.run(["serve", "--backend", "emulator"] + arguments)
        #expect(run.status == 2, "\(run)")
    }

    @Test func aVisitShowsWhatADeviceOfProfilesDoes() async throws {
        let run = try await Tool.run([
            "serve", "--profile", "heart-rate", "--profile", "battery", "--visit", "--backend", "emulator",
            "--once", "--json",
        ])
        #expect(run.status == 0, "\(run)")
        let objects = try run.objects()
        #expect(objects.prefix(2).map { $0["services"] as? [String] } == [["180D", "180F"], ["180D", "180F"]])
        let services = objects.dropFirst(2).map { $0["service"] as? String }
        #expect(services.prefix(3) == ["180D", "180D", "180D"] && services.contains("180F") && !services.contains(nil))
        let events = objects.map { object in
            [object["event"], object["characteristic"]].compactMap { $0 as? String }.joined(separator: " ")
        }
        #expect(
            events.prefix(6) == [
                "published", "advertising", "subscribe 2A37", "notify 2A37", "read 2A38", "subscribe 2A19",
            ])
        #expect(events.contains("read 2A19") && events.contains("unsubscribe 2A37"))
    }

    @Test(arguments: StandardProfile.allCases.map(\.rawValue))
    func eachProfileCanBeVisited(profile: String) async throws {
        let run = try await Tool.run([
            "serve", "--profile", profile, "--visit", "--backend", "emulator", "--once",
        ])
        #expect(run.status == 0, "\(run)")
        #expect(run.lines.contains { $0.hasPrefix("read ") || $0.hasPrefix("subscribe ") })
    }

    @Test func watchPrintsTypedValues() async throws {
        let run = try await Tool.run([
            "watch", "Heart Rate Monitor", "heart-rate", "--count", "1", "--backend", "emulator",
        ])
        #expect(run.status == 0, "\(run)")
        #expect(run.lines.first == "Body Sensor Location 2A38: chest")
        let value = try #require(run.lines.last)
        #expect(value.hasPrefix("Heart Rate Measurement 2A37: "))
        #expect(value.contains(" bpm, skin contact"))
    }

    @Test func watchPrintsTheMeaningBesideTheBytes() async throws {
        let run = try await Tool.run([
            "watch", "Heart Rate Monitor", "battery", "--count", "1", "--timeout", "1", "--backend", "emulator",
            "--json",
        ])
        let first = try #require(try run.objects().first)
        #expect(first["characteristic"] as? String == "2A19")
        #expect(first["value"] as? String == "57")
        #expect(first["text"] as? String == "87 %")
        // The charge of the battery is constant, so that nothing is notified in time.
        #expect(run.status == 3)
    }

    @Test func aDeviceWithoutTheProfileIsAFailure() async throws {
        let run = try await Tool.run(["watch", "Echo", "heart-rate", "--backend", "emulator"])
        #expect(run.status == 1)
        #expect(run.errors.contains("the device does not have the service Heart Rate 180D"))
    }
}
#endif
