import BluetoothBackend

/// The lines that a trace keeps: those of some categories, and of some devices.
public struct TraceFilter: Hashable, Sendable {
    /// The categories of lines; empty for all.
    public var categories: Set<TraceCategory>
    /// The devices, by name or identifier, in upper or lower case; empty for all.
    ///
    /// `Polar*` includes all whose name or identifier begins with `Polar`. Lines without a device, such as the state of
    /// an adapter, are always kept.
    public var devices: [String]

    /// Creates a filter; without an argument it keeps every line.
    public init(categories: Set<TraceCategory> = [], devices: [String] = []) {
        self.categories = categories
        self.devices = devices
    }

    /// Whether a line is kept.
    public func includes(_ entry: TraceEntry) -> Bool {
        guard categories.isEmpty || categories.contains(entry.category) else { return false }
        let names = [entry.device, entry.peer?.description].compactMap { $0?.lowercased() }
        guard !devices.isEmpty, !names.isEmpty else { return true }
        return devices.contains { pattern in
            let pattern = pattern.lowercased()
            guard pattern.hasSuffix("*") else { return names.contains(pattern) }
            return names.contains { $0.hasPrefix(pattern.dropLast()) }
        }
    }
}
