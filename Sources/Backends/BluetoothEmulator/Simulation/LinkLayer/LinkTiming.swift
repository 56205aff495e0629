import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// The connection events of a link, and the time that its device needs for answers.
struct LinkTiming: Sendable {
    private(set) var interval: Nanoseconds
    /// The number of connection events that the device may skip.
    var latency: Int
    var supervisionTimeout: Nanoseconds
    /// The instant of the first connection event with this interval.
    var anchor: Nanoseconds
    var delays: ProcedureDelays
    /// The parameters that the device requested, until they are in force.
    var requested: ConnectionParameters?
    private let limits: LinkLayerLimits
    private(set) var packets: PacketTiming
    /// The packets of the present connection event; the earlier of two links counts the packets of both directions.
    var event = ConnectionEventPackets()

    /// - Parameter chosen: The central's parameters in place of the usual ones; a world without latency stays without.
    init(
        _ configuration: EmulatorConfiguration, _ device: PeripheralDescription, _ chosen: ConnectionParameters? = nil,
        anchor: Nanoseconds
    ) {
        let usual = device.connectionInterval ?? configuration.connectionInterval
        interval = usual == .zero ? 0 : (chosen?.interval ?? usual).nanoseconds
        latency = chosen?.peripheralLatency ?? device.peripheralLatency
        let timeout = chosen?.supervisionTimeout ?? device.supervisionTimeout ?? configuration.supervisionTimeout
        supervisionTimeout = timeout.nanoseconds
        self.anchor = anchor
        delays = ProcedureDelays(configuration)
        limits = LinkLayerLimits(configuration, device)
        packets = PacketTiming(limits, interval: interval)
    }

    var parameters: ConnectionParameters {
        ConnectionParameters(
            interval: .nanoseconds(interval), peripheralLatency: latency,
            supervisionTimeout: .nanoseconds(supervisionTimeout))
    }

    mutating func change(to parameters: ConnectionParameters, at now: Nanoseconds) {
        interval = parameters.interval.nanoseconds
        latency = parameters.peripheralLatency
        supervisionTimeout = parameters.supervisionTimeout.nanoseconds
        anchor = now
        packets = PacketTiming(limits, interval: interval)
        event = ConnectionEventPackets()
    }

    /// Returns the first connection event at or after an instant.
    func connectionEvent(from instant: Nanoseconds) -> Nanoseconds { event(from: instant, period: interval) }

    /// Returns the first connection event at or after an instant at which the device listens.
    func listeningEvent(from instant: Nanoseconds) -> Nanoseconds {
        latency == 0
            ? connectionEvent(from: instant) : event(from: instant, period: interval * Nanoseconds(latency + 1))
    }

    private func event(from instant: Nanoseconds, period: Nanoseconds) -> Nanoseconds {
        guard period > 0 else { return instant }
        let (count, rest) = (instant - anchor).quotientAndRemainder(dividingBy: period)
        return rest == 0 ? instant : anchor + (count + 1) * period
    }
}

/// The time that devices need for their answers, in addition to the round trips.
struct ProcedureDelays: Sendable {
    let discovery: Nanoseconds
    let read: Nanoseconds
    let write: Nanoseconds
    let notification: Nanoseconds

    init(_ configuration: EmulatorConfiguration) {
        discovery = configuration.discoveryDelay.nanoseconds
        read = configuration.readDelay.nanoseconds
        write = configuration.writeDelay.nanoseconds
        notification = configuration.notificationDelay.nanoseconds
    }

    func delay(of kind: LinkOperation.Kind) -> Nanoseconds {
        if case .exchange = kind { return discovery }
        guard case .request(let request) = kind else { return 0 }
        return switch request {
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors: discovery
        case .write, .setNotifying: write
        case .read: read
        case .readRSSI, .openChannel: 0
        }
    }
}

/// The number of ATT requests of a procedure; each is one round trip.
///
/// Source: Core Specification, Vol 3, Part F, 3.4, and Part G, 4.
package enum RoundTrips {
    /// Returns the requests that find entries of the given sizes in responses of `mtu` bytes, plus the one that finds
    /// nothing more.
    ///
    /// Entries share a response only if their sizes are equal.
    static func finding(sizes: [Int], headerSize: Int = 2, mtu: Int) -> Int {
        responses(sizes: sizes, headerSize: headerSize, mtu: mtu).count + 1
    }

    /// Returns the lengths of the responses with entries of the given sizes, in bytes.
    static func responses(sizes: [Int], headerSize: Int = 2, mtu: Int) -> [Int] {
        var responses: [Int] = []
        var index = 0
        while index < sizes.count {
            let size = sizes[index]
            var length = headerSize + size
            index += 1
            while index < sizes.count, sizes[index] == size, length + size <= mtu {
                length += size
                index += 1
            }
            responses.append(length)
        }
        return responses
    }

    /// Returns the number of Read Blob requests after the Read of a value of `count` bytes.
    static func readBlobs(count: Int, mtu: Int) -> Int {
        count / ATTLimits.read(mtu: mtu)
    }

    /// Returns the number of requests that write `count` bytes: one Write, or several Prepare Writes and one Execute
    /// Write.
    static func writing(count: Int, offset: UInt16 = 0, mtu: Int) -> Int {
        ATTLimits.isPrepared(count: count, offset: offset, mtu: mtu) ? parts(count: count, mtu: mtu).count + 1 : 1
    }

    /// Returns the ranges of a value of `count` bytes that the Prepare Writes carry; at least one.
    package static func parts(count: Int, mtu: Int) -> [Range<Int>] {
        let length = ATTLimits.prepared(mtu: mtu)
        return stride(from: 0, to: max(1, count), by: length).map { $0..<min(count, $0 + length) }
    }

    /// Returns the lengths of the requests and responses that carry a written value of `count` bytes.
    ///
    /// A Prepare Write Response repeats its request (Core Specification, Vol 3, Part F, 3.4.6.2).
    static func longPDUs(writing count: Int, offset: UInt16, mtu: Int) -> [Int] {
        guard ATTLimits.isPrepared(count: count, offset: offset, mtu: mtu) else {
            return [ATTLimits.valueHeader + count]
        }
        let header = mtu - ATTLimits.prepared(mtu: mtu)
        return parts(count: count, mtu: mtu).flatMap { [header + $0.count, header + $0.count] }
    }

    /// Returns the lengths of the responses that carry a read value of `count` bytes.
    static func responses(reading count: Int, mtu: Int) -> [Int] {
        let part = ATTLimits.read(mtu: mtu)
        return (0...readBlobs(count: count, mtu: mtu)).map { mtu - part + min(part, count - $0 * part) }
    }
}
