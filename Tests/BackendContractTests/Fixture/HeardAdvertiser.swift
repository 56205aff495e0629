/// An advertiser as a central across the air receives it.
struct HeardAdvertiser: CustomStringConvertible {
    var name: String?
    var services: [ContractAttribute] = []
    var overflow: [ContractAttribute] = []
    /// Further fields, as text.
    var others: [String] = []
    var isConnectable = true

    /// "name=Served services=180D C0DE1000 connectable": services sorted, absent fields omitted.
    var description: String {
        var fields: [String] = []
        if let name { fields.append("name=\(name)") }
        if !services.isEmpty { fields.append("services=" + Self.list(services).sorted().joined(separator: " ")) }
        if !overflow.isEmpty { fields.append("overflow=" + Self.list(overflow).joined(separator: " ")) }
        fields += others
        if isConnectable { fields.append("connectable") }
        return fields.joined(separator: " ")
    }

    private static func list(_ attributes: [ContractAttribute]) -> [String] { attributes.map(\.description) }
}
