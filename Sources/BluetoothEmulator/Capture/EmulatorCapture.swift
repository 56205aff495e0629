// Its public type is the error of a capture.
@_exported public import BluetoothCapture
import BluetoothSupport

/// A capture of what passes on an emulated air, which Wireshark, tshark or btmon reads; see
/// ``Emulator/capture(to:settings:)``.
///
/// Ends with its last reference or ``stop()``. Callable from any thread.
public final class EmulatorCapture: Sendable {
    private let receiver: CaptureReceiver
    private let tap: EmulatorTap

    fileprivate init(_ receiver: CaptureReceiver, _ tap: EmulatorTap) { (self.receiver, self.tap) = (receiver, tap) }

    deinit { stop() }

    /// The name of the file.
    public var file: String { receiver.output.name }

    /// The number of packets so far, as far as they are written or about to be.
    public var packetCount: Int { receiver.output.packetCount }

    /// Ends the capture and writes the rest of the file, with all packets so far.
    public func stop() {
        tap.finish()
        receiver.finish()
    }
}

/// Writes the packets of events to a file.
private final class CaptureReceiver: Sendable {
    let output: CaptureFile
    private let packets: Lock<PacketCapture>

    init(_ output: CaptureFile, _ packets: PacketCapture) {
        self.output = output
        self.packets = Lock(packets)
    }

    /// Is called with one event at a time.
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
    /// How many advertising packets a capture contains.
    public enum Advertising: Hashable, Sendable {
        /// Every packet that a scanning host receives.
        case all
        /// At most so many of each device in a second; comments count the others.
        case limited(perSecond: Int)
        /// None: connections alone.
        case none
    }

    /// Which advertising packets are captured.
    ///
    /// A thousand devices that advertise ten times a second make 40 MB of packets a minute.
    public var advertising = Advertising.limited(perSecond: 10)

    /// Ten advertising packets of each device in a second.
    public init() {}
}

extension Emulator {
    /// Captures what passes on the air: each host's packets, as its controller would exchange them with it.
    ///
    /// The name decides on the format: btsnoop for names that end with `.btsnoop`, `.snoop`, `.log` or `.cfa`, which btmon reads;
    /// pcapng for all others. A packet between two hosts appears once for each. What the emulator does not send is
    /// marked by a comment: discoveries that a host skips because it knows the services, the keys of a pairing, and what
    /// happened before the capture began. The file replaces one of that name; a pipe needs a reader beforehand. If the file
    /// can no longer be written, the log has one line with the reason, and the world goes on.
    ///
    /// - Parameters:
    ///   - file: The name of the file.
    ///   - settings: What is captured.
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
