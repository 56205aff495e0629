import BluetoothBackend
import BluetoothSupport

/// The text of one command or event while it is put together.
///
/// Values that go over the air and addresses are private: of them only the length, or that there is one, is told.
struct TraceLine {
    /// Whether values and addresses are written out.
    let showsValues: Bool
    private(set) var text: String

    init(_ name: String, showsValues: Bool) {
        text = name
        self.showsValues = showsValues
    }

    /// A field; nothing where it is absent.
    mutating func add(_ name: String, _ value: (some CustomStringConvertible)?) {
        if let value { text += " \(name)=\(value.description)" }
    }

    /// A list; nothing where it is absent.
    mutating func add(_ name: String, list: [some CustomStringConvertible]?) {
        if let list { text += " \(name)=[\(list.map(\.description).joined(separator: ","))]" }
    }

    /// A value, as hexadecimal digits or as a count of bytes.
    mutating func add(_ name: String, private data: Data?) {
        guard let data else { return }
        text += " \(name)=" + (showsValues ? "0x" + data.hexText : "<\(data.count) bytes>")
    }

    /// An address, or that there is one.
    mutating func add(_ name: String, private address: String?) {
        if let address { text += " \(name)=" + (showsValues ? address : "<private>") }
    }
}

/// A command or an event that a trace can tell.
protocol Traceable {
    var traceName: String { get }
    var traceCategory: TraceCategory { get }
    func trace(to line: inout TraceLine)
}

extension Traceable {
    func traceText(showsValues: Bool) -> String {
        var line = TraceLine(traceName, showsValues: showsValues)
        trace(to: &line)
        return line.text
    }
}

// MARK: Values of several fields

extension TraceLine {
    mutating func add(_ advertisement: Advertisement) {
        add("name", advertisement.localName)
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

    mutating func add(_ error: BackendError) {
        add("error", "\"\(error)\"")
    }
}
