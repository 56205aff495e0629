import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// The checks of all rules that do not depend on other devices.
    func checks(path: String) -> [RuleCheck] {
        let prefix = path.isEmpty ? "" : path + "."
        var checks = [
            RuleCheck("\(prefix)name", "a device name has at most 248 bytes", name.utf8.count <= 248),
            RuleCheck(
                "\(prefix)maximumMTU", "the ATT MTU is 23...517",
                (ATTLimits.minimumMTU...ATTLimits.maximumMTU).contains(maximumMTU)),
            RuleCheck(
                "\(prefix)rssi", "the signal strength is -127...20 dBm", rssi.map((-127...20).contains) ?? true),
        ]
        checks += linkChecks(prefix)
        if let replay {
            checks.append(
                RuleCheck("\(prefix)recording", "a device has a handler or a recording, not both", handler == nil))
            checks.append(
                RuleCheck("\(prefix)replay") { () throws(DescriptionError) in try replay.validate(path: prefix) })
        }
        if let handler {
            checks.append(
                RuleCheck("\(prefix)parameters") { () throws(DescriptionError) in
                    try handler.validate(parameters, path: "\(prefix)parameters")
                })
        }
        checks.append(
            RuleCheck(
                "\(prefix)addressRotation", "an address is kept for 1 s or more",
                addressRotation ?? .seconds(1) >= .seconds(1)))
        checks.append(
            RuleCheck("\(prefix)pairing") { () throws(DescriptionError) in
                try pairing.validate(path: "\(prefix)pairing")
            })
        return checks + partChecks(prefix)
    }

    /// The checks of the lists.
    private func partChecks(_ prefix: String) -> [RuleCheck] {
        var checks: [RuleCheck] = []
        for (path, part) in channels.located(at: "\(prefix)channels") {
            checks.append(RuleCheck(path) { () throws(DescriptionError) in try part.validate(path: path) })
        }
        checks.append(
            RuleCheck("\(prefix)channels") { () throws(DescriptionError) in
                try requireUnique(
                    channels, "\(prefix)channels", "psm", { _ in "another channel has the number" }, \.psm)
            })
        for (path, part) in faults.located(at: "\(prefix)faults") {
            checks.append(RuleCheck(path) { () throws(DescriptionError) in try part.validate(path: path) })
        }
        for (path, part) in advertising.located(at: "\(prefix)advertising") {
            checks.append(RuleCheck(path) { () throws(DescriptionError) in try part.validate(path: path) })
        }
        for (path, service) in services.located(at: "\(prefix)services") {
            for (path, part) in service.characteristics.located(at: "\(path).characteristics") {
                checks.append(RuleCheck(path) { () throws(DescriptionError) in try part.validate(path: path) })
            }
        }
        checks.append(
            RuleCheck("\(prefix)services") { () throws(DescriptionError) in
                var database = AttributeDatabase()
                for (path, service) in services.located(at: "\(prefix)services") {
                    _ = try database.add(service, path: path)
                }
            })
        return checks
    }

    private func linkChecks(_ prefix: String) -> [RuleCheck] {
        let parameters = ConnectionParameters(
            interval: .zero, peripheralLatency: peripheralLatency,
            supervisionTimeout: supervisionTimeout ?? .seconds(4))
        return [
            RuleCheck(
                "\(prefix)connectionInterval", "the connection interval is 0...4 s",
                (.zero ... .seconds(4)).contains(connectionInterval ?? .zero)),
            RuleCheck("\(prefix)supervisionTimeout") { () throws(DescriptionError) in
                try parameters.validate(prefix: prefix)
            },
            RuleCheck(
                "\(prefix)maximumDataLength", "the data length is 27...251 bytes",
                PacketTiming.dataLengths.contains(maximumDataLength)),
            RuleCheck(
                "\(prefix)connectionEventLength", "a connection event has a length above 0",
                connectionEventLength ?? .seconds(1) > .zero),
            RuleCheck(
                "\(prefix)packetsPerConnectionEvent", "a connection event has 1 or more packets",
                packetsPerConnectionEvent ?? 1 >= 1),
            RuleCheck("\(prefix)packetLossRate", "a chance is 0...1", (0.0...1.0).contains(packetLossRate)),
            RuleCheck(
                "\(prefix)prepareQueueLength", "0 or more prepared writes are kept", prepareQueueLength ?? 0 >= 0),
        ]
    }
}
