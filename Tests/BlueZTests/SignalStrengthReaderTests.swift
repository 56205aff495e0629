#if os(Linux)
import BluetoothBackend
import Dispatch
import ScriptedBlueZ
import Testing

@testable import BlueZ

/// The reader, with a fake controller.
@Suite struct SignalStrengthReaderTests {
    private let queue = DispatchQueue(label: "signal strength")

    /// Reads, answers as the controller, and waits for the result.
    private func read(
        from controller: FakeController, timeout: Duration = .seconds(60),
        _ play: @escaping @Sendable (FakeController) -> Void
    ) async throws -> Result<Int, BackendError> {
        let reader = SignalStrengthReader(queue: queue, access: controller, timeout: timeout)
        let answers = Recorder<Result<Int, BackendError>>()
        let peer = try #require(L2CAPAddress("F0:F1:F2:F3:F4:F5", isRandom: true))
        let address = try #require(L2CAPAddress("00:11:22:33:44:55", isRandom: false))
        queue.async {
            reader.read(peer, on: ControllerID(index: 0, address: address)) { answers.append($0) }
            play(controller)
        }
        let answer = try await answers.first { _ in true }
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        #expect(answers.elements.count == 1)
        return answer
    }

    @Test func aQuestionIsAnsweredPastOtherPackets() async throws {
        let answer = try await read(from: FakeController()) { controller in
            #expect(controller.question() == [0x01, 0x05, 0x14, 0x02, 0x40, 0x00])
            controller.send([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x41, 0x00, 0x01])
            controller.send([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x40, 0x00, 0xB5])
            controller.send([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x40, 0x00, 0x01])
        }
        #expect(answer == .success(-75))
    }

    @Test func aControllerThatIsSilentOrVanishesIsAnError() async throws {
        let silent = try await read(from: FakeController(), timeout: .milliseconds(1)) { _ in }
        #expect(silent.failure?.code == .connectionTimeout)
        let gone = try await read(from: FakeController()) { $0.vanish() }
        #expect(gone.failure?.code == .notConnected)
    }

    @Test func whatTheKernelForbidsIsNotSupported() async throws {
        let controller = FakeController(error: ControllerSockets.error(CInt(1)))
        #expect(try await read(from: controller) { _ in }.failure?.code == .operationNotSupported)
    }

    @Test func theSocketIsClosedBehindTheAnswer() async throws {
        let controller = FakeController()
        _ = try await read(from: controller) {
            $0.send([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x40, 0x00, 0xB5])
        }
        #expect(controller.question() == HCIReadRSSI(handle: controller.handle).command)
        #expect(try await controller.isClosed(on: queue))
    }
}
#endif
