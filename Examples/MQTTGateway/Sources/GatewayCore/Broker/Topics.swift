/// The topics of a gateway.
package struct Topics: Sendable, Equatable {
    package let base: String
    package let gateway: String
    package let discovery: String?

    private var root: String { "\(base)/\(gateway)" }

    /// The topic of the gateway's status, `online` or `offline`, which is also its last will.
    package var status: String { "\(root)/status" }

    /// Returns the topic of a device's status, `online` or `offline`.
    package func status(of device: String) -> String { "\(root)/\(device)/status" }

    /// Returns the topic of a value.
    package func value(_ value: String, of device: String) -> String { "\(root)/\(device)/\(value)" }

    /// Returns the topic of a command.
    package func command(_ command: String, of device: String) -> String { "\(root)/\(device)/\(command)/set" }

    /// Returns the topic of a command's results.
    package func result(_ command: String, of device: String) -> String { "\(root)/\(device)/\(command)/result" }

    /// The topic filter of all commands.
    package var commands: String { "\(root)/+/+/set" }

    /// Returns the device and the command of a command topic; nil for another topic.
    package func command(in topic: String) -> (device: String, command: String)? {
        guard topic.hasPrefix(root + "/"), topic.hasSuffix("/set") else { return nil }
        let levels = topic.dropFirst(root.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 3 else { return nil }
        return (String(levels[0]), String(levels[1]))
    }

    /// The topic on which Home Assistant announces its start.
    package var homeAssistantStatus: String? { discovery.map { "\($0)/status" } }

    /// Returns the device of a discovery topic; nil for another topic, or one of another gateway.
    func device(inDiscovery topic: String) -> String? {
        guard let discovery, topic.hasPrefix(discovery + "/"), topic.hasSuffix("/config") else { return nil }
        let levels = topic.dropFirst(discovery.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 4, levels[1].hasPrefix("\(gateway)_") else { return nil }
        return String(levels[1].dropFirst(gateway.count + 1))
    }

    /// Returns the topic of the discovery message of a value or a command.
    package func discovery(_ component: String, _ object: String, of device: String) -> String? {
        discovery.map { "\($0)/\(component)/\(gateway)_\(device)/\(object)/config" }
    }
}
