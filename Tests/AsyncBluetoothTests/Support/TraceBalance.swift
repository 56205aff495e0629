/// The objects that the commands and events of a trace leave on the air.
struct TraceBalance {
    private(set) var isScanning = false
    private(set) var isAdvertising = false
    /// The services, with the operations that published them.
    private(set) var services: [Substring: Substring] = [:]
    /// The PSMs of published channels.
    private(set) var channels: Set<Substring> = []
    /// The channels that centrals have opened, with their links.
    private(set) var openChannels: [Substring: Substring] = [:]
    private var startingAdvertisement: Substring?

    init(_ trace: [String]) {
        for line in trace { read(line.split(separator: " ")) }
    }

    /// Reads a line: time, direction, role, number, name, and `field=value` for each field.
    private mutating func read(_ words: [Substring]) {
        guard words.count > 4, ["central", "peripheral"].contains(words[2]) else { return }
        func field(_ name: String) -> Substring {
            words.lazy.compactMap { $0.hasPrefix(name + "=") ? $0.dropFirst(name.count + 1) : nil }.first ?? ""
        }
        switch words[4] {
        case "startScan": isScanning = true
        case "stopScan": isScanning = false
        case "startAdvertising":
            isAdvertising = true
            startingAdvertisement = field("operation")
        case "advertisingStarted": startingAdvertisement = nil
        case "stopAdvertising": isAdvertising = false
        case "addService": services[field("service")] = field("operation")
        case "removeService": services[field("service")] = nil
        case "operationFailed" where words[2] == "peripheral":
            services = services.filter { $0.value != field("operation") }
            if startingAdvertisement == field("operation") { isAdvertising = false }
        case "channelPublished": channels.insert(field("psm"))
        case "unpublishChannel": channels.remove(field("psm"))
        case "stateChanged" where field("state") != "poweredOn":
            lostPower(isServer: words[2] == "peripheral", isReset: field("state") != "poweredOff")
        default: if words[2] == "central" { readChannel(words[4], field) }
        }
    }

    private mutating func readChannel(_ name: Substring, _ field: (String) -> Substring) {
        switch name {
        case "channelOpened": openChannels[field("channel")] = field("link")
        case "closeChannel", "channelClosed": openChannels[field("channel")] = nil
        case "disconnected": openChannels = openChannels.filter { $0.value != field("link") }
        default: break
        }
    }

    /// Removes what a loss of power ends: an adapter that is switched off ends scans, channels, and advertising that
    /// had not begun; a reset withdraws everything.
    private mutating func lostPower(isServer: Bool, isReset: Bool) {
        guard isServer else {
            isScanning = false
            openChannels = [:]
            return
        }
        channels = []
        if startingAdvertisement != nil || isReset { isAdvertising = false }
        guard isReset else { return }
        services = [:]
    }
}
