import BluetoothBackend
import BluetoothSupport

/// The part of a trace that explains a failure: the last lines of the devices that the program used.
///
/// A device is used if a line names it that is not its discovery, its addition or a note: it was connected to, paired
/// with, or controlled. Lines of other devices, and repeated discoveries of the same device, are counted instead of
/// shown. If no device was used, only discoveries are counted.
package struct TraceExcerpt: Sendable {
    package let lines: [String]

    /// - Parameter limit: The largest number of lines.
    package init(_ entries: [TraceEntry], limit: Int) {
        let used = Set(entries.filter { !$0.isInPassing }.compactMap(Self.key))
        var kept: [String] = []
        var skipped = Skipped()
        for entry in entries.reversed() {
            let key = Self.key(entry)
            let isOfAnother = key.map { !used.contains($0) } ?? false
            if isOfAnother && (entry.isDiscovery || !used.isEmpty)
                || entry.isDiscovery && skipped.followed.contains(key)
            {
                skipped.add(key)
                continue
            }
            let needed = skipped.line == nil ? 1 : 2
            guard kept.count + needed <= limit else { break }
            if let line = skipped.line { kept.append(line) }
            skipped = Skipped(followed: entry.isDiscovery ? skipped.followed.union([key]) : [])
            kept.append(entry.description)
        }
        if let line = skipped.line, kept.count < limit { kept.append(line) }
        lines = kept.reversed()
    }

    /// Returns the name, or the identifier, of the device that an entry concerns.
    private static func key(_ entry: TraceEntry) -> String? { entry.device ?? entry.peer?.description }

    /// The omitted lines between two that are shown.
    private struct Skipped {
        private static let namedDevices = 5

        var count = 0
        /// The devices, from the last to the first.
        var devices: [String?] = []
        /// The devices with a discovery among the following lines, up to the first other line.
        var followed: Set<String?> = []

        mutating func add(_ device: String?) {
            count += 1
            if !devices.contains(device) { devices.append(device) }
        }

        var line: String? {
            guard count > 0 else { return nil }
            let names = devices.reversed().compactMap(\.self).prefix(Self.namedDevices).map(\.quoted)
            let more = devices.count > names.count ? ", …" : ""
            return "… \(count == 1 ? "1 line" : "\(count) lines") about \(names.joined(separator: ", "))\(more)"
        }
    }
}

extension TraceEntry {
    fileprivate var isDiscovery: Bool { name == "discovered" || name == "nameChanged" }

    /// Whether a line that names a device does not show that the program used it.
    fileprivate var isInPassing: Bool { isDiscovery || category == .note || category == .simulation && name == "added" }
}
