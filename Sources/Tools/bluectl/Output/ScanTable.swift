import Foundation

/// The devices of a scan as a table that fits a terminal.
struct ScanTable {
    /// The most devices; beyond it, the device that was heard first is forgotten.
    ///
    /// Phones have a new address every 15 minutes.
    static let maximumCount = 4096

    private(set) var devices: [UUID: DeviceRecord] = [:]
    /// The devices in the order in which they were first heard.
    private var order: [UUID] = []

    /// Adds a report; fields that it lacks keep their values.
    mutating func update(_ device: DeviceRecord) {
        guard let old = devices[device.identifier] else {
            if order.count == Self.maximumCount { devices[order.removeFirst()] = nil }
            order.append(device.identifier)
            devices[device.identifier] = device
            return
        }
        var new = device
        new.address = device.address ?? old.address
        new.name = device.name ?? old.name
        new.advertisedName = device.advertisedName ?? old.advertisedName
        new.rssi = device.rssi ?? old.rssi
        if device.services.isEmpty { new.services = old.services }
        new.manufacturerData = device.manufacturerData ?? old.manufacturerData
        new.serviceData = old.serviceData.merging(device.serviceData) { $1 }
        new.txPower = device.txPower ?? old.txPower
        new.isConnectable = device.isConnectable ?? old.isConnectable
        devices[device.identifier] = new
    }

    /// The devices in a stable order: those with a name first, by name, then by identifier.
    var sorted: [DeviceRecord] {
        devices.values.sorted { left, right in
            let names = [left, right].map { $0.displayName?.lowercased() }
            switch (names[0], names[1]) {
            case (let left?, let right?) where left != right: return left < right
            case (.some, nil): return true
            case (nil, .some): return false
            default: return left.identifier.uuidString < right.identifier.uuidString
            }
        }
    }

    /// Returns the lines: head, devices, and the number of those that do not fit.
    ///
    /// - Parameters:
    ///   - columns: The width of the terminal; no line is longer.
    ///   - rows: The height; nil for all lines.
    ///   - isOver: Whether the scan has ended.
    func lines(columns: Int, rows: Int? = nil, isOver: Bool = false, palette: Palette) -> [String] {
        let devices = sorted
        let room = rows.map { max(1, $0 - 3) } ?? devices.count
        let shown = devices.prefix(room)
        let widths = Widths(shown, columns: columns)
        let head = widths.line(name: "NAME", place: "ADDRESS", rssi: "RSSI", services: "SERVICES")
        var lines = [palette.strong(head)]
        for device in shown {
            let content = [Self.services(device), AdvertisementText.details(of: device)].filter { !$0.isEmpty }
            let line = widths.line(
                name: device.displayName.map(PrintableText.of) ?? "-", place: Self.place(device),
                rssi: device.rssi.map(String.init) ?? "-", services: content.joined(separator: "; "))
            lines.append(device.displayName == nil ? palette.dim(line) : line)
        }
        let hidden = devices.count - shown.count
        lines.append(
            palette.dim(
                hidden > 0 ? "… and \(hidden) more" : "\(devices.count) found" + (isOver ? "" : ", Ctrl-C ends")))
        return lines
    }

    static func place(_ device: DeviceRecord) -> String { device.address ?? device.identifier.uuidString }

    static func services(_ device: DeviceRecord) -> String {
        device.services.map { AttributeText.label($0) }.joined(separator: ", ")
    }

    private struct Widths {
        let name: Int
        let place: Int
        let services: Int

        init(_ devices: ArraySlice<DeviceRecord>, columns: Int) {
            let longest = devices.map { PrintableText.columns($0.displayName.map(PrintableText.of) ?? "-") }.max() ?? 0
            place = max(17, devices.map { ScanTable.place($0).count }.max() ?? 0)
            name = min(max(12, longest), max(12, columns / 3))
            services = max(0, columns - name - place - 5 - 6)
        }

        func line(name: String, place: String, rssi: String, services: String) -> String {
            let signal = String(repeating: " ", count: max(0, 4 - rssi.count)) + rssi
            let line = [
                PrintableText.fitted(name, to: self.name), PrintableText.fitted(place, to: self.place), signal,
                self.services > 0 ? PrintableText.fitted(services, to: self.services) : "",
            ].joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
