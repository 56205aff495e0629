package import BluetoothSupport

/// A command or an event that a trace can write.
package protocol TraceMessage: Sendable {
    associatedtype Kind: RawRepresentable<String>
    /// The first word of the line.
    var kind: Kind { get }

    /// Passes on the names that the message contains.
    func teach(_ names: inout TraceNames, role: Int)

    func write(to line: inout TraceLine)
}

extension TraceMessage {
    package func teach(_ names: inout TraceNames, role: Int) {}
}

/// The text of one command or event while it is written: a name, then `field=value` for each field that is present.
///
/// The text is the same in every process: nothing in it depends on hashing, on the locale or on the wall clock. An
/// identifier is followed by a name where ``TraceNames`` knows one: `link=1:"Heart Rate Monitor" attribute=9:180D/2A37`.
/// Values that go over the air and addresses may be private; then a line has only the number of bytes, or a mark.
package struct TraceLine {
    /// Whether values and addresses are written out.
    package let showsValues: Bool
    package private(set) var text: String
    private let names: TraceNames
    private let role: Int
    /// The link that the attributes of this line belong to; nil for the manager's own.
    private var link: LinkID?

    package init(_ name: String, names: TraceNames = TraceNames(), role: Int = 0, showsValues: Bool) {
        text = name
        self.names = names
        self.role = role
        self.showsValues = showsValues
    }

    /// A field; nothing where it is absent.
    package mutating func add(_ field: String, _ value: (some CustomStringConvertible)?) {
        if let value { text += " \(field)=\(value.description)" }
    }

    /// A list; nothing where it is absent.
    package mutating func add(_ field: String, list: [some CustomStringConvertible]?) {
        if let list { text += " \(field)=[\(list.map(\.description).joined(separator: ","))]" }
    }

    /// Text of another party, quoted and escaped.
    package mutating func add(_ field: String, quoted value: String?) { add(field, value?.debugDescription) }

    /// A value, as hexadecimal digits or as a number of bytes.
    package mutating func add(_ field: String, private data: Data?) {
        guard let data else { return }
        add(field, showsValues && !data.isEmpty ? "0x" + data.hexText : "<\(data.count) bytes>")
    }

    /// An address or a passkey, or that there is one.
    package mutating func add(_ field: String, private value: (some CustomStringConvertible)?) {
        if let value { add(field, showsValues ? value.description : "<private>") }
    }

    // MARK: Identifiers with names

    package mutating func add(_ field: String, peer: PeerID?) { add(field, peer.map { describe($0) }) }

    package mutating func add(_ field: String, peers: [PeerID]?) { add(field, list: peers?.map { describe($0) }) }

    /// The link, to which the attributes that follow belong.
    package mutating func add(link: LinkID?) {
        self.link = link
        add("link", link.map { "\($0)" + quoted(names.name(of: $0, role: role)) })
    }

    package mutating func add(_ field: String, attribute: AttributeID?) { add(field, attribute.map { describe($0) }) }

    package mutating func add(_ field: String, attributes: [AttributeID]) {
        add(field, list: attributes.map { describe($0) })
    }

    package func describe(_ attribute: AttributeID) -> String {
        "\(attribute)" + (names.path(of: attribute, on: link, role: role).map { ":" + $0 } ?? "")
    }

    private func describe(_ peer: PeerID) -> String { "\(peer)" + quoted(names.name(of: peer)) }

    private func quoted(_ name: String?) -> String { name.map { ":" + $0.debugDescription } ?? "" }
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
        add("connectable", advertisement.isConnectable)
    }

    mutating func add(_ error: BackendError) { add("error", quoted: "\(error)") }

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
