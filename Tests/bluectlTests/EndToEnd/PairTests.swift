#if Emulator && os(Linux)
import Foundation
import Testing

@testable import bluectl

/// The commands `bluectl pair` and `unpair` as processes, on the emulator.
struct PairTests {
    private static let world = """
        devices:
          - name: Lock
            address: C0:DE:00:00:00:01
            advertising: [{data: {localName: Lock}}]
            pairing: {capability: displayOnly, passkey: 004711}
          - name: Pad
            address: C0:DE:00:00:00:02
            advertising: [{data: {localName: Pad}}]
            pairing: {capability: keyboardOnly}
          - name: Watch
            address: C0:DE:00:00:00:03
            advertising: [{data: {localName: Watch}}]
            pairing: {capability: displayYesNo}
          - {name: Plain, address: C0:DE:00:00:00:04, advertising: [{data: {localName: Plain}}]}
          - name: Shy
            address: C0:DE:00:00:00:05
            advertising: [{data: {localName: Shy}}]
            pairing: {answer: reject}
          - name: Mute
            address: C0:DE:00:00:00:06
            advertising: [{data: {localName: Mute}}]
            pairing: {answer: ignore}
        """

    /// The file of a device to serve, whose value needs an encrypted link.
    private static let safe = """
        devices:
          - name: Safe
            advertising: [{data: {localName: Safe, services: [FFE0]}}]
            services:
              - uuid: FFE0
                characteristics:
                  - {uuid: FFE1, properties: [read], permissions: [readEncryptionRequired], value: 07}
        """

    private func pair(_ device: Int, _ arguments: String..., input: String = "") async throws -> Tool.Outcome {
        try await Tool.withFile(Self.world, "w.yaml") { file in
            try await Tool.run(
                ["--backend", "emulator", "--world", file, "pair", "C0:DE:00:00:00:0\(device)"] + arguments,
                input: input)
        }
    }

    @Test func aPasskeyThatTheDeviceShowsIsAskedFor() async throws {
        let right = try await pair(1, input: "no number\n004711\n")
        #expect(right.status == 0, "\(right)")
        #expect(right.output == "Paired with Lock (C0:DE:00:00:00:01); bonded\n")
        #expect(right.errors.contains("\nEMULATED: Which six digits does Lock show?\n"))
        #expect(right.errors.contains("\"no number\" is not a passkey: a passkey has six digits\n"))
        let wrong = try await pair(1, input: "004712\n")
        #expect(wrong.status == 1)
        #expect(wrong.errors.contains("bluectl: cannot pair: "))
    }

    @Test func aPasskeyForTheDeviceIsShown() async throws {
        let run = try await pair(2)
        #expect(run.status == 0, "\(run)")
        #expect(run.errors.contains(#/Enter \d{6} on Pad\.\n/#))
    }

    @Test func aComparisonIsAnsweredByTheUser() async throws {
        let yes = try await pair(3, "--json", input: "y\n")
        #expect(yes.status == 0, "\(yes)")
        let objects = try yes.objects()
        #expect(objects.first?["question"] as? String == "confirm")
        #expect(objects.first?["address"] as? String == "C0:DE:00:00:00:03")
        #expect(objects.first?["name"] as? String == "Watch")
        #expect(objects.first?["identifier"] as? String == objects.last?["identifier"] as? String)
        #expect(objects.allSatisfy { $0["backend"] as? String == "emulator" })
        #expect((objects.first?["passkey"] as? String)?.count == 6)
        #expect(objects.last?["event"] as? String == "paired")
        #expect(objects.last?["isBonded"] as? Bool == true)
        #expect(objects.last?["address"] as? String == "C0:DE:00:00:00:03")
        let no = try await pair(3, input: "n\n")
        #expect(no.status == 1)
        #expect(no.output.isEmpty)
    }

    @Test func theEndOfTheInputIsANo() async throws {
        let run = try await pair(3)
        #expect(run.status == 1)
        #expect(run.errors.contains("? [y/N]\nbluectl: cannot pair: "))
    }

    @Test func yesNeedsNobody() async throws {
        let run = try await pair(3, "--yes")
        #expect(run.status == 0, "\(run)")
        #expect(run.errors == "EMULATED: these devices are not real\n")
    }

    @Test func aDeviceWithoutDisplayAndKeysAsksNothing() async throws {
        let run = try await pair(4)
        #expect(run.status == 0)
        #expect(run.errors == "EMULATED: these devices are not real\n")
    }

    @Test func aDeviceThatRefusesFailsAndASilentOneTimesOut() async throws {
        let refused = try await pair(5)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("bluectl: cannot pair: "))
        let silent = try await pair(6, "--timeout", "1")
        #expect(silent.status == 3)
        #expect(silent.errors.hasSuffix("bluectl: timed out after 1 s pairing\n"))
    }

    @Test(arguments: [["--accept-pairing"], []])
    func aCentralPairsWithWhatIsServedOnlyIfTheUserAgrees(_ options: [String]) async throws {
        let run = try await Tool.withFile(Self.safe, "w.yaml") { file in
            try await Tool.run(
                ["serve", file, "--backend", "emulator", "--visit", "--once", "--json", "--timeout", "5"]
                    + options, input: "")
        }
        let objects = try run.objects()
        let questions = objects.filter { $0["question"] != nil }
        let kind = options.isEmpty ? "confirm" : "consent"
        #expect(questions.contains { $0["question"] as? String == kind && $0["identifier"] != nil }, "\(run)")
        let isRead = objects.contains { $0["event"] as? String == "read" }
        #expect(isRead == !options.isEmpty, "\(run)")
        #expect(run.errors.contains("--accept-pairing") == options.isEmpty)
    }

    /// The file of two devices whose values need an encrypted link; that of Lock an authenticated one.
    private static let closed = """
        devices:
          - name: Lock
            address: C0:DE:00:00:00:01
            advertising: [{data: {localName: Lock}}]
            pairing: {capability: displayOnly, passkey: 004711, requiresAuthentication: true}
            services: &services
              - uuid: FFE0
                characteristics:
                  - {uuid: FFE1, properties: [read], permissions: [readEncryptionRequired], value: 07}
          - name: Plain
            address: C0:DE:00:00:00:02
            advertising: [{data: {localName: Plain}}]
            services: *services
        """

    /// A command without an agent is treated like any other program.
    @Test(arguments: ["emulator", "bluez"], ["Lock", "Plain"])
    func theEnvironmentAgreesToThePairingsOfAProgramWithoutAnAgent(backend: String, device: String) async throws {
        let values = ["just-works", "passkey=004711", "just-works,passkey=004711", "passkey=4711"]
        let agreed = device == "Lock" ? [values[1], values[2]] : [values[0], values[2]]
        for value in values where !(value == "passkey=4711" && backend == "emulator") {
            let run = try await Tool.withFile(Self.closed, "w.yaml") { file in
                let read = ["--backend", backend, "read", device, "FFE1"]
                return try await Tool.run(
                    backend == "bluez" ? ["world", "run", file, "--", Tool.path] + read : read + ["--world", file],
                    environment: ["COREBLUETOOTH_PAIRING": value])
            }
            let isAgreed = agreed.contains(value)
            #expect((run.status == 0) == isAgreed && (run.output == "FFE1: 07\n") == isAgreed, "\(value): \(run)")
            #expect(run.errors.contains("COREBLUETOOTH_PAIRING"), "\(run)")
            #expect(!run.errors.contains("4711"), "\(run)")
        }
    }

    @Test func unpairNeedsABond() async throws {
        let run = try await Tool.run(["unpair", "C0:DE:00:00:18:0D", "--backend", "emulator"])
        #expect(run.status == 1)
        #expect(run.errors.hasSuffix("bluectl: there is no bond with this device\n"))
    }
}
#endif
