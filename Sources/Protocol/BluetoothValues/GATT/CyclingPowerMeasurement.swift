/// Cycling Power Measurement (2A63).
///
/// The extremes of force, torque and angle, the dead spots and the energy, which few meters send, are ignored.
/// Source: Cycling Power Service 1.1, 3.2; GATT Specification Supplement, Cycling Power Measurement.
public struct CyclingPowerMeasurement: GATTValue, CustomStringConvertible {
    /// The share of a pedal in the power.
    public struct Balance: Hashable, Sendable {
        /// The share in units of 0.5 %, 0...200; a device may send more.
        public let share: UInt8
        /// Whether it is the share of the left pedal; otherwise the pedal is unknown.
        public var isLeft: Bool

        /// Creates a share in units of 0.5 %.
        ///
        /// - Throws: ``GATTValueError`` if it is outside 0...200.
        public init(share: UInt8, isLeft: Bool) throws(GATTValueError) {
            self.init(
                received: try CyclingPowerMeasurement.checked(share, "Pedal Power Balance", in: 0...200), isLeft: isLeft
            )
        }

        /// Creates a share as the device sent it.
        init(received share: UInt8, isLeft: Bool) {
            self.share = share
            self.isLeft = isLeft
        }
    }

    /// The accumulated torque, which wraps around.
    public struct Torque: Hashable, Sendable {
        /// The torque in units of 1/32 Nm.
        public var accumulated: UInt16
        /// Whether it is measured at the crank; otherwise it is measured at the wheel.
        public var isAtCrank: Bool

        /// Creates a torque in units of 1/32 Nm.
        public init(accumulated: UInt16, isAtCrank: Bool) {
            self.accumulated = accumulated
            self.isAtCrank = isAtCrank
        }
    }

    /// The power in watts.
    public var power: Int16
    /// The share of a pedal in the power.
    public var balance: Balance?
    /// The torque.
    public var torque: Torque?
    /// The wheel's revolutions; their time has units of 1/2048 s.
    public var wheel: RevolutionData<UInt32>?
    /// The crank's revolutions; their time has units of 1/1024 s.
    public var crank: RevolutionData<UInt16>?

    /// Creates a measurement.
    public init(
        power: Int16, balance: Balance? = nil, torque: Torque? = nil, wheel: RevolutionData<UInt32>? = nil,
        crank: RevolutionData<UInt16>? = nil
    ) {
        self.power = power
        self.balance = balance
        self.torque = torque
        self.wheel = wheel
        self.crank = crank
    }

    /// True, because a client ignores unknown flags and the fields after them.
    public static var ignoresTrailingBytes: Bool { true }

    private enum Flag {
        static let balance: UInt16 = 0x01
        static let balanceIsLeft: UInt16 = 0x02
        static let torque: UInt16 = 0x04
        static let torqueIsAtCrank: UInt16 = 0x08
        static let wheel: UInt16 = 0x10
        static let crank: UInt16 = 0x20
    }

    /// Reads the flags, the power and the fields that the flags announce.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let flags = try reader.uint16("Flags")
        power = try reader.integer("Instantaneous Power")
        if flags & Flag.balance != 0 {
            let share = try reader.uint8("Pedal Power Balance")
            balance = Balance(received: share, isLeft: flags & Flag.balanceIsLeft != 0)
        }
        if flags & Flag.torque != 0 {
            let accumulated = try reader.uint16("Accumulated Torque")
            torque = Torque(accumulated: accumulated, isAtCrank: flags & Flag.torqueIsAtCrank != 0)
        }
        wheel = flags & Flag.wheel == 0 ? nil : try RevolutionData(from: &reader, "Wheel")
        crank = flags & Flag.crank == 0 ? nil : try RevolutionData(from: &reader, "Crank")
    }

    /// Writes the flags, the power and the present fields.
    public func write(to writer: inout GATTWriter) {
        var flags: UInt16 = 0
        if let balance { flags |= Flag.balance | (balance.isLeft ? Flag.balanceIsLeft : 0) }
        if let torque { flags |= Flag.torque | (torque.isAtCrank ? Flag.torqueIsAtCrank : 0) }
        if wheel != nil { flags |= Flag.wheel }
        if crank != nil { flags |= Flag.crank }
        writer.append(flags)
        writer.append(power, bytes: 2)
        if let balance { writer.append(balance.share, bytes: 1) }
        if let torque { writer.append(torque.accumulated, bytes: 2) }
        wheel?.write(to: &writer)
        crank?.write(to: &writer)
    }

    /// `500 W`, and the revolutions.
    public var description: String {
        let parts = [
            "\(power) W", wheel.map { "wheel \($0.text(ticksPerSecond: 2048))" }, crank.map { "crank \($0.text())" },
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }
}
