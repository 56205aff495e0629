import BluetoothCapture
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Logging

/// The capture of a world that is switched on and off by hand, in the file of the last one.
final class LiveCaptureFile: Sendable {
    /// The number of packets at which a capture ends; its file then has some 60 MB.
    static let maximumPackets = 1_000_000

    fileprivate struct State {
        var running: EmulatorCapture?
        var packets = 0
        var reported = LiveCapture(isRunning: false, packets: 0)
        var hasFile = false
    }

    private let emulator: Emulator
    private let name: String
    private let captureState = Lock(State())

    init(_ emulator: Emulator, directory: String) {
        self.emulator = emulator
        name = directory + "/capture.pcapng"
    }

    var state: LiveCapture { captureState.withLock { $0.present } }

    /// The state, if it has changed since the last call.
    var newState: LiveCapture? {
        let full = captureState.withLock { state -> EmulatorCapture? in
            state.present.packets >= Self.maximumPackets ? state.running : nil
        }
        if full != nil {
            Logger(label: "CoreBluetooth").line(.warning, "the capture ends: it has \(Self.maximumPackets) packets")
            stop()
        }
        return captureState.withLock { state in
            guard state.present != state.reported else { return nil }
            state.reported = state.present
            return state.reported
        }
    }

    /// Begins a capture, which replaces the last one.
    func start() throws(CaptureError) {
        try captureState.withLock { state throws(CaptureError) in
            guard state.running == nil else { return }
            (state.running, state.packets, state.hasFile) = (try emulator.capture(to: name), 0, true)
        }
    }

    func stop() {
        let capture = captureState.withLock { state in
            state.packets = state.present.packets
            return state.running.take()
        }
        capture?.stop()
    }

    /// The name of the file with the packets so far; nil before the first capture.
    var file: String? { captureState.withLock { $0.hasFile ? name : nil } }
}

extension LiveCaptureFile.State {
    fileprivate var present: LiveCapture {
        LiveCapture(isRunning: running != nil, packets: running?.packetCount ?? packets)
    }
}
