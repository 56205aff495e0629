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
        case .discoverServices(_, _, let uuids): line.add("uuids", list: uuids)
        case .discoverIncludedServices(_, _, let service, let uuids),
            .discoverCharacteristics(_, _, let service, let uuids):
            line.add("service", service)
            line.add("uuids", list: uuids)
        case .discoverDescriptors(_, _, let characteristic): line.add("characteristic", characteristic)
        case .read(_, _, let attribute): line.add("attribute", attribute)
        case .write(_, _, let attribute, let value), .writeCommand(_, let attribute, let value):
            line.add("attribute", attribute)
            line.add("value", private: value)
        case .setNotifying(_, _, let attribute, let isEnabled):
            line.add("attribute", attribute)
            line.add("enabled", isEnabled)
        case .openChannel(_, _, let psm): line.add("psm", psm)
        case .sendOnChannel(_, let data): line.add("data", private: data)
        case .channelConsumed(_, let bytes): line.add("bytes", bytes)
        case .stopScan, .disconnect, .readRSSI, .closeChannel: break
        }
    }
}

extension TraceLine {
    mutating func add(_ scan: ScanParameters) {
        add("services", list: scan.services)
        if !scan.solicitedServices.isEmpty { add("solicited", list: scan.solicitedServices) }
        add("duplicates", scan.allowDuplicates)
    }
}
