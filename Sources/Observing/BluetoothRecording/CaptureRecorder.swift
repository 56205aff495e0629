import BluetoothBackend
package import BluetoothCapture
package import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport

/// Makes recordings of the devices in a capture, from the packets between them and the hosts.
///
/// Links to one address belong to one device. At most 1,000 devices are recorded.
package struct CaptureRecorder: Sendable {
    private struct Link: Sendable {
        var device: HCIAddress
        /// Whether packets that the host receives come from the device; false if the host is the peripheral.
        var isDeviceRemote: Bool
        var client: CapturedClient
    }

    private struct Device: Sendable {
        var recorder: DeviceRecorder
        var events: [RecordedEvent] = []
        /// Its discovered services, which later links to a bonded device do not discover again.
        var database = CapturedDatabase()
        var isConnected = false
    }

    private static let maximumDevices = 1_000

    private let keepsIdentity: Bool
    private var events = CaptureEvents()
    private var start: CaptureTime?
    private var links: [Int: Link] = [:]
    private var devices: [HCIAddress: Device] = [:]
    private var excessDeviceCount = 0
    private var excessEventCount = 0
    /// The addresses, in the order in which they appeared.
    private var order: [HCIAddress] = []

    package init(keepsIdentity: Bool) { self.keepsIdentity = keepsIdentity }

    package mutating func add(_ record: CaptureRecord) {
        for event in events.add(record) {
            let start = start ?? event.time
            self.start = start
            let nanoseconds = event.time >= start ? event.time - start : 0
            let time = min(.nanoseconds(Int64(clamping: nanoseconds)), DeviceRecording.longestTime)
            add(event.kind, at: time)
        }
    }

    /// Returns the recordings of the wanted devices; by default of those with a connection, or otherwise of those that
    /// advertised.
    ///
    /// - Parameter isWanted: Called with the address in the capture and the name.
    package func recordings(
        _ source: DeviceRecording.Source, where isWanted: ((DeviceAddress, _ name: String) -> Bool)? = nil
    ) -> [DeviceRecording] {
        let all = order.compactMap { address in devices[address].map { (address, $0) } }
        let connected = all.filter(\.1.isConnected)
        let found =
            if let isWanted {
                all.filter { isWanted(DeviceAddress(bits: $0.bits), $1.recorder.device.name) }
            } else {
                connected.isEmpty ? all : connected
            }
        return found.map { _, device in
            DeviceRecording(device: device.recorder.device, source: source, events: device.events)
        }
    }

    /// The parts of the capture that no recording contains, as sentences for the user.
    package var losses: [String] {
        let undiscovered = devices.values.reduce(0) { $0 + $1.database.unknownCount }
        return [
            (events.malformedCount, "packets that are malformed, or of no known kind"),
            (events.unknownCount, "packets on links that began before the capture"),
            (events.excessLinkCount, "connections beyond the first 256 at once"),
            (undiscovered, "requests and notifications about attributes that were not discovered in the capture"),
            (excessDeviceCount, "events of devices beyond the first \(Self.maximumDevices)"),
            (excessEventCount, "events of a device beyond the first \(DeviceRecording.maximumEvents)"),
        ].filter { $0.0 > 0 }.map { "left out: \($0.1) (\($0.0))" }
    }

    // MARK: Events

    private mutating func add(_ kind: CaptureEvents.Kind, at time: Duration) {
        switch kind {
        case .advertised(let report):
            use(report.address) { device in
                var advertisement = Advertisement(structures: report.data)
                if !report.isScanResponse { advertisement.isConnectable = report.isConnectable }
                device.recorder.identify(name: advertisement.localName, address: report.address.text)
                device.recorder.advertised(
                    advertisement, rssi: report.rssi == 127 ? nil : Int(report.rssi),
                    isScanResponse: report.isScanResponse, at: time)
            }
        case .connected(let link, let connection, let host):
            let address = connection.isCentral ? connection.peer : host.address
            links[link] = Link(device: address, isDeviceRemote: connection.isCentral, client: CapturedClient())
            use(address) { device in
                device.isConnected = true
                device.recorder.identify(name: nil, address: address.text)
                device.recorder.linkOpened(mtu: nil, at: time)
                device.recorder.parametersChanged(to: connection.parameters)
            }
        case .parametersChanged(let number, let parameters):
            guard let link = links[number] else { return }
            use(link.device) { $0.recorder.parametersChanged(to: parameters) }
        case .disconnected(let number, let reason):
            guard var link = links.removeValue(forKey: number) else { return }
            use(link.device) { device in
                link.client.finish { device.database.add($0, on: number, to: &device.recorder) }
                device.recorder.linkClosed(number, DisconnectReason(hci: reason, link.isDeviceRemote), at: time)
            }
        case .att(let number, let pdu, let isReceived):
            guard var link = links.removeValue(forKey: number) else { return }
            use(link.device) { device in
                link.client.add(pdu, isFromDevice: isReceived == link.isDeviceRemote, at: time) { outcome in
                    device.database.add(outcome, on: number, to: &device.recorder)
                }
            }
            links[number] = link
        case .pairing(let number, .pairingResponse(let features), _):
            guard let link = links[number] else { return }
            use(link.device) { $0.recorder.answeredPairing(features) }
        case .pairing, .encrypted: break
        }
    }

    private mutating func use(_ address: HCIAddress, _ body: (inout Device) -> Void) {
        if devices[address] == nil {
            guard devices.count < Self.maximumDevices else {
                excessDeviceCount += 1
                return
            }
            devices[address] = Device(recorder: DeviceRecorder(start: .zero, keepsIdentity: keepsIdentity))
            order.append(address)
        }
        guard let index = devices.index(forKey: address) else { return }
        body(&devices.values[index])
        for event in devices.values[index].recorder.takeEvents() {
            if devices.values[index].events.count < DeviceRecording.maximumEvents {
                devices.values[index].events.append(event)
            } else {
                excessEventCount += 1
            }
        }
    }
}

extension DisconnectReason {
    /// - Parameter isDeviceRemote: Whether the capture was made on the central's host.
    fileprivate init(hci reason: UInt8, _ isDeviceRemote: Bool) {
        switch reason {
        case 0x13, 0x14, 0x15: self = isDeviceRemote ? .remote : .local
        case 0x16: self = isDeviceRemote ? .local : .remote
        case 0x08, 0x22, 0x3E: self = .timeout
        case 0x05, 0x06, 0x3D: self = .authentication
        default: self = .unknown
        }
    }
}
