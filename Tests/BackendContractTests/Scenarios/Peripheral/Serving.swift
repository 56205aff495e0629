import CoreBluetooth
import Testing

extension ContractScenario {
    static let servingReads: [ContractScenario] = [
        .peripheral("a static value is served without a callback", proving: "S108") { p in
            _ = try await p.serve()
            try await p.one.read(.constant, expecting: "static")
        },
        .peripheral("a description and a format are served, and the system adds the rest", proving: "S115", "S95") {
            p in
            let described = LocalServices.dynamic(.documented, [.read, .notify], .readable)
            described.descriptors = [
                CBMutableDescriptor(type: CBUUID(.userDescription), value: "text"),
                CBMutableDescriptor(type: CBUUID(.presentationFormat), value: Data([4, 0, 0, 0x27, 1, 0, 0])),
            ]
            _ = try await p.serve(LocalServices.service(.served, [described]))
            try await p.one.perform(.descriptors(.documented))
            try await p.one.expect(
                .descriptors(
                    .documented,
                    [
                        .userDescription: Data("text".utf8), .clientConfiguration: [0, 0],
                        .presentationFormat: [4, 0, 0, 0x27, 1, 0, 0],
                    ]))
        },
        .peripheral("a read request reaches the app without a value", proving: "S125") { p in
            let service = try await p.serve()
            try await p.one.perform(.read(.dynamic))
            let request = try await p.receiveRead()
            #expect(request.characteristic === (try service.mutable(.dynamic)))
            request.value = Data("hello".utf8)
            p.manager.respond(to: request, withResult: .success)
            try await p.one.expect(.read(.dynamic, Data("hello".utf8)))
        },
        .peripheral("requests after a read wait for its response", proving: "S126") { p in
            _ = try await p.serve()
            try await p.one.perform(.read(.dynamic))
            try await p.one.perform(.read(.constant))
            try await p.answerRead(with: [1])
            try await p.one.expect(.read(.dynamic, [1]), .read(.constant, Data("static".utf8)))
        },
        .peripheral("an empty value is a value", proving: "S125") { p in
            _ = try await p.serve()
            try await p.one.perform(.read(.dynamic))
            try await p.answerRead(with: Data())
            try await p.one.expect(.read(.dynamic, Data()))
        },
        .peripheral("the app's error codes reach the central unchanged", proving: "S127", "S163") { p in
            _ = try await p.serve()
            for number in [7, 14, 0x80, 0x85, 0xFC] as [UInt8] {
                try await p.one.perform(.read(.dynamic))
                p.manager.respond(to: try await p.receiveRead(), withResult: .number(number))
                try await p.one.expect(.read(.dynamic).failing(response: .number(number)))
            }
        },
        .peripheral("a long value is requested in parts, each cut to the MTU", proving: "S128") { p in
            _ = try await p.serve()
            let piece = try await p.one.perform(.mtu).count - 1
            let value = Data(repeating: 7, count: piece + 10)
            try await p.one.perform(.read(.dynamic))
            try await p.answerRead(with: value)
            try await p.answerRead(offset: piece, with: value)
            try await p.one.expect(.read(.dynamic, value))
        },
        .peripheral("an exact multiple of the part length needs one more read", proving: "S128", "S127") { p in
            _ = try await p.serve()
            let piece = try await p.one.perform(.mtu).count - 1
            let value = Data(repeating: 7, count: 2 * piece)
            try await p.one.perform(.read(.dynamic))
            for offset in [0, piece, 2 * piece] {
                try await p.answerRead(offset: offset, with: value)
            }
            try await p.one.expect(.read(.dynamic, value))
        },
        .peripheral("an error in the middle of a long read fails the read", proving: "S127") { p in
            _ = try await p.serve()
            let piece = try await p.one.perform(.mtu).count - 1
            try await p.one.perform(.read(.dynamic))
            try await p.answerRead(with: Data(count: piece))
            try await p.expect(.didReceiveRead(.dynamic, at: piece))
            p.manager.respond(to: try p.nextRead(), withResult: .invalidOffset)
            try await p.one.expect(.read(.dynamic).failing(response: .invalidOffset))
        },
        .peripheral("requests without permission are refused without a callback", proving: "S129", "S109") { p in
            _ = try await p.serve()
            try await p.one.perform(.read(.locked))
            try await p.one.perform(.write(.locked, [1]))
            try await p.one.expect(
                .read(.locked).failing(response: .readNotPermitted),
                .wrote(.locked).failing(response: .writeNotPermitted))
        },
        .peripheral("a second response is ignored", proving: "S134") { p in
            _ = try await p.serve()
            try await p.one.perform(.read(.dynamic))
            let request = try await p.receiveRead()
            request.value = Data([1])
            p.manager.respond(to: request, withResult: .success)
            p.manager.respond(to: request, withResult: .readNotPermitted)
            try await p.one.expect(.read(.dynamic, [1]))
            try await p.roundTrip()
        },
        .peripheral(
            "a read without a response ends the link after 30 seconds", proving: "S134",
            emulatorOnly: "bluetoothd responds in place of the app after five seconds"
        ) { p in
            _ = try await p.serve()
            try await p.one.perform(.read(.dynamic))
            try await p.expect(.didReceiveRead(.dynamic))
            try await p.one.expect(.disconnected("timeout"))
            try p.respondToRead(with: [1])
            try await p.one.connect()
            try await p.roundTrip()
        },
    ]

    static let servingWrites: [ContractScenario] = [
        .peripheral("a write is answered once, by its first request", proving: "S130") { p in
            _ = try await p.serve()
            try await p.one.perform(.write(.dynamic, [1, 2]))
            try await p.expect(.didReceiveWrite(.dynamic, [1, 2]))
            try p.respondToWrite()
            try await p.one.expect(.wrote(.dynamic))
            try await p.one.perform(.write(.dynamicWriteOnly, Data()))
            try await p.expect(.didReceiveWrite(.dynamicWriteOnly, Data()))
            try p.respondToWrite(.invalidAttributeValueLength)
            try await p.one.expect(.wrote(.dynamicWriteOnly).failing(response: .invalidAttributeValueLength))
        },
        .peripheral("a long write is one callback with several requests", proving: "S131", "S130") { p in
            _ = try await p.serve()
            try await p.one.perform(.write(.dynamic, LocalServices.longValue))
            try await p.expect(.didReceiveWrite(.dynamic, LocalServices.longValue, inPartsOf: 180))
            try p.respondToWrite()
            try await p.one.expect(.wrote(.dynamic))
        },
        .peripheral("a response to any part refuses the whole write", proving: "S130") { p in
            _ = try await p.serve()
            try await p.one.perform(.write(.dynamic, Data(count: 400)))
            try await p.skip(.didReceiveWrite(.dynamic))
            p.manager.respond(to: try #require(try p.nextWrite().last), withResult: .invalidOffset)
            try await p.one.expect(.wrote(.dynamic).failing(response: .invalidOffset))
        },
        .peripheral("a write command reaches the app, and its response is ignored", proving: "S132") { p in
            _ = try await p.serve()
            for byte in UInt8(1)...3 { try await p.one.perform(.command(.commandOnly, [byte])) }
            for byte in UInt8(1)...3 {
                try await p.expect(.didReceiveWrite(.commandOnly, [byte]))
                try p.respondToWrite(byte == 2 ? .writeNotPermitted : .success)
            }
            try await p.roundTrip()
        },
        .peripheral("the system does not store a written value", proving: "S133") { p in
            let service = try await p.serve()
            try await p.one.perform(.write(.dynamic, [5]))
            try await p.expect(.didReceiveWrite(.dynamic, [5]))
            #expect(try service.mutable(.dynamic).value == nil)
            try p.respondToWrite()
            try await p.one.expect(.wrote(.dynamic))
            #expect(try service.mutable(.dynamic).value == nil)
        },
        .peripheral("a write without a response delays only its own central", proving: "S134") { p in
            _ = try await p.serve()
            try await p.two.connect()
            try await p.one.perform(.write(.dynamic, [1]))
            try await p.expect(.didReceiveWrite(.dynamic, [1]))
            try await p.two.perform(.read(.dynamic))
            try await p.expect(.didReceiveRead(.dynamic))
            let write = try p.nextWrite()
            try p.respondToRead(with: [2])
            try await p.two.expect(.read(.dynamic, [2]))
            p.manager.respond(to: try #require(write.first), withResult: .success)
            try await p.one.expect(.wrote(.dynamic))
        },
    ]

    static let servingMany: [ContractScenario] = [
        .peripheral("connections and disconnections of centrals have no callback", proving: "S135") { p in
            _ = try await p.serve()
            try await p.one.disconnect()
            try await p.one.connect()
            try await p.roundTrip()
        },
        .peripheral("two centrals are distinguished, and answered in any order", proving: "S125", "S126") { p in
            _ = try await p.serve()
            try await p.two.connect()
            try await p.one.perform(.read(.dynamic))
            try await p.expect(.didReceiveRead(.dynamic))
            try await p.two.perform(.read(.dynamic))
            try await p.expect(.didReceiveRead(.dynamic))
            let (first, second) = (try p.nextRead(), try p.nextRead())
            #expect(first.central.identifier != second.central.identifier)
            second.value = Data([2])
            p.manager.respond(to: second, withResult: .success)
            try await p.two.expect(.read(.dynamic, [2]))
            first.value = Data([1])
            p.manager.respond(to: first, withResult: .success)
            try await p.one.expect(.read(.dynamic, [1]))
        },
        .peripheral("a central keeps its identity from one connection to the next", proving: "S125") { p in
            _ = try await p.serve()
            var centrals: [CBCentral] = []
            for _ in 0..<2 {
                try await p.one.perform(.read(.dynamic))
                let request = try await p.receiveRead()
                centrals.append(request.central)
                p.manager.respond(to: request, withResult: .success)
                try await p.one.expect(.read(.dynamic, Data()))
                try await p.one.disconnect()
                try await p.one.connect()
            }
            #expect(Set(centrals.map(\.identifier)).count == 1)
        },
        .peripheral("each manager receives the requests of its own services", proving: "S106", "S125") { p in
            let other = p.makeOther()
            _ = try await p.publish(
                LocalServices.service(.served, [LocalServices.dynamic(.dynamic, .read, .readable)]))
            _ = try await other.publish(
                LocalServices.service(.other, [LocalServices.dynamic(.otherValue, .read, .readable)]))
            try await p.one.perform(.connect(service: .served))
            try await p.two.perform(.connect(service: .other))
            try await p.one.expect(.connected)
            try await p.two.expect(.connected)
            try await p.one.perform(.read(.dynamic))
            try await p.two.perform(.read(.otherValue))
            try await p.expect(.didReceiveRead(.dynamic))
            try await other.expect(.didReceiveRead(.otherValue))
            try p.respondToRead(with: [1])
            try other.respondToRead(with: [2])
            try await p.one.expect(.read(.dynamic, [1]))
            try await p.two.expect(.read(.otherValue, [2]))
            other.finish()
        },
    ]
}
