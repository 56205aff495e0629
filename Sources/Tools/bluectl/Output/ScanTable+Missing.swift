/// The list of heard devices, for the failure of a scan for another device.
extension ScanTable {
    private static let shownCount = 8

    /// Returns the text after that of a failure: `; heard: Heart Rate Monitor, Lamp; did you mean "Heart Rate
    /// Monitor"?`.
    ///
    /// - Parameter query: The device that was not found; nil for one without a name.
    func text(besides query: DeviceQuery?) -> String {
        guard !devices.isEmpty else { return "; no device was heard" }
        let labels = sorted.map { $0.displayName.map(PrintableText.of) ?? Self.place($0) }
        let rest = labels.count > Self.shownCount ? " and \(labels.count - Self.shownCount) more" : ""
        let list = "; heard: " + labels.prefix(Self.shownCount).joined(separator: ", ") + rest
        guard case .name(let name)? = query else { return list }
        return list + Suggestion.text(for: name, among: devices.values.flatMap(\.names).map(PrintableText.of).sorted())
    }
}
