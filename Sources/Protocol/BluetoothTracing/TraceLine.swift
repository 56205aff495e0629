package import BluetoothBackend
package import BluetoothSupport
import BluetoothValues

/// The text of a command or event while it is written: a name, then `field=value` for each field that is present.
///
/// The text is the same in every process: it does not depend on hashing, on the locale or on the wall clock. An
/// identifier is followed by a name if ``TraceNames`` knows one: `link=1:"Heart Rate Monitor"
/// attribute=9:180D/2A37@0x0010`. A value of a standard characteristic is followed by its meaning: `value=0x0048:"72
/// bpm"`. Values and addresses may be private; a line then contains only the number of bytes, or a mark.
package struct TraceLine {
    /// Whether values and addresses are written.
    package let showsValues: Bool
    /// The first word.
    package let name: String
    package private(set) var text: String
    /// The subject of the line: the first peer, and the last attribute and value.
    package private(set) var details = TraceDetails()
    private let names: TraceNames
    private let role: Int
    /// The link of this line's attributes; nil for the manager's own attributes.
    private var link: LinkID?
    /// The assigned number of the last attribute, which determines the meaning of its value.
    private var attributeType: UInt16?

    /// - Parameter name: The first word; fields may follow it.
    package init(_ name: String, names: TraceNames = .none, role: Int = 0, showsValues: Bool) {
        self.name = String(name.prefix { $0 != " " })
        text = name
        self.names = names
        self.role = role
        self.showsValues = showsValues
    }

    /// Adds a field, if it has a value.
    package mutating func add(_ field: String, _ value: (some CustomStringConvertible)?) {
        if let value { text += " \(field)=\(value.description)" }
    }

    /// Adds a list, if it is present.
    package mutating func add(_ field: String, list: [some CustomStringConvertible]?) {
        if let list { text += " \(field)=[\(list.map(\.description).joined(separator: ","))]" }
    }

    /// Adds foreign text, quoted and escaped.
    package mutating func add(_ field: String, quoted value: String?) { add(field, value?.quoted) }

    /// Adds bytes, as hexadecimal digits or as a number of bytes.
    package mutating func add(_ field: String, private data: Data?) {
        guard let data else { return }
        add(field, showsValues && !data.isEmpty ? "0x" + data.hexText : "<\(data.count) bytes>")
    }

    /// Adds the value of the last attribute, with its meaning.
    package mutating func add(value: Data?) {
        guard let value else { return }
        add("value", private: value)
        guard showsValues else { return }
        details.value = value
        details.meaning = attributeType.flatMap { StandardValues.meaning(of: value, of: $0) }
        if let meaning = details.meaning { text += ":" + meaning.quoted }
    }

    /// Adds an address or a passkey, or a mark that one is present.
    package mutating func add(_ field: String, private value: (some CustomStringConvertible)?) {
        if let value { add(field, showsValues ? value.description : "<private>") }
    }

    // MARK: Identifiers with names

    package mutating func add(_ field: String, peer: PeerID?) {
        add(field, peer.map { describe($0) })
        if details.peer == nil, let peer { concern(peer) }
    }

    package mutating func add(_ field: String, peers: [PeerID]?) { add(field, list: peers?.map { describe($0) }) }

    /// Adds the link of the following attributes.
    package mutating func add(link: LinkID?) {
        self.link = link
        add("link", link.map { "\($0)" + quoted(names.name(of: $0, role: role)) })
        if details.peer == nil, let peer = link.flatMap({ names.peer(of: $0, role: role) }) { concern(peer) }
    }

    private mutating func concern(_ peer: PeerID) {
        details.peer = peer
        details.device = names.name(of: peer)
    }

    package mutating func add(_ field: String, attribute: AttributeID?) {
        add(field, attribute.map { describe($0) })
        guard let attribute else { return }
        let name = names.name(of: attribute, on: link, role: role)
        (details.attribute, details.handle) = (name?.path, name?.handle)
        attributeType = name?.type
    }

    /// Adds the attribute of a request or response, if an earlier message named it.
    package mutating func add(_ field: String, attributeOf operation: OperationID) {
        add(field, attribute: names.attribute(of: operation, on: link, role: role))
    }

    package mutating func add(_ field: String, attributeOf request: RequestID) {
        add(field, attribute: names.attribute(of: request, role: role))
    }

    /// Adds a characteristic that a control of the emulator names.
    ///
    /// - Parameter instance: The index among several characteristics with the same UUID.
    package mutating func add(
        _ field: String, characteristic: BluetoothUUID, of service: BluetoothUUID?, instance: Int
    ) {
        let path = (service.map { "\($0)/" } ?? "") + "\(characteristic)"
        add(field, instance == 0 ? path : "\(path)#\(instance)")
        details.attribute = path
        attributeType = characteristic.bits16
    }

    /// Sets the device that the line concerns, if the line names no peer.
    package mutating func concern(device: String?) { details.device = device }

    package mutating func add(_ field: String, attributes: [AttributeID]) {
        add(field, list: attributes.map { describe($0) })
    }

    package func describe(_ attribute: AttributeID) -> String {
        "\(attribute)" + (names.name(of: attribute, on: link, role: role).map { ":" + $0.text } ?? "")
    }

    private func describe(_ peer: PeerID) -> String { "\(peer)" + quoted(names.name(of: peer)) }

    private func quoted(_ name: String?) -> String { name.map { ":" + $0.quoted } ?? "" }
}

// MARK: Values of several fields

extension TraceLine {
    mutating func add(_ advertisement: Advertisement) {
        add("name", quoted: advertisement.localName)
        add("txPower", advertisement.txPowerLevel)
        add("services", list: advertisement.serviceUUIDs)
        add("overflow", list: advertisement.overflowServiceUUIDs)
        add("solicited", list: advertisement.solicitedServiceUUIDs)
        for (uuid, data) in (advertisement.serviceData ?? [:]).sorted(by: { $0.key < $1.key }) {
            add("serviceData.\(uuid)", private: data)
        }
        add("manufacturerData", private: advertisement.manufacturerData)
        for structure in advertisement.otherStructures ?? [] {
            add("structure.\(structure.type)", private: structure.data)
        }
        add("connectable", advertisement.isConnectable)
    }

    mutating func add(_ error: BackendError) {
        details.error = "\(error)"
        add("error", quoted: details.error)
    }

    mutating func add(operation: OperationID?) {
        details.operation = operation?.rawValue
        add("operation", operation)
    }

    mutating func add(rssi: Int) {
        details.rssi = rssi
        add("rssi", rssi)
    }

    mutating func add(_ command: ChannelCommand) {
        switch command {
        case .send(let data): add("data", private: data)
        case .consumed(let bytes): add("bytes", bytes)
        case .close: break
        }
    }

    mutating func add(_ event: ChannelEvent) {
        switch event {
        case .received(let data): add("data", private: data)
        case .credits(let count): add("count", count)
        case .closed: break
        }
    }
}
