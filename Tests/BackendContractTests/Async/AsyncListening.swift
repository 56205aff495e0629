import AsyncBluetooth
import CoreBluetooth
import Testing

extension AsyncScenario {
    private static let notified = CharacteristicID(.main, .notifying)
    private static let echo = CharacteristicID(.echoing, .echo)

    static let listening = [
        AsyncScenario("notifications arrive in order") { c in
            let peripheral = try await c.find()
            let values = try await c.run { try await peripheral.subscribe(to: notified) }
            for number in UInt8(0)..<10 { try await c.perform(.notify(.notifying, [number])) }
            #expect(try await c.run { try await values.first(10) } == (UInt8(0)..<10).map { Data([$0]) })
        },
        AsyncScenario("indications arrive") { c in
            let peripheral = try await c.find()
            let values = try await c.run {
                try await peripheral.subscribe(to: CharacteristicID(.main, .indicating))
            }
            try await c.perform(.notify(.indicating, [4]))
            #expect(try await c.run { try await values.first(1) } == [Data([4])])
        },
        AsyncScenario("each consumer of notifications receives each value") { c in
            let peripheral = try await c.find()
            let (one, other) = try await c.run {
                (try await peripheral.subscribe(to: notified), try await peripheral.subscribe(to: notified))
            }
            try await c.perform(.notify(.notifying, [1]))
            let both = try await c.run { try await one.first(1) + other.first(1) }
            #expect(both == [Data([1]), Data([1])])
        },
        AsyncScenario("a second subscription follows the first") { c in
            let peripheral = try await c.find()
            for number in UInt8(1)...2 {
                let values = try await c.run { try await peripheral.subscribe(to: notified) }
                try await c.perform(.notify(.notifying, [number]))
                #expect(try await c.run { try await values.first(1) } == [Data([number])])
            }
        },
        AsyncScenario("a notification does not answer a read") { c in
            let peripheral = try await c.find()
            let id = CharacteristicID(.main, .notifyingAndIndicating)
            let values = try await c.run { try await peripheral.subscribe(to: id) }
            try await c.perform(.notify(.notifyingAndIndicating, [0x51]))
            let (heard, read) = try await c.run { (try await values.first(1), try await peripheral.read(id)) }
            #expect(heard == [Data([0x51])])
            #expect(read == Data([5]) || read == Data([0x51]))
        },
        AsyncScenario("an exchange returns the notification that answers the write") { c in
            let peripheral = try await c.find()
            let answers = try await c.run {
                [
                    try await peripheral.exchange(Data([1, 2]), writingTo: echo, notifiedBy: echo),
                    try await peripheral.exchange(Data([3]), writingTo: echo, notifiedBy: echo) { $0.count == 1 },
                ]
            }
            #expect(answers == [Data([1, 2]), Data([3])])
        },
        AsyncScenario("a missing notification times out with its path") { c in
            let peripheral = try await c.find()
            let error = try await c.failure {
                try await withTimeout(.seconds(5)) { try await peripheral.notifications(of: notified).first(1) }
            }
            guard case .timedOut(.seconds(5)) = error.reason else { throw error }
            #expect(error.operation == .notifications)
            #expect(error.path == notified.description)
        },
    ]
}
