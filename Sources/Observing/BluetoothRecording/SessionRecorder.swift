package import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
package import BluetoothTracing
import BluetoothValues
import Logging

/// Makes recordings of the devices that a program's central managers connect to, from their commands and events.
///
/// At most a hundred devices are recorded. The 256 others that were heard last are observed, because one of them may be
/// connected to; their advertisements are in no recording. The times of the last 256 requests are known.
package struct SessionRecorder: Sendable {
    private struct LinkKey: Hashable, Sendable {
        var role: Int
        var link: LinkID
    }

    private struct OperationKey: Hashable, Sendable {
        var link: LinkKey
        var operation: OperationID
    }

    private struct Link: Sendable {
        var peer: PeerID
        /// The number of the link in the device's recorder.
        var number: Int
    }

    private struct Request: Sendable {
        var request: LinkRequest
        var sentAt: Duration
    }

    private let keepsIdentity: Bool
    private var heard = LRUCache<PeerID, DeviceRecorder>(limit: 256)
    private var recorded: [PeerID: DeviceRecorder] = [:]
    private var links: [LinkKey: Link] = [:]
    private var requests = LRUCache<OperationKey, Request>(limit: 256)
    private var lastLink = 0
    /// The connected devices with new lines.
    private var changed: Set<PeerID> = []

    /// The largest number of recorded devices.
    package static let maximumDevices = 100

    package init(keepsIdentity: Bool) { self.keepsIdentity = keepsIdentity }

    /// Removes and returns the connected devices with new lines, and these lines.
    package mutating func takeLines() -> [(PeerID, [DeviceRecorder.Line])] {
        let peers = exchange(&changed, with: []).sorted { $0.description < $1.description }
        return peers.map { peer in (peer, recorded[peer]?.takeLines() ?? []) }
    }

    package mutating func add(_ message: ObservedMessage) {
        switch message.content {
        case .command(let command): add(command, message)
        case .event(let event): add(event, message)
        case .peers(let peers): for peer in peers { identify(peer, message) }
        case .ended:
            for (key, link) in links where key.role == message.role {
                close(key, link, .local, message)
            }
        }
    }

    // MARK: Commands

    private mutating func add(_ command: CentralCommand, _ message: ObservedMessage) {
        switch command {
        case .request(let link, let operation, let request):
            let key = OperationKey(link: LinkKey(role: message.role, link: link), operation: operation)
            requests.insert(Request(request: request, sentAt: message.time), for: key)
        case .writeCommand(let link, let attribute, let value):
            let key = LinkKey(role: message.role, link: link)
            record(key) { recorder, link in
                recorder.answered(
                    .writeCommand, RecordedDatabase.Name(link: link, id: attribute), written: value,
                    .success(Data()), sentAt: message.time)
            }
        default: break
        }
    }

    // MARK: Events

    private mutating func add(_ event: CentralEvent, _ message: ObservedMessage) {
        let time = message.time
        switch event {
        case .discovered(let discovery):
            observe(discovery.peer, at: time) { recorder in
                recorder.identify(name: discovery.name, address: discovery.address)
                // 127 means "not available" (Core Specification, Vol 4, Part E, 7.7.65.2).
                recorder.advertised(
                    discovery.advertisement, rssi: discovery.rssi == 127 ? nil : discovery.rssi, at: time)
            }
        case .nameChanged(let peer, let name, _):
            observe(peer, at: time) { $0.identify(name: name, address: nil) }
        case .connected(let peer, let link, _, let parameters):
            open(link, to: peer, mtu: parameters.mtu, message)
        case .restored(let state): restore(state, message)
        default:
            guard let link = event.link else { return }
            add(event, on: LinkKey(role: message.role, link: link), message)
        }
    }

    private mutating func add(_ event: CentralEvent, on key: LinkKey, _ message: ObservedMessage) {
        switch event {
        case .disconnected(_, let reason, _, _, _):
            if let link = links[key] { close(key, link, reason, message) }
        case .mtuChanged(_, let mtu): record(key) { recorder, _ in recorder.mtuChanged(to: mtu) }
        case .servicesChanged(_, _, let added):
            record(key) { recorder, link in recorder.discover { $0.apply(.services(added), of: nil, on: link) } }
        case .valueNotified(_, let attribute, let value):
            record(key) { recorder, link in
                recorder.notified(RecordedDatabase.Name(link: link, id: attribute), value, at: message.time)
            }
        case .response(_, let operation, let response):
            guard let request = requests.remove(OperationKey(link: key, operation: operation)) else { return }
            record(key) { recorder, link in recorder.add(response, to: request.request, link, request.sentAt, message) }
        default: break
        }
    }

    private mutating func restore(_ state: RestoredCentralState, _ message: ObservedMessage) {
        for peer in state.peers {
            identify(peer.summary, message)
            guard let link = peer.link else { continue }
            open(link, to: peer.summary.id, mtu: peer.parameters?.mtu, message)
            record(LinkKey(role: message.role, link: link)) { recorder, number in
                for service in peer.services {
                    recorder.discover { $0.apply(.services([service.record]), of: nil, on: number) }
                    recorder.discover {
                        $0.apply(.characteristics(service.characteristics), of: service.record.id, on: number)
                    }
                }
            }
        }
    }

    // MARK: Links

    private mutating func open(_ link: LinkID, to peer: PeerID, mtu: Int?, _ message: ObservedMessage) {
        lastLink += 1
        links[LinkKey(role: message.role, link: link)] = Link(peer: peer, number: lastLink)
        if recorded[peer] == nil, recorded.count < Self.maximumDevices {
            if recorded.count == Self.maximumDevices - 1 {
                Logger(label: "CoreBluetooth").line(
                    .warning, "\(Self.maximumDevices) devices are recorded: further ones are not")
            }
            recorded[peer] = heard.remove(peer) ?? DeviceRecorder(start: message.time, keepsIdentity: keepsIdentity)
        }
        observe(peer, at: message.time) { $0.linkOpened(mtu: mtu, at: message.time) }
    }

    private mutating func close(
        _ key: LinkKey, _ link: Link, _ reason: DisconnectReason, _ message: ObservedMessage
    ) {
        record(key) { recorder, number in recorder.linkClosed(number, reason, at: message.time) }
        links[key] = nil
    }

    private mutating func record(_ key: LinkKey, _ body: (inout DeviceRecorder, _ link: Int) -> Void) {
        guard let link = links[key], let index = recorded.index(forKey: link.peer) else { return }
        body(&recorded.values[index], link.number)
        changed.insert(link.peer)
    }

    private mutating func identify(_ peer: PeerSummary, _ message: ObservedMessage) {
        observe(peer.id, at: message.time) { $0.identify(name: peer.name, address: peer.address) }
    }

    private mutating func observe(_ peer: PeerID, at time: Duration, _ body: (inout DeviceRecorder) -> Void) {
        if let index = recorded.index(forKey: peer) {
            body(&recorded.values[index])
            changed.insert(peer)
            return
        }
        if heard[peer] == nil {
            heard.insert(DeviceRecorder(start: time, keepsIdentity: keepsIdentity), for: peer)
        }
        heard.use(peer) { body(&$0) }
    }
}

extension DeviceRecorder {
    /// Adds the answer to a manager's request.
    fileprivate mutating func add(
        _ response: LinkResponse, to request: LinkRequest, _ link: Int, _ sentAt: Duration, _ message: ObservedMessage
    ) {
        if request.isDiscovery { return discover { $0.apply(response, of: request.attribute, on: link) } }
        guard let operation = request.recordedOperation, let id = request.attribute,
            let answer = response.recordedAnswer
        else { return }
        answered(
            operation, RecordedDatabase.Name(link: link, id: id), written: request.written?.value,
            from: request.written?.offset ?? 0, answer, sentAt: sentAt, duration: message.time - sentAt)
    }
}

extension LinkRequest {
    fileprivate var recordedOperation: RecordedRequest.Operation? {
        switch self {
        case .read: .read
        case .write: .write
        case .setNotifying(_, let isOn): isOn ? .subscribe : .unsubscribe
        default: nil
        }
    }

    fileprivate var written: (value: Data, offset: UInt16)? {
        if case .write(_, let value, let offset) = self { (value, offset) } else { nil }
    }
}

extension LinkResponse {
    /// The value of a read, otherwise empty, or the device's error; nil if the device did not answer.
    fileprivate var recordedAnswer: Result<Data, ATTError>? {
        switch self {
        case .value(let value): .success(value)
        case .written, .notifying: .success(Data())
        case .failure(let error): error.attCode.flatMap { $0 == 0 ? nil : .failure(ATTError(ATTCode(rawValue: $0))) }
        default: nil
        }
    }
}
