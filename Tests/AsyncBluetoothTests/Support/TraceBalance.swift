/// What the commands and events of a trace leave on the air.
struct TraceBalance {
    private(set) var isScanning = false
    private(set) var isAdvertising = false
    /// The services and channels, by the operations and numbers in the trace.
    private(set) var services: [Substring: Substring] = [:]
    private(set) var channels: Set<Substring> = []
    /// The channels that centrals have opened, with the numbers of their links.
    private(set) var openChannels: [Substring: Substring] = [:]
    private var startingAdvertisement: Substring?

    init(_ trace: [String]) {
        for line in trace { read(line.split(separator: " ")) }
    }

    private mutating func read(_ words: [Substring]) {
        func word(_ offset: Int, after name: Substring) -> Substring? {
            words.firstIndex(of: name).flatMap { $0 + offset < words.count ? words[$0 + offset] : nil }
        }
        if words.contains("startScan") { isScanning = true }
        if words.contains("stopScan") { isScanning = false }
        if let operation = word(1, after: "startAdvertising") {
            isAdvertising = true
            startingAdvertisement = operation
        }
        if word(1, after: "advertisingStarted") != nil { startingAdvertisement = nil }
        if words.contains("stopAdvertising") { isAdvertising = false }
        if let operation = word(1, after: "addService"), let service = word(2, after: "addService") {
            services[service] = operation
        }
        if let operation = word(1, after: "operationFailed") {
            services = services.filter { $0.value != operation }
            if startingAdvertisement == operation { isAdvertising = false }
        }
        if let service = word(1, after: "removeService") { services[service] = nil }
        if let psm = word(2, after: "channelPublished") { channels.insert(psm) }
        if let psm = word(2, after: "unpublishChannel") { channels.remove(psm) }
        if words.contains("central") { readChannel(word) }
        if let state = word(1, after: "stateChanged"), state != "poweredOn" {
            lostPower(isServer: words.contains("peripheral"), isReset: state != "poweredOff")
        }
    }

    private mutating func readChannel(_ word: (Int, Substring) -> Substring?) {
        if let link = word(1, "channelOpened"), let channel = word(3, "channelOpened") { openChannels[channel] = link }
        if let channel = word(1, "closeChannel") ?? word(1, "channelClosed") { openChannels[channel] = nil }
        if let link = word(1, "disconnected") { openChannels = openChannels.filter { $0.value != link } }
    }

    /// An adapter that is switched off ends scans, channels, and advertising that had not begun; a reset withdraws
    /// everything.
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
