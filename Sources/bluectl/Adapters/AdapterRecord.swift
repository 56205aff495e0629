/// An adapter, for `bluectl adapters`.
struct AdapterRecord: Encodable, Equatable, Sendable {
    /// What `--adapter` takes: `hci0`, or the name of an emulated host.
    var adapter: String
    var address: String?
    /// What the adapter is called towards others.
    var name: String?
    var isPowered: Bool?
    /// `central`, `peripheral`, `central-peripheral` (both at once).
    var roles: [String]?
    var backend: String

    /// Adapter, address, power, roles, name, separated by tabs; `-` for what is unknown.
    var line: String {
        let power = isPowered.map { $0 ? "on" : "off" }
        let roles = self.roles.flatMap { $0.isEmpty ? nil : $0.joined(separator: ", ") }
        return [adapter, address, power, roles, name].map { PrintableText.of($0 ?? "-") }.joined(separator: "\t")
    }
}
