/// The conclusions from the system's facts; pure.
struct Diagnosis {
    let facts: SystemReport
    /// The adapter that the user chose, by name or address.
    let adapter: String?

    /// All findings, in the order in which they depend on each other.
    var findings: [Finding] {
        var findings = [bus]
        if facts.bus == .yes {
            findings.append(daemon)
            if facts.daemon == .yes || facts.objects != nil { findings.append(permission) }
        }
        findings.append(controllers)
        findings += switches
        if facts.objects == .yes { findings += adapters }
        if facts.hasBusProgram == false {
            findings.append(
                Finding(
                    "world", .note, "dbus-daemon is not installed: only \"bluectl world\" needs it",
                    remedy: "apt install dbus-daemon (in older releases, the package is dbus)"))
        }
        return findings
    }

    var hasProblem: Bool { findings.contains { $0.status == .problem } }

    private var bus: Finding {
        guard let error = facts.bus.text else { return Finding("bus", .ok, "the system bus answers") }
        if facts.bus.isDenied {
            return Finding(
                "bus", .problem, "the system bus refuses user \(facts.user.name): \(error)",
                remedy: "in a container, run with the host's user namespace or as the bus's user")
        }
        if facts.bus.isLibraryMissing {
            return Finding("bus", .problem, "libdbus-1 is missing: \(error)", remedy: "apt install libdbus-1-3")
        }
        if facts.bus.isClosed {
            // https://github.com/systemd/systemd/issues/22737
            return Finding(
                "bus", .problem, "the system bus closed the connection of user \(facts.user.name): \(error)",
                remedy: "in a service, replace DynamicUser=yes by User=: dbus-daemon knows no dynamic users")
        }
        return Finding(
            "bus", .problem, "\(facts.bus.busProblem) at \(facts.busAddress) (\(error))",
            remedy: "start it (systemctl start dbus); in a container, mount /run/dbus/system_bus_socket")
    }

    private var daemon: Finding {
        guard facts.daemon == .yes else {
            let reason = facts.daemon?.text.map { ": \($0)" } ?? ""
            return Finding(
                "daemon", .problem, "bluetoothd is not running" + reason,
                remedy: facts.isActivatable == true
                    ? "systemctl enable --now bluetooth, then check: journalctl -u bluetooth"
                    : "install it (apt install bluez), then: systemctl enable --now bluetooth")
        }
        let process = facts.daemonProcess.map { ", process \($0)" } ?? ""
        return Finding("daemon", .ok, "bluetoothd owns org.bluez\(process)")
    }

    private var permission: Finding {
        let membership = facts.user.groups.contains("bluetooth") ? ", in group bluetooth" : ""
        let who = facts.user.isRoot ? "root" : "user \(facts.user.name)\(membership)"
        guard let error = facts.objects?.text else {
            return Finding("permissions", .ok, "\(who) is allowed to use org.bluez")
        }
        guard facts.objects?.isDenied == true else {
            return Finding(
                "permissions", .problem, "bluetoothd does not list its objects: \(error)",
                remedy: "restart it (systemctl restart bluetooth), then check: journalctl -u bluetooth")
        }
        let remedy =
            facts.user.systemHasBluetoothGroup && !facts.user.groups.contains("bluetooth")
            ? "usermod -aG bluetooth \(facts.user.name) as root, then log in again"
            : "allow it in the policy of org.bluez, /etc/dbus-1/system.d/bluetooth.conf"
        return Finding("permissions", .problem, "\(who) is not allowed to use org.bluez: \(error)", remedy: remedy)
    }

    private var controllers: Finding {
        guard facts.kernelControllers.isEmpty else {
            return Finding("controller", .ok, "the kernel has \(facts.kernelControllers.joined(separator: ", "))")
        }
        // The daemon's list decides, because a container may not see the kernel's list.
        let isSeen = !facts.adapters.isEmpty
        return Finding(
            "controller", isSeen ? .note : .problem, "the kernel shows no Bluetooth controller",
            remedy: isSeen ? nil : "plug one in, or check for missing firmware: dmesg | grep -i bluetooth")
    }

    private var switches: [Finding] {
        let blocked = facts.switches.filter { $0.isSoftBlocked || $0.isHardBlocked }
        guard !blocked.isEmpty else {
            return facts.switches.isEmpty ? [] : [Finding("rfkill", .ok, "no switch blocks Bluetooth")]
        }
        // A blocked adapter does no harm while another one is on.
        let status: Finding.Status = chosen.contains { $0.isPowered == true } ? .note : .problem
        return blocked.map { item in
            item.isHardBlocked
                ? Finding("rfkill", status, "\(item.name) is blocked by a hardware switch", remedy: "turn it on there")
                : Finding("rfkill", status, "\(item.name) is blocked", remedy: "rfkill unblock bluetooth")
        }
    }

    /// The adapters that would be used.
    private var chosen: [SystemReport.Adapter] {
        guard let adapter else { return facts.adapters }
        return facts.adapters.filter { $0.name == adapter || $0.address?.lowercased() == adapter.lowercased() }
    }

    private var adapters: [Finding] {
        guard !chosen.isEmpty else {
            let others = facts.adapters.map(\.name).joined(separator: ", ")
            let detail = adapter.map { "there is no adapter \($0)\(others.isEmpty ? "" : " among \(others)")" }
            return [
                Finding(
                    "adapter", .problem, detail ?? "bluetoothd has no adapter",
                    remedy: facts.kernelControllers.isEmpty
                        ? "plug one in" : "the kernel has one: restart bluetoothd (systemctl restart bluetooth)")
            ]
        }
        return chosen.flatMap { AdapterDiagnosis(adapter: $0).findings(isOnlyOne: chosen.count == 1) }
    }
}

struct AdapterDiagnosis {
    let adapter: SystemReport.Adapter

    /// Returns findings about power, role, other scanners and features.
    ///
    /// - Parameter isOnlyOne: Whether no other adapter could replace it.
    func findings(isOnlyOne: Bool) -> [Finding] {
        let bad: Finding.Status = isOnlyOne ? .problem : .note
        var findings = [power(bad)]
        if let roles = adapter.roles, !roles.contains(where: { $0.hasPrefix("central") }) {
            findings.append(Finding("role", bad, "\(title) does not support the central role, only \(list(roles))"))
        }
        if adapter.isDiscovering == true {
            findings.append(
                Finding(
                    "scanners", .note, "another program scans on \(adapter.name)",
                    remedy: "its filters are merged with ours; stop it if devices are missing"))
        }
        if adapter.crashesOnServiceFilter {
            findings.append(
                Finding(
                    "version", .note, "bluetoothd 5.87 crashes when another program scans for services",
                    remedy: "install a later bluez (https://github.com/bluez/bluez/issues/2282)"))
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

    /// The features that the daemon shows.
    ///
    /// If it does not show its version, its properties tell the oldest possible one (BlueZ's git history).
    private var features: [String] {
        var features: [String] = []
        let properties = adapter.properties
        if let version = adapter.daemonVersion {
            features.append("BlueZ \(version)")
        } else if properties.contains("Connectable") {
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
