import AsyncBluetooth
import CoreBluetooth
import Testing

extension AsyncScenario {
    private static let stored = CharacteristicID(.main, .stored)
    private static let notified = CharacteristicID(.main, .notifying)

    static let losing = [
        AsyncScenario("disconnect ends the link") { c in
            let peripheral = try await c.find()
            try await c.run {
                try await peripheral.connect()
                await peripheral.disconnect()
            }
            #expect(peripheral.state == .disconnected)
        },
        AsyncScenario("disconnect cancels the operations in progress") { c in
            let peripheral = try await c.find()
            _ = try await c.run { try await peripheral.read(stored) }
            try await c.perform(.hold(true))
            let reading = c.start { try await peripheral.read(stored) }
            try await c.perform(.awaitHeldRead)
            try await c.run { await peripheral.disconnect() }
            let error = try await c.failure { try await reading.value }
            guard case .cancelled = error.reason else { throw error }
            try await c.perform(.hold(false))
        },
        AsyncScenario("a lost link ends notifications by throwing") { c in
            let peripheral = try await c.find()
            let values = try await c.run { try await peripheral.subscribe(to: notified) }
            try await c.perform(.lose())
            let error = try await c.failure { try await values.first(1) }
            guard case .disconnected = error.reason else { throw error }
            #expect(error.path == notified.description)
        },
        AsyncScenario("after the device closes the link, the next operation connects again") { c in
            let peripheral = try await c.find()
            let values = try await c.run { try await peripheral.subscribe(to: notified) }
            try await c.perform(.disconnect)
            _ = try await c.failure { try await values.first(1) }
            #expect(try await c.run { try await peripheral.read(stored) } == Data("hello".utf8))
        },
        AsyncScenario("a maintained connection subscribes again on the next link") { c in
            let peripheral = try await c.find()
            let isUp = c.start {
                var connections = 0
                for await event in peripheral.maintainConnection(.backoff(initial: .milliseconds(100))) {
                    if case .connected = event { connections += 1 }
                    if connections == 2 { return }
                }
            }
            let values = try await c.run { try await peripheral.subscribe(to: notified) }
            try await c.perform(.disconnect)
            try await c.run { try await isUp.value }
            try await c.perform(.notify(.notifying, [2]))
            #expect(try await c.run { try await values.first(1) } == [Data([2])])
        },
        AsyncScenario("operations fail while the adapter is off, and succeed when it is on again") { c in
            let peripheral = try await c.find()
            try await c.perform(.adapter(isPowered: false))
            try await c.run { [central = c.central] in
                for await state in central.states where state == .poweredOff { break }
            }
            let error = try await c.failure { try await peripheral.read(stored) }
            guard case .unavailable(.poweredOff) = error.reason else { throw error }
            try await c.perform(.adapter(isPowered: true))
            let value = try await c.run { [central = c.central] in
                for await state in central.states where state == .poweredOn { break }
                return try await peripheral.read(stored)
            }
            #expect(value == Data("hello".utf8))
        },
    ]
}
