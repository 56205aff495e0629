import BluetoothBackend

extension CentralCommand: Traceable {
    var traceName: String { kind.rawValue }

    var traceCategory: TraceCategory {
        switch kind {
        case .read, .write, .writeCommand, .sendOnChannel, .channelConsumed: .data
        default: .command
        }
    }

    func trace(to line: inout TraceLine) {
        line.add("peer", peer)
        line.add("link", link)
        line.add("operation", operation)
        line.add("channel", channel)
        switch self {
        case .startScan(let parameters): line.add(parameters)
        case .connect(_, _, let options): line.add("autoReconnect", options.autoReconnect)
        case .setConnectionEventFilter(let filter):
            line.add("services", list: filter?.services)
            line.add("peers", list: filter?.peers)
        case .request(_, _, let request): line.add(request)
        case .writeCommand(_, let attribute, let value):
            line.add("attribute", attribute)
            line.add("value", private: value)
        case .channel(_, let command): line.add(command)
        case .stopScan, .disconnect: break
        }
    }
}

extension TraceLine {
    mutating func add(_ scan: ScanParameters) {
        add("services", list: scan.services)
        if !scan.solicitedServices.isEmpty { add("solicited", list: scan.solicitedServices) }
        add("duplicates", scan.allowDuplicates)
    }

    mutating func add(_ request: LinkRequest) {
        switch request {
        case .readRSSI: break
        case .discoverServices(let uuids): add("uuids", list: uuids)
        case .discoverIncludedServices(let service, let uuids), .discoverCharacteristics(let service, let uuids):
            add("service", service)
            add("uuids", list: uuids)
        case .discoverDescriptors(let characteristic): add("characteristic", characteristic)
        case .read(let attribute): add("attribute", attribute)
        case .write(let attribute, let value):
            add("attribute", attribute)
            add("value", private: value)
        case .setNotifying(let attribute, let isEnabled):
            add("attribute", attribute)
            add("enabled", isEnabled)
        case .openChannel(let psm): add("psm", psm)
        }
    }

    mutating func add(_ command: ChannelCommand) {
        switch command {
        case .send(let data): add("data", private: data)
        case .consumed(let bytes): add("bytes", bytes)
        case .close: break
        }
    }

    mutating func add(_ event: ChannelEvent) {
        switch event {
        case .received(let data): add("data", private: data)
        case .credits(let count): add("count", count)
        case .closed: break
        }
    }
}
