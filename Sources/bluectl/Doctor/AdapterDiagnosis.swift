/// The findings of one adapter.
struct AdapterDiagnosis {
    let adapter: SystemReport.Adapter

    /// Power, role, other scanners, features.
    ///
    /// - Parameter isOnlyOne: Whether no other adapter could be used in its place.
    func findings(isOnlyOne: Bool) -> [Finding] {
        let bad: Finding.Status = isOnlyOne ? .problem : .note
        var findings = [power(bad)]
        if let roles = adapter.roles, !roles.contains(where: { $0.hasPrefix("central") }) {
            findings.append(Finding("role", bad, "\(title) cannot be a central: it has \(list(roles))"))
        }
        if adapter.isDiscovering == true {
            findings.append(
                Finding(
                    "scanners", .note, "another program is scanning on \(adapter.name)",
                    remedy: "its filters are merged with ours; end it if devices are missing"))
        }
        findings.append(Finding("features", .note, "\(adapter.name): \(list(features))"))
        return findings
    }

    private var title: String { adapter.address.map { "\(adapter.name) (\($0))" } ?? adapter.name }

    private func power(_ bad: Finding.Status) -> Finding {
        if adapter.isPowered == true { return Finding("adapter", .ok, "\(title) is on") }
        if adapter.powerState == "off-blocked" {
            return Finding("adapter", bad, "\(title) is blocked", remedy: "rfkill unblock bluetooth")
        }
        return Finding("adapter", bad, "\(title) is off", remedy: "bluetoothctl power on")
    }

    /// What the daemon shows; versions are the first that do (BlueZ's git history).
    private var features: [String] {
        var features: [String] = []
        let properties = adapter.properties
        if properties.contains("Connectable") {
            features.append("BlueZ 5.79 or newer")
        } else if properties.contains("Version") {
            features.append("BlueZ 5.71 or newer")
        } else if properties.contains("Roles") {
            features.append("BlueZ 5.55 or newer")
        } else {
            features.append("BlueZ older than 5.55")
        }
        if let roles = adapter.roles { features += roles }
        let names = [
            "org.bluez.LEAdvertisingManager1": "advertising", "org.bluez.GattManager1": "local services",
            "org.bluez.AdvertisementMonitorManager1": "advertisement monitor",
        ]
        features += names.filter { adapter.interfaces.contains($0.key) }.map(\.value).sorted()
        return features
    }

    private func list(_ words: [String]) -> String { PrintableText.of(words.joined(separator: ", ")) }
}
