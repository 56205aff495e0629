public import BluetoothEmulator
import BluetoothSupport

/// A capture of the packets on an emulated air, which Wireshark, tshark and btmon can read.
///
/// `Emulator.capture(to:settings:)` starts it; ``stop()`` ends it, and so does releasing its last reference. All
/// members may be called from any thread.
public final class EmulatorCapture: Sendable {
    private let receiver: CaptureReceiver
    private let tap: EmulatorTap

    fileprivate init(_ receiver: CaptureReceiver, _ tap: EmulatorTap) { (self.receiver, self.tap) = (receiver, tap) }

    deinit { stop() }

    /// The name of the file.
    public var file: String { receiver.output.name }

    /// The number of packets so far, including those that are still to be written.
    public var packetCount: Int { receiver.output.packetCount }

    /// Ends the capture, and writes the rest of the file with all packets so far.
    public func stop() {
        tap.finish()
        receiver.finish()
    }
}

/// A writer of the packets of events to a file.
private final class CaptureReceiver: Sendable {
    let output: CaptureFile
    private let packets: Lock<PacketCapture>

    init(_ output: CaptureFile, _ packets: PacketCapture) {
        self.output = output
        self.packets = Lock(packets)
    }

    /// Handles an event; called with one event at a time.
    func receive(_ event: TapEvent) {
        let records = packets.withLock { $0.handle(event) }
        if !records.isEmpty { output.write(records) }
    }

    func finish() {
        output.write(packets.withLock { $0.finish() })
        output.close()
    }
}

/// The settings of a capture.
public struct CaptureSettings: Hashable, Sendable {
    /// The choice of advertising packets in a capture.
    public enum Advertising: Hashable, Sendable {
        /// Every packet that a scanning host receives.
        case all
        /// At most this number of packets per device and second; comments count the others.
        case limited(perSecond: Int)
        /// No advertising packets, only connections.
        case none
    }

    /// The choice of advertising packets.
    ///
    /// A thousand devices that advertise ten times a second produce 40 MB of packets per minute.
    public var advertising = Advertising.limited(perSecond: 10)

    /// Creates settings for ten advertising packets per device and second.
    public init() {}
}

extension Emulator {
    /// Captures the packets on the air, as each host and its controller would exchange them.
    ///
    /// The file's name determines the format: btsnoop, which btmon reads, for names that end with `.btsnoop`, `.snoop`,
    /// `.log` or `.cfa`; pcapng for all others. A packet between two hosts appears once for each host. A comment marks
    /// packets that the emulator does not send: discoveries that a host skips because it knows the services, the keys
    /// of a pairing, and what happened before the capture began. The file replaces an existing one; a pipe must have a
    /// reader. If the file can no longer be written, the log has one line with the reason, and the world continues.
    ///
    /// - Parameters:
    ///   - file: The name of the file.
    ///   - settings: The content of the capture.
    /// - Returns: The capture, which ends with its last reference.
    /// - Throws: `CaptureError` if the file cannot be written.
    public func capture(
        to file: String, settings: CaptureSettings = CaptureSettings()
    ) throws(CaptureError) -> EmulatorCapture {
        let output = try CaptureFile(file, comment: "emulated, seed \(seed)")
        let nanoseconds = max(0, origin.timeIntervalSince1970 * 1e9)
        let packets = PacketCapture(origin: CaptureTime(nanoseconds), settings: settings)
        let receiver = CaptureReceiver(output, packets)
        let kinds = settings.advertising == .none ? TapKinds.all.subtracting(.advertising) : .all
        return EmulatorCapture(receiver, tap(kinds, mayLag: true) { receiver.receive($0) })
    }
}
