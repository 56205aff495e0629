/// The topics of a gateway.
package struct Topics: Sendable, Equatable {
    package let base: String
    package let gateway: String
    package let discovery: String?

    private var root: String { "\(base)/\(gateway)" }

    /// `online` or `offline`: the gateway, whose last will this is.
    package var status: String { "\(root)/status" }

    /// `online` or `offline`: a device.
    package func status(of device: String) -> String { "\(root)/\(device)/status" }

    /// The values.
    package func value(_ value: String, of device: String) -> String { "\(root)/\(device)/\(value)" }

    /// The commands.
    package func command(_ command: String, of device: String) -> String { "\(root)/\(device)/\(command)/set" }

    /// The results of commands.
    package func result(_ command: String, of device: String) -> String { "\(root)/\(device)/\(command)/result" }

    /// The filter of all commands.
    package var commands: String { "\(root)/+/+/set" }

    /// Device and command of a topic of commands; nil for another topic.
    package func command(in topic: String) -> (device: String, command: String)? {
        guard topic.hasPrefix(root + "/"), topic.hasSuffix("/set") else { return nil }
        let levels = topic.dropFirst(root.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 3 else { return nil }
        return (String(levels[0]), String(levels[1]))
    }

    /// Where Home Assistant says that it has started.
    package var homeAssistantStatus: String? { discovery.map { "\($0)/status" } }

    /// The device of a topic of discovery messages; nil for another topic, or one of another gateway.
    func device(inDiscovery topic: String) -> String? {
        guard let discovery, topic.hasPrefix(discovery + "/"), topic.hasSuffix("/config") else { return nil }
        let levels = topic.dropFirst(discovery.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 4, levels[1].hasPrefix("\(gateway)_") else { return nil }
        return String(levels[1].dropFirst(gateway.count + 1))
    }

    /// The discovery message of a value or a command.
    package func discovery(_ component: String, _ object: String, of device: String) -> String? {
        discovery.map { "\($0)/\(component)/\(gateway)_\(device)/\(object)/config" }
    }
}
