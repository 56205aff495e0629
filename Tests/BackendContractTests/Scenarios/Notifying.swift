import CoreBluetooth
import Testing

extension ContractScenario {
    static let notifying: [ContractScenario] = [
        .central("a subscription delivers each value, equal values too", proving: "S87", "S91") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let notify = try service.characteristic(.notifying)
            #expect(!notify.isNotifying)
            try await c.subscribe(to: notify, of: peripheral)
            for byte in [1, 1, 2] as [UInt8] { try await c.perform(.notify(.notifying, [byte])) }
            try await c.expect(
                .didUpdateValue(.notifying, [1]), .didUpdateValue(.notifying, [1]), .didUpdateValue(.notifying, [2]))
        },
        .central("indications arrive and are confirmed", proving: "S91") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            try await c.subscribe(to: service.characteristic(.indicating), of: peripheral)
            for byte in UInt8(1)...2 { try await c.perform(.notify(.indicating, [byte])) }
            try await c.expect(.didUpdateValue(.indicating, [1]), .didUpdateValue(.indicating, [2]))
        },
        .central("notifications are preferred to indications", proving: "S88") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let both = try service.characteristic(.notifyingAndIndicating)
            try await c.subscribe(to: both, of: peripheral)
            try await c.perform(.notify(.notifyingAndIndicating, [7]))
            try await c.expect(.didUpdateValue(.notifyingAndIndicating, [7]))
            peripheral.discoverDescriptors(for: both)
            try await c.expect(.didDiscoverDescriptors(.notifyingAndIndicating, [.clientConfiguration]))
            peripheral.readValue(for: try #require(both.descriptors?.first))
            try await c.expect(.didUpdateDescriptor(.clientConfiguration, .number(1)))
        },
        .central("unsubscribing ends the values", proving: "S87") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let notify = try service.characteristic(.notifying)
            try await c.subscribe(to: notify, of: peripheral)
            peripheral.setNotifyValue(false, for: notify)
            try await c.expect(.didUpdateNotificationState(.notifying, false))
            try await c.perform(.notify(.notifying, [1]))
            try await c.roundTrip(peripheral, service.characteristic(.readOnly))
        },
        .central("a subscription without notify and indicate is refused", proving: "S89") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            peripheral.setNotifyValue(true, for: try service.characteristic(.readOnly))
            try await c.expect(.didUpdateNotificationState(.readOnly, false).failing(att: .requestNotSupported))
        },
        .central("requesting the current notification state is answered", proving: "S90") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let notify = try service.characteristic(.notifying)
            peripheral.setNotifyValue(false, for: notify)
            try await c.expect(.didUpdateNotificationState(.notifying, false))
            peripheral.setNotifyValue(true, for: notify)
            peripheral.setNotifyValue(true, for: notify)
            try await c.expect(
                .didUpdateNotificationState(.notifying, true), .didUpdateNotificationState(.notifying, true))
        },
        .central("subscribing does not deliver the current value", proving: "S92") { c in
            let (peripheral, service) = try await c.connect(discovering: .battery)
            let level = try service.characteristic(.batteryLevel)
            try await c.subscribe(to: level, of: peripheral)
            try await c.roundTrip(peripheral, level)
        },
        .central("subscriptions end with the connection", proving: "S93") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            try await c.subscribe(to: service.characteristic(.notifying), of: peripheral)
            try await c.disconnectFromPeer()
            try await c.connect(peripheral)
            let again = try await c.discover(.main, of: peripheral)
            let notify = try again.characteristic(.notifying)
            #expect(!notify.isNotifying)
            try await c.perform(.notify(.notifying, [1]))
            try await c.roundTrip(peripheral, again.characteristic(.readOnly))
            try await c.subscribe(to: notify, of: peripheral)
            try await c.perform(.notify(.notifying, [2]))
            try await c.expect(.didUpdateValue(.notifying, [2]))
        },
        .central("a read and a notification of one characteristic are both delivered", proving: "S68") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let both = try service.characteristic(.notifyingAndIndicating)
            try await c.subscribe(to: both, of: peripheral)
            peripheral.readValue(for: both)
            try await c.expect(.didUpdateValue(.notifyingAndIndicating, [5]))
            try await c.perform(.notify(.notifyingAndIndicating, [6]))
            try await c.expect(.didUpdateValue(.notifyingAndIndicating, [6]))
            peripheral.readValue(for: both)
            try await c.skip(.didUpdateValue(.notifyingAndIndicating))
        },
        .central("one of two managers may unsubscribe", proving: "S94") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let other = try await c.makeOtherPoweredOn()
            let shared = try await other.connect(sharing: peripheral)
            let otherService = try await other.discover(.main, of: shared)
            try await c.subscribe(to: service.characteristic(.notifying), of: peripheral)
            try await other.subscribe(to: otherService.characteristic(.notifying), of: shared)
            try await c.perform(.notify(.notifying, [1]))
            try await c.expect(.didUpdateValue(.notifying, [1]))
            try await other.expect(.didUpdateValue(.notifying, [1]))
            peripheral.setNotifyValue(false, for: try service.characteristic(.notifying))
            try await c.expect(.didUpdateNotificationState(.notifying, false))
            try await c.perform(.notify(.notifying, [2]))
            try await other.expect(.didUpdateValue(.notifying, [2]))
            try await c.roundTrip(peripheral, service.characteristic(.readOnly))
            other.finish()
        },
        .central("an echo notifies the written value", proving: "S68") { c in
            let (peripheral, service) = try await c.connect(discovering: .echoing)
            let echo = try service.characteristic(.echo)
            try await c.subscribe(to: echo, of: peripheral)
            peripheral.writeValue(Data([1, 2]), for: echo, type: .withoutResponse)
            try await c.expect(.didUpdateValue(.echo, [1, 2]))
        },
    ]

    static let describing: [ContractScenario] = [
        .central("descriptor values have the type of their UUID", proving: "S95") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let described = try service.characteristic(.described)
            peripheral.discoverDescriptors(for: described)
            try await c.skip(.didDiscoverDescriptors(.described))
            for descriptor in described.descriptors ?? [] { peripheral.readValue(for: descriptor) }
            try await c.expect(
                .didUpdateDescriptor(.userDescription, .text("described")),
                .didUpdateDescriptor(.presentationFormat, .data([4, 0, 0, 0x27, 1, 0, 0])),
                .didUpdateDescriptor(.ownDescriptor, .data([0x0D])))
        },
        .central("a descriptor is written and read back", proving: "S96") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let described = try service.characteristic(.described)
            peripheral.discoverDescriptors(for: described)
            try await c.skip(.didDiscoverDescriptors(.described))
            let own = try #require(described.descriptors?.last)
            peripheral.writeValue(Data([0x0E, 0x0F]), for: own)
            try await c.expect(.didWriteDescriptor(.ownDescriptor))
            peripheral.readValue(for: own)
            try await c.expect(.didUpdateDescriptor(.ownDescriptor, .data([0x0E, 0x0F])))
        },
    ]

    static let changing: [ContractScenario] = [
        .central("a new service is reported, and another discovery finds it", proving: "S101") { c in
            let peripheral = try await c.connect()
            peripheral.discoverServices(nil)
            try await c.skip(.didDiscoverServices())
            let count = peripheral.services?.count ?? 0
            try await c.perform(.addService)
            try await c.expect(.didModifyServices([]))
            peripheral.discoverServices([CBUUID(.extra)])
            try await c.skip(.didDiscoverServices())
            #expect(peripheral.services?.count == count + 1)
            let added = try #require(peripheral.services?.last)
            peripheral.discoverCharacteristics(nil, for: added)
            try await c.expect(.didDiscoverCharacteristics(.extra, [.extraValue]))
            peripheral.readValue(for: try added.characteristic(.extraValue))
            try await c.expect(.didUpdateValue(.extraValue, [9]))
        },
        .central("a removed service is reported, and the others stay usable", proving: "S101", "S102") { c in
            try await c.perform(.addService)
            let (peripheral, service) = try await c.connect(discovering: .battery)
            _ = try await c.discover(.extra, of: peripheral)
            try await c.perform(.removeService)
            try await c.expect(.didModifyServices([.extra]))
            #expect(peripheral.services?.map(\.contract) == [.battery])
            try await c.roundTrip(peripheral, service.characteristic(.batteryLevel))
        },
        .central("the signal strength of a link can be read", proving: "S98", needs: .connectedRSSI) { c in
            let peripheral = try await c.connect()
            peripheral.readRSSI()
            try await c.expect(.didReadRSSI(isInRange: true))
        },
        .central("the signal strength of a link is answered in its turn", proving: "S66", needs: .connectedRSSI) { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            peripheral.readValue(for: try service.characteristic(.readOnly))
            peripheral.readRSSI()
            peripheral.readValue(for: try service.characteristic(.readOnly))
            try await c.expect(
                .didUpdateValue(.readOnly, [0x0A]), .didReadRSSI(isInRange: true), .didUpdateValue(.readOnly, [0x0A]))
        },
        .central("a channel that cannot be opened is an error", proving: "S148", needs: .channels) { c in
            let peripheral = try await c.connect()
            peripheral.openL2CAPChannel(0x81)
            try await c.expect(.didOpen(.none).failing(.operationNotSupported))
        },
    ]
}
