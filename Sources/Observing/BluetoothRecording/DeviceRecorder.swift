package import BluetoothBackend
import BluetoothCapture
package import BluetoothEmulator
package import BluetoothHCI
import BluetoothSupport
package import BluetoothValues

/// Observes one device and creates its recording.
package struct DeviceRecorder: Sendable {
    /// A line to write.
    package enum Line: Hashable, Sendable {
        /// The device as known at this time; the first line of a recording.
        case device(PeripheralDescription, at: Duration)
        case event(RecordedEvent)
    }

    /// A line whose description is created when the line is written.
    private enum Entry: Sendable {
        case device(at: Duration)
        case event(RecordedEvent)
    }

    /// The time after a write in which a notification may be a consequence of it.
    private static let longestConsequence = Duration.seconds(1)
    /// The time between two lines about advertisements.
    private static let advertisingPause = Duration.seconds(1)
    /// The largest number of lines that wait for the first connection.
    private static let maximumUnconnectedLines = 64

    private struct Identity: Sendable {
        let isKept: Bool
        var name: String?
        var address: DeviceAddress?
        /// The redaction, from the first connection on; the name may change later.
        var redaction: Redaction?
    }

    private struct LastWrite: Sendable {
        var write: RecordedWrite
        var time: Duration
    }

    private let start: Duration
    private var identity: Identity
    private var advertising = ObservedAdvertising()
    private var mtu: Int?
    /// The parameters of the last link after their last change; nil if they are not visible.
    private var parameters: HCIConnectionParameters?
    private var pairing: PairingDescription?
    private var database = RecordedDatabase()
    private var lastWrites: [Int: LastWrite] = [:]
    private var isDescriptionNew = false
    private var entries: [Entry] = []
    private var lastAdvertised: Duration?

    /// Whether a central has connected to the device.
    package private(set) var hasConnected = false

    /// - Parameters:
    ///   - start: The time at which the recording begins.
    ///   - keepsIdentity: Whether the address and serial numbers are recorded unchanged.
    package init(start: Duration, keepsIdentity: Bool) {
        self.start = start
        identity = Identity(isKept: keepsIdentity)
    }

    /// Removes and returns the lines since the last call.
    package mutating func takeLines() -> [Line] {
        exchange(&entries, with: []).map { entry in
            switch entry {
            case .device(let time): .device(device, at: time)
            case .event(let event): .event(event)
            }
        }
    }

    /// Removes and returns the events since the last call.
    mutating func takeEvents() -> [RecordedEvent] {
        exchange(&entries, with: []).compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    // MARK: Identity

    /// - Parameter address: The backend's text; ignored if it is not an address.
    package mutating func identify(name: String?, address: String?) {
        if let address = address.flatMap({ DeviceAddress($0) }) { identity.address = address }
        guard let name, !name.isEmpty, name != identity.name else { return }
        identity.name = name
        if hasConnected { isDescriptionNew = true }
    }

    /// The recorded name of the device, within the limit of descriptions.
    private var recordedName: String {
        let name = identity.name ?? advertising.localName ?? "Unnamed"
        return name.utf8.count <= 248 ? name : String(name.unicodeScalars.prefix(62))
    }

    /// The redaction; nil if the identity is kept.
    private var redaction: Redaction? { identity.isKept ? nil : identity.redaction ?? makeRedaction() }

    private func makeRedaction() -> Redaction {
        Redaction(address: identity.address, by: PeripheralDescription(name: recordedName).effectiveAddress)
    }

    // MARK: Air

    /// - Parameter isScanResponse: Whether it is known to be a scan response; merged reports do not show it.
    package mutating func advertised(
        _ advertisement: Advertisement, rssi: Int?, isScanResponse: Bool = false, at time: Duration
    ) {
        guard !isScanResponse else { return advertising.add(scanResponse: advertisement) }
        advertising.add(advertisement, rssi: rssi, at: time)
        guard lastAdvertised.map({ time - $0 >= Self.advertisingPause }) ?? true else { return }
        guard hasConnected || entries.count < Self.maximumUnconnectedLines else { return }
        lastAdvertised = time
        append(.advertised(set: 0, rssi: rssi), at: time)
    }

    // MARK: Links

    package mutating func linkOpened(mtu: Int?, at time: Duration) {
        if !hasConnected {
            (hasConnected, identity.redaction) = (true, makeRedaction())
            entries.insert(.device(at: .zero), at: 0)
        }
        noteMTU(mtu)
        append(.linkOpened(mtu: mtu), at: time)
    }

    package mutating func mtuChanged(to mtu: Int) { noteMTU(mtu) }

    private mutating func noteMTU(_ mtu: Int?) {
        guard let mtu, mtu != self.mtu else { return }
        self.mtu = mtu
        isDescriptionNew = true
    }

    package mutating func parametersChanged(to parameters: HCIConnectionParameters) {
        guard parameters != self.parameters else { return }
        self.parameters = parameters
        isDescriptionNew = true
    }

    package mutating func linkClosed(_ link: Int, _ reason: DisconnectReason, at time: Duration) {
        lastWrites[link] = nil
        append(.linkClosed(reason), at: time)
        database.forget(link: link)
    }

    /// Records the device's response to a pairing request.
    package mutating func answeredPairing(_ features: SecurityManagerPDU.PairingFeatures) {
        pairing = PairingDescription(
            capability: PairingCapability(octet: features.capability) ?? .noInputNoOutput,
            hasOutOfBandData: features.hasOutOfBandData, requiresAuthentication: features.requiresAuthentication)
    }

    // MARK: Attributes

    /// Adds the results of a discovery.
    package mutating func discover(_ body: (inout RecordedDatabase) -> Bool) {
        if body(&database) { isDescriptionNew = true }
    }

    /// Records a central's request, and the device's answer.
    ///
    /// - Parameters:
    ///   - written: The value of a write.
    ///   - offset: The offset from which it is written, in bytes.
    ///   - answer: The value of a read, otherwise empty; or the error.
    ///   - duration: The time from the request to the answer; nil for a write command.
    package mutating func answered(
        _ operation: RecordedRequest.Operation, _ name: RecordedDatabase.Name, written: Data? = nil,
        from offset: UInt16 = 0, _ answer: Result<Data, ATTError>, sentAt time: Duration, duration: Duration? = nil
    ) {
        guard let attribute = database.attribute(name) else { return }
        var request = RecordedRequest(operation, attribute, duration: duration.map { max(.zero, $0).wholeMicroseconds })
        switch answer {
        case .success(let value):
            if operation == .read { request.value = recorded(value, of: attribute) }
        case .failure(let error): request.error = error.code
        }
        if let written {
            let value = recorded(written, of: attribute)
            (request.value, request.offset) = (value, offset)
            lastWrites[name.link] = LastWrite(write: RecordedWrite(attribute, value, offset: offset), time: time)
        }
        append(.request(request), at: time)
    }

    package mutating func notified(_ name: RecordedDatabase.Name, _ value: Data, at time: Duration) {
        guard let attribute = database.attribute(name) else { return }
        let last = lastWrites[name.link].flatMap { time - $0.time <= Self.longestConsequence ? $0.write : nil }
        append(.notified(attribute, recorded(value, of: attribute), after: last), at: time)
    }

    private func recorded(_ value: Data, of attribute: RecordedAttribute) -> Data {
        let value = value.prefix(ATTLimits.longestValue)
        return redaction?.redacted(value, of: attribute) ?? value
    }

    private mutating func append(_ kind: RecordedEvent.Kind, at time: Duration) {
        let time = min(DeviceRecording.longestTime, max(.zero, time - start)).wholeMicroseconds
        if isDescriptionNew, hasConnected {
            isDescriptionNew = false
            entries.append(.device(at: time))
        }
        entries.append(.event(RecordedEvent(time: time, kind)))
    }

    // MARK: Description

    /// The description of the device as far as it is known.
    package var device: PeripheralDescription {
        var device = PeripheralDescription(name: recordedName)
        if identity.isKept { device.address = identity.address }
        let redaction = redaction
        device.advertising = [
            advertising.description(name: identity.name) { redaction?.redacted($0) ?? $0 }
        ]
        device.services = database.descriptions
        device.rssi = advertising.rssi
        if let pairing { device.pairing = pairing }
        if let parameters {
            device.connectionInterval = parameters.interval
            device.peripheralLatency = parameters.latency
            device.supervisionTimeout = parameters.supervisionTimeout
        }
        if let mtu {
            device.maximumMTU = min(ATTLimits.maximumMTU, max(ATTLimits.minimumMTU, mtu))
        }
        return device
    }
}

/// An error of the Attribute Protocol in answer to a request.
package struct ATTError: Error, Hashable, Sendable {
    package let code: ATTCode

    package init(_ code: ATTCode) { self.code = code }
}

extension Duration {
    /// The time rounded as a recording's file stores it.
    fileprivate var wholeMicroseconds: Duration { .microseconds(Int64((inSeconds * 1e6).rounded())) }
}
