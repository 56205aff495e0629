import CoreBluetooth
import Testing

extension ContractScenario {
    static let subscribing: [ContractScenario] = [
        .peripheral("a subscription is reported with the central already in the list", proving: "S136", "S162") { p in
            let service = try await p.serve()
            try await p.subscribe(.updating)
            #expect(try service.mutable(.updating).subscribedCentrals?.count == 1)
            try await p.unsubscribe(.updating)
            #expect(try service.mutable(.updating).subscribedCentrals?.isEmpty == true)
        },
        .peripheral("a central that disconnects is unsubscribed from everything", proving: "S136") { p in
            _ = try await p.serve()
            try await p.subscribe(.updating)
            try await p.subscribe(.updatingByIndication)
            try await p.one.disconnect()
            try await p.expect(
                .didUnsubscribe(.updating, subscribers: 0), .didUnsubscribe(.updatingByIndication, subscribers: 0))
        },
        .peripheral("values arrive in order, equal values too", proving: "S137") { p in
            let service = try await p.serve()
            let notify = try service.mutable(.updating)
            try await p.subscribe(.updating)
            for byte in [1, 1, 2] as [UInt8] {
                #expect(p.update(notify, [byte]))
            }
            try await p.one.expect(.notified(.updating, [1]), .notified(.updating, [1]), .notified(.updating, [2]))
        },
        .peripheral("indications arrive, one after the other", proving: "S137") { p in
            let service = try await p.serve()
            let indicate = try service.mutable(.updatingByIndication)
            try await p.subscribe(.updatingByIndication)
            for byte in UInt8(1)...3 {
                #expect(p.update(indicate, [byte]))
            }
            try await p.one.expect(
                .notified(.updatingByIndication, [1]), .notified(.updatingByIndication, [2]),
                .notified(.updatingByIndication, [3]))
        },
        .peripheral("an update without subscribers succeeds and sends nothing", proving: "S138") { p in
            let service = try await p.serve()
            let notify = try service.mutable(.updating)
            #expect(p.update(notify, [1]))
            try await p.roundTrip()
        },
        .peripheral("a value goes to all subscribers, or to those in the list", proving: "S138") { p in
            let service = try await p.serve()
            let notify = try service.mutable(.updating)
            try await p.two.connect()
            try await p.subscribe(.updating)
            try await p.subscribe(.updating, by: p.two, subscribers: 2)
            let centrals = try #require(notify.subscribedCentrals)
            #expect(p.update(notify, [1]))
            #expect(p.update(notify, [2], to: [centrals[1]]))
            #expect(p.update(notify, [3], to: [centrals[0]]))
            try await p.one.expect(.notified(.updating, [1]), .notified(.updating, [3]))
            try await p.two.expect(.notified(.updating, [1]), .notified(.updating, [2]))
        },
        .peripheral("a listed central without a subscription is skipped", proving: "S138") { p in
            let service = try await p.serve()
            let notify = try service.mutable(.updating)
            try await p.subscribe(.updating)
            let central = try #require(notify.subscribedCentrals?.first)
            try await p.one.perform(.subscribe(.updating, false))
            try await p.expect(.didUnsubscribe(.updating, subscribers: 0))
            #expect(p.update(notify, [1], to: [central]))
            try await p.one.expect(.subscribed(.updating, false))
            try await p.roundTrip()
        },
        .peripheral("one of two centrals may unsubscribe", proving: "S136") { p in
            let service = try await p.serve()
            try await p.two.connect()
            try await p.subscribe(.updating)
            try await p.subscribe(.updating, by: p.two, subscribers: 2)
            try await p.one.perform(.subscribe(.updating, false))
            try await p.expect(.didUnsubscribe(.updating, subscribers: 1))
            try await p.one.expect(.subscribed(.updating, false))
            #expect(
                p.update(try service.mutable(.updating), [1]))
            try await p.two.expect(.notified(.updating, [1]))
            try await p.roundTrip()
        },
        .peripheral("a full queue refuses a value, and reports when there is room", proving: "S137") { p in
            let service = try await p.serve()
            let notify = try service.mutable(.updating)
            try await p.subscribe(.updating)
            let update = { p.update(notify, [$0]) }
            // In one block on the queue on which the app would learn that there is room again.
            let (sent, isRoom) = p.queue.sync {
                var sent = 0
                while sent < 10_000, update(1) { sent += 1 }
                return (sent, update(2))
            }
            #expect((1..<10_000).contains(sent) && !isRoom)
            try await p.wait("ready") { [trace = p.trace] in trace.readyCount > 0 }
            #expect(update(1))
            try await p.one.expect(sent + 1, of: .notified(.updating, [1]))
            try await p.roundTrip()
        },
        .peripheral("a server that sends one value per ready callback loses none", proving: "S137") { p in
            let service = try await p.serve()
            let notify = try service.mutable(.updating)
            try await p.subscribe(.updating)
            for byte in UInt8(1)...30 {
                let count = p.trace.readyCount
                #expect(p.update(notify, [byte]))
                try await p.wait("ready") { [trace = p.trace] in trace.readyCount > count }
            }
            for byte in UInt8(1)...30 { try await p.one.expect(.notified(.updating, [byte])) }
            try await p.roundTrip()
        },
        .peripheral("a value is cut to its central's maximum length", proving: "S139", "S140") { p in
            let service = try await p.serve()
            let notify = try service.mutable(.updating)
            try await p.subscribe(.updating)
            let longest = try #require(notify.subscribedCentrals?.first).maximumUpdateValueLength
            #expect(longest == (try await p.one.perform(.mtu).count - 3))
            #expect(p.update(notify, Data(count: longest)))
            #expect(p.update(notify, Data(count: longest + 1)))
            try await p.one.expect(2, of: .notified(.updating, Data(count: longest)))
        },
        .peripheral("a request for another latency disturbs nothing", proving: "S140") { p in
            let service = try await p.serve()
            try await p.subscribe(.updating)
            let central = try #require(try service.mutable(.updating).subscribedCentrals?.first)
            for latency in [.low, .high, .medium] as [CBPeripheralManagerConnectionLatency] {
                p.manager.setDesiredConnectionLatency(latency, for: central)
                try await p.roundTrip()
            }
        },
        .peripheral("an unpublished characteristic cannot be updated", proving: "S137") { p in
            try await p.powerOn()
            let foreign = LocalServices.dynamic(.updating, .notify, [])
            #expect(!p.update(foreign, [1]))
        },
        .peripheral("removing a service ends its subscriptions", proving: "S113", "S136") { p in
            let service = try await p.serve()
            try await p.subscribe(.updating)
            p.manager.remove(service)
            try await p.one.expect(.servicesChanged(removed: [.served]))
            #expect(
                !p.update(try service.mutable(.updating), [1]))
            try await p.one.disconnect()
        },
    ]
}
