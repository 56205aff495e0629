import CoreBluetooth
import Testing

extension ContractScenario {
    static let subscribing: [ContractScenario] = [
        ContractScenario(peripheral: "S136 S162: a subscription is told, with the central in the list already") { p in
            let service = try await p.serve()
            try await p.subscribe("C0DE1003")
            #expect(try service.mutable("C0DE1003").subscribedCentrals?.count == 1)
            try await p.one.perform(.subscribe("C0DE1003", false))
            try await p.expect("didUnsubscribe C0DE1003 of 0")
            try await p.one.expect("subscribed C0DE1003 false")
            #expect(try service.mutable("C0DE1003").subscribedCentrals?.isEmpty == true)
        },
        ContractScenario(peripheral: "S136: a central that leaves is unsubscribed from everything") { p in
            _ = try await p.serve()
            try await p.subscribe("C0DE1003")
            try await p.subscribe("C0DE1004")
            try await p.one.perform(.disconnect)
            try await p.one.expect("disconnected local")
            try await p.expect("didUnsubscribe C0DE1003 of 0", "didUnsubscribe C0DE1004 of 0")
        },
        ContractScenario(peripheral: "S137: values arrive in order, equal ones too") { p in
            let service = try await p.serve()
            let notify = try service.mutable("C0DE1003")
            try await p.subscribe("C0DE1003")
            for byte in [1, 1, 2] as [UInt8] {
                #expect(p.manager.updateValue(Data([byte]), for: notify, onSubscribedCentrals: nil))
            }
            try await p.one.expect("notified C0DE1003 01", "notified C0DE1003 01", "notified C0DE1003 02")
        },
        ContractScenario(peripheral: "S137: indications arrive, one after the other") { p in
            let service = try await p.serve()
            let indicate = try service.mutable("C0DE1004")
            try await p.subscribe("C0DE1004")
            for byte in UInt8(1)...3 {
                #expect(p.manager.updateValue(Data([byte]), for: indicate, onSubscribedCentrals: nil))
            }
            try await p.one.expect("notified C0DE1004 01", "notified C0DE1004 02", "notified C0DE1004 03")
        },
        ContractScenario(peripheral: "S138: without subscribers nothing is sent, and that is well") { p in
            let service = try await p.serve()
            let notify = try service.mutable("C0DE1003")
            #expect(p.manager.updateValue(Data([1]), for: notify, onSubscribedCentrals: nil))
            try await p.fence()
        },
        ContractScenario(peripheral: "S138: a value goes to all subscribers, or to those that are listed") { p in
            let service = try await p.serve()
            let notify = try service.mutable("C0DE1003")
            try await p.two.perform(.connect(service: "C0DE1000"))
            try await p.two.expect("connected")
            try await p.subscribe("C0DE1003")
            try await p.two.perform(.subscribe("C0DE1003"))
            try await p.expect("didSubscribe C0DE1003 of 2")
            try await p.two.expect("subscribed C0DE1003 true")
            let centrals = try #require(notify.subscribedCentrals)
            #expect(p.manager.updateValue(Data([1]), for: notify, onSubscribedCentrals: nil))
            #expect(p.manager.updateValue(Data([2]), for: notify, onSubscribedCentrals: [centrals[1]]))
            #expect(p.manager.updateValue(Data([3]), for: notify, onSubscribedCentrals: [centrals[0]]))
            try await p.one.expect("notified C0DE1003 01", "notified C0DE1003 03")
            try await p.two.expect("notified C0DE1003 01", "notified C0DE1003 02")
        },
        ContractScenario(peripheral: "S138: a central that is listed but does not subscribe is left out") { p in
            let service = try await p.serve()
            let notify = try service.mutable("C0DE1003")
            try await p.subscribe("C0DE1003")
            let central = try #require(notify.subscribedCentrals?.first)
            try await p.one.perform(.subscribe("C0DE1003", false))
            try await p.expect("didUnsubscribe C0DE1003 of 0")
            #expect(p.manager.updateValue(Data([1]), for: notify, onSubscribedCentrals: [central]))
            try await p.one.expect("subscribed C0DE1003 false")
            try await p.fence()
        },
        ContractScenario(peripheral: "S136: one of two centrals may unsubscribe") { p in
            let service = try await p.serve()
            try await p.two.perform(.connect(service: "C0DE1000"))
            try await p.two.expect("connected")
            try await p.subscribe("C0DE1003")
            try await p.two.perform(.subscribe("C0DE1003"))
            try await p.expect("didSubscribe C0DE1003 of 2")
            try await p.two.expect("subscribed C0DE1003 true")
            try await p.one.perform(.subscribe("C0DE1003", false))
            try await p.expect("didUnsubscribe C0DE1003 of 1")
            try await p.one.expect("subscribed C0DE1003 false")
            #expect(
                p.manager.updateValue(Data([1]), for: try service.mutable("C0DE1003"), onSubscribedCentrals: nil))
            try await p.two.expect("notified C0DE1003 01")
            try await p.fence()
        },
        ContractScenario(peripheral: "S137: a full queue refuses, and says that there is room") { p in
            let service = try await p.serve()
            let notify = try service.mutable("C0DE1003")
            try await p.subscribe("C0DE1003")
            let update = { p.manager.updateValue(Data([$0]), for: notify, onSubscribedCentrals: nil) }
            // In one turn of the queue on which it would be told that there is room again.
            let (sent, isRoom) = p.queue.sync {
                var sent = 0
                while sent < 10_000, update(1) { sent += 1 }
                return (sent, update(2))
            }
            #expect((1..<10_000).contains(sent) && !isRoom)
            try await p.wait("ready") { [trace = p.trace] in trace.readyCount > 0 }
            #expect(update(1))
            try await p.one.expect(sent + 1, of: "notified C0DE1003 01")
            try await p.fence()
        },
        ContractScenario(peripheral: "S137: a server that sends one value for each ready sends all") { p in
            let service = try await p.serve()
            let notify = try service.mutable("C0DE1003")
            try await p.subscribe("C0DE1003")
            for byte in UInt8(1)...30 {
                let count = p.trace.readyCount
                #expect(p.manager.updateValue(Data([byte]), for: notify, onSubscribedCentrals: nil))
                try await p.wait("ready") { [trace = p.trace] in trace.readyCount > count }
            }
            for byte in UInt8(1)...30 { try await p.one.expect("notified C0DE1003 \(Data([byte]).hex)") }
            try await p.fence()
        },
        ContractScenario(peripheral: "S139 S140: a value is cut to what its central takes") { p in
            let service = try await p.serve()
            let notify = try service.mutable("C0DE1003")
            try await p.subscribe("C0DE1003")
            let longest = try #require(notify.subscribedCentrals?.first).maximumUpdateValueLength
            #expect(longest == (try await p.one.perform(.mtu).count - 3))
            #expect(p.manager.updateValue(Data(count: longest), for: notify, onSubscribedCentrals: nil))
            #expect(p.manager.updateValue(Data(count: longest + 1), for: notify, onSubscribedCentrals: nil))
            try await p.one.expect(2, of: "notified C0DE1003 \(longest) bytes")
        },
        ContractScenario(peripheral: "S140: a wish for another latency harms nothing") { p in
            let service = try await p.serve()
            try await p.subscribe("C0DE1003")
            let central = try #require(try service.mutable("C0DE1003").subscribedCentrals?.first)
            for latency in [.low, .high, .medium] as [CBPeripheralManagerConnectionLatency] {
                p.manager.setDesiredConnectionLatency(latency, for: central)
                try await p.fence()
            }
        },
        ContractScenario(peripheral: "S137: what is not published cannot be updated") { p in
            try await p.powerOn()
            let foreign = LocalServices.dynamic("C0DE1003", .notify, [])
            #expect(!p.manager.updateValue(Data([1]), for: foreign, onSubscribedCentrals: nil))
        },
        ContractScenario(peripheral: "S113 S136: a service that goes takes its subscriptions along") { p in
            let service = try await p.serve()
            try await p.subscribe("C0DE1003")
            p.manager.remove(service)
            try await p.one.expect(#"services changed -["C0DE1000"] +[]"#)
            #expect(
                !p.manager.updateValue(Data([1]), for: try service.mutable("C0DE1003"), onSubscribedCentrals: nil))
            try await p.one.perform(.disconnect)
            try await p.one.expect("disconnected local")
        },
    ]
}
