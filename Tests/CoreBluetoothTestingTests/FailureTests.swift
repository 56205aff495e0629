import CoreBluetooth
import Foundation
import Testing

@testable import CoreBluetoothTesting

/// The failures of tests with the trait, observed from outside: each runs a test body within a separate trait.
@Suite struct FailureTests {
    private func issues(
        allowing allowed: EmulatorTrait.Leftovers = [], _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> [String] {
        try await IssueCollector.issues(allowing: allowed, body)
    }

    @Test func anExpectationThatIsNotMetSaysWhatCameAndHowToReproduceIt() async throws {
        let messages = try await issues {
            let app = HeartRateApp()
            await Emulator.current.expect(.didFailToConnect, within: .seconds(5))
            app.stop()
        }
        let message = try #require(messages.first)
        #expect(message.contains("expected: didFailToConnect; came: didUpdateState, didDiscover"))
        #expect(message.contains("seed 41"))
        #expect(message.contains("> default central 1: stateChanged state=poweredOn"))
        #expect(messages.count == 1)
        let path = try #require(message.split(separator: "what happened, as a page: ").last.map(String.init))
        let page = try String(contentsOfFile: path, encoding: .utf8)
        #expect(page.hasPrefix("<!doctype html>") && page.contains("valueNotified 180D/2A37"))
        #expect(path.contains("/anExpectationThatIsNotMetSaysWhatCame"))
        #expect(page.contains(#""what":"didFailToConnect","isExpectation":true,"location":"FailureTests.swift:"#))
        #expect(page.contains(#""came":["didUpdateState","didDiscover"#))
        try removeReport(path)
    }

    /// Removes a page, unless whoever runs the tests wants the pages.
    func removeReport(_ path: String) throws {
        guard ProcessInfo.processInfo.environment["COREBLUETOOTH_REPORTS"] == nil else { return }
        try FileManager.default.removeItem(atPath: path)
    }

    @Test func aPageSaysWhyAValueDidNotComeAfterAnHour() async throws {
        let messages = try await issues {
            let app = HeartRateApp()
            await Emulator.current.expect(.didUpdateValue)
            try #require(Emulator.current.devices.first).setProximity(.outOfRange)
            await Emulator.current.expect(.didDisconnectPeripheral)
            try await Emulator.current.advance(by: .seconds(3_600))
            await Emulator.current.expect(.didUpdateValue.of("2A37"), within: .seconds(30))
            app.stop()
        }
        let message = try #require(messages.first)
        #expect(message.contains("The link to Heart Rate Monitor ended at 5.152 s (timeout). "))
        let path = try #require(message.split(separator: "what happened, as a page: ").last.map(String.init))
        let page = try String(contentsOfFile: path, encoding: .utf8)
        #expect(page.contains(#""cause":"The link to Heart Rate Monitor ended at 5.152 s (timeout)."#))
        try removeReport(path)
    }

    @Test func aReportHasAFileOfItsOwnInTheFolderOfTheEnvironment() {
        #expect(FailureReport.folder(["COREBLUETOOTH_REPORTS": "/tmp/reports"]).path == "/tmp/reports")
        #expect(FailureReport.folder([:]).path.hasSuffix("/.build/bluetooth-reports"))
        let name = "a/../b \"c\"(_:) \(UUID())"
        let first = FailureReport.fileName(of: name)
        #expect(first.hasPrefix("a-b-c-") && first.hasSuffix(".html"))
        #expect(FailureReport.fileName(of: name) == first.dropLast(5) + "-2.html")
        #expect(FailureReport.fileName(of: "é").hasPrefix("test"))
    }

    @Test func aCallbackThatMustNotComeIsAFailure() async throws {
        let messages = try await issues {
            let app = HeartRateApp()
            await Emulator.current.expect(.didUpdateValue)
            await Emulator.current.expectNone(of: .didDisconnectPeripheral, .didUpdateState, for: .seconds(5))
            await Emulator.current.expectNone(of: .didUpdateValue.of("2A37"), for: .zero)
            app.stop()
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("not expected, but came: didUpdateValue of 2A37 from ") == true)
    }

    @Test func aManagerThatOutlivesItsTestIsALeak() async throws {
        let holder = AppHolder()
        let messages = try await issues {
            holder.app = HeartRateApp()
            await Emulator.current.expect(.didDiscover)
        }
        #expect(messages.contains { $0.contains("leaked: <CBCentralManager") })
        #expect(messages.contains { $0.contains("leaked: <CBPeripheral") })
        holder.app = nil
        #expect(try await issues(allowing: .livingObjects) { holder.app = HeartRateApp() }.isEmpty)
    }

    @Test func aCommandWithoutAnswerIsAFailure() async throws {
        let body: @Sendable () async throws -> Void = {
            let app = HeartRateApp()
            await Emulator.current.expect(.didConnect)
            // The services were requested in that callback, and time is paused.
            app.stop()
        }
        let messages = try await issues(body)
        #expect(messages.count == 1)
        #expect(messages.first?.contains("unanswered: discoverServices(_:) on peripheral") == true)
        #expect(try await issues(allowing: .unansweredCommands, body).isEmpty)
    }

    @Test func theFailureNamesTheCallAndTheAttribute() async throws {
        let messages = try await issues {
            let app = HeartRateApp()
            await Emulator.current.expect(.didDiscoverServices)
            app.stop()
        }
        #expect(messages.first?.contains("unanswered: discoverCharacteristics(_:for:) with 180D on peripheral") == true)
    }

    @Test func aCommandToAReleasedPeripheralHasNoAnswer() async throws {
        let messages = try await issues {
            let app = HeartRateApp()
            await Emulator.current.expect(.didConnect)
            app.forgetMonitor()
            await Emulator.current.expect(.didUpdateState, within: .zero)
            app.stop()
        }
        #expect(messages.filter { $0.hasPrefix("unanswered: discoverServices(_:) on peripheral") }.count == 1)
    }

    @Test func anExpectationOfAReleasedPeripheralSaysThatItWasReleased() async throws {
        let messages = try await issues {
            let app = HeartRateApp()
            let monitor = await Emulator.current.expect(.didUpdateValue)?.identifier
            app.forgetMonitor()
            await Emulator.current.expect(.didDisconnectPeripheral, within: .seconds(5))
            await Emulator.current.expect(.didUpdateValue.from(try #require(monitor)), within: .seconds(5))
            await Emulator.current.expect(.didUpdateValue.from(UUID()), within: .seconds(5))
            app.stop()
        }
        let reason = "The app no longer retains the peripheral"
        #expect(messages.map { $0.contains(reason) } == [true, true, false])
    }

    @Test func aPeripheralThatIsUsedAgainWasNotReleased() async throws {
        let messages = try await issues {
            let app = HeartRateApp()
            await Emulator.current.expect(.didUpdateValue)
            app.forgetMonitor()
            app.scanAgain()
            await Emulator.current.expect(.didUpdateValue)
            await Emulator.current.expect(.didFailToConnect, within: .seconds(1))
            app.stop()
        }
        #expect(messages.map { $0.contains("no longer retains") } == [false])
    }

    @Test func aFailureOfTheTestsOwnPrintsTheSeedOnce() async throws {
        let messages = try await issues {
            Issue.record("one")
            Issue.record("two")
        }
        #expect(messages.map { $0.contains("seed 41") } == [true, false])
    }

    @Test func theEmulatorOfAnotherTestExpectsNothing() async throws {
        let messages = try await issues { await Emulator(time: .virtual).expect(.didConnect) }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("this emulator is not the test's own") == true)
    }
}

private final class AppHolder: @unchecked Sendable {
    // Invariant: used by one test, one step after the other.
    var app: HeartRateApp?
}
