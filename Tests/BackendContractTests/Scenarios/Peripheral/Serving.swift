import CoreBluetooth
import Testing

extension ContractScenario {
    static let serving = servingReads + servingWrites + servingMany

    private static let servingReads: [ContractScenario] = [
        ContractScenario(peripheral: "S108: a static value is served without the app") { p in
            _ = try await p.serve()
            try await p.one.perform(.read("C0DE1002"))
            try await p.one.expect("read C0DE1002 737461746963")
        },
        ContractScenario(peripheral: "S115 S95: a description and a format are served, the rest made by the system") {
            p in
            let described = LocalServices.dynamic("C0DE100A", [.read, .notify], .readable)
            described.descriptors = [
                CBMutableDescriptor(type: CBUUID(string: "2901"), value: "text"),
                CBMutableDescriptor(type: CBUUID(string: "2904"), value: Data([4, 0, 0, 0x27, 1, 0, 0])),
            ]
            _ = try await p.serve(LocalServices.service("C0DE1000", [described]))
            try await p.one.perform(.descriptors("C0DE100A"))
            try await p.one.expect("descriptors C0DE100A 2901=74657874 2902=0000 2904=04000027010000")
        },
        ContractScenario(peripheral: "S125: a read asks the app, without a value") { p in
            let service = try await p.serve()
            try await p.one.perform(.read("C0DE1001"))
            try await p.expect("didReceiveRead C0DE1001 @0")
            let request = try p.takeRead()
            #expect(request.characteristic === (try service.mutable("C0DE1001")))
            request.value = Data("hello".utf8)
            p.manager.respond(to: request, withResult: .success)
            try await p.one.expect("read C0DE1001 68656C6C6F")
        },
        ContractScenario(peripheral: "S126: what comes after a read waits for its answer") { p in
            _ = try await p.serve()
            try await p.one.perform(.read("C0DE1001"))
            try await p.one.perform(.read("C0DE1002"))
            try await p.expect("didReceiveRead C0DE1001 @0")
            try p.answerRead(Data([1]))
            try await p.one.expect("read C0DE1001 01", "read C0DE1002 737461746963")
        },
        ContractScenario(peripheral: "S125: an empty value is a value") { p in
            _ = try await p.serve()
            try await p.one.perform(.read("C0DE1001"))
            try await p.expect("didReceiveRead C0DE1001 @0")
            try p.answerRead(Data())
            try await p.one.expect("read C0DE1001 ")
        },
        ContractScenario(peripheral: "S127 S163: the app's error codes reach the central unchanged") { p in
            _ = try await p.serve()
            for code in [7, 14, 0x80, 0x85, 0xFC] {
                try await p.one.perform(.read("C0DE1001"))
                try await p.expect("didReceiveRead C0DE1001 @0")
                let code = try #require(CBATTError.Code(rawValue: code))
                p.manager.respond(to: try p.takeRead(), withResult: code)
                try await p.one.expect("read C0DE1001 ! \(code.rawValue)")
            }
        },
        ContractScenario(peripheral: "S128: a long value is asked for piece by piece, and cut to what fits") { p in
            _ = try await p.serve()
            let piece = try await p.one.perform(.mtu).count - 1
            let value = Data(repeating: 7, count: piece + 10)
            try await p.one.perform(.read("C0DE1001"))
            try await p.expect("didReceiveRead C0DE1001 @0")
            try p.answerRead(value)
            try await p.expect("didReceiveRead C0DE1001 @\(piece)")
            try p.answerRead(value)
            try await p.one.expect("read C0DE1001 \(piece + 10) bytes")
        },
        ContractScenario(peripheral: "S128 S127: an exact multiple costs one more read, at the value's end") { p in
            _ = try await p.serve()
            let piece = try await p.one.perform(.mtu).count - 1
            let value = Data(repeating: 7, count: 2 * piece)
            try await p.one.perform(.read("C0DE1001"))
            for offset in [0, piece, 2 * piece] {
                try await p.expect("didReceiveRead C0DE1001 @\(offset)")
                try p.answerRead(value)
            }
            try await p.one.expect("read C0DE1001 \(2 * piece) bytes")
        },
        ContractScenario(peripheral: "S127: an error in the middle of a long value is the read's") { p in
            _ = try await p.serve()
            let piece = try await p.one.perform(.mtu).count - 1
            try await p.one.perform(.read("C0DE1001"))
            try await p.expect("didReceiveRead C0DE1001 @0")
            try p.answerRead(Data(count: piece))
            try await p.expect("didReceiveRead C0DE1001 @\(piece)")
            p.manager.respond(to: try p.takeRead(), withResult: .invalidOffset)
            try await p.one.expect("read C0DE1001 ! 7")
        },
        ContractScenario(peripheral: "S129 S109: what is not permitted is refused without the app") { p in
            _ = try await p.serve()
            try await p.one.perform(.read("C0DE1006"))
            try await p.one.perform(.write("C0DE1006", Data([1])))
            try await p.one.expect("read C0DE1006 ! 2", "wrote C0DE1006 ! 3")
        },
        ContractScenario(peripheral: "S134: a second answer is ignored") { p in
            _ = try await p.serve()
            try await p.one.perform(.read("C0DE1001"))
            try await p.expect("didReceiveRead C0DE1001 @0")
            let request = try p.takeRead()
            request.value = Data([1])
            p.manager.respond(to: request, withResult: .success)
            p.manager.respond(to: request, withResult: .readNotPermitted)
            try await p.one.expect("read C0DE1001 01")
            try await p.fence()
        },
        ContractScenario(
            peripheral: "S134: a read that is never answered ends the link after 30 seconds",
            emulatorOnly: "bluetoothd responds in place of the app after five seconds"
        ) { p in
            _ = try await p.serve()
            try await p.one.perform(.read("C0DE1001"))
            try await p.expect("didReceiveRead C0DE1001 @0")
            try await p.one.expect("disconnected timeout")
            try p.answerRead(Data([1]))
            try await p.one.perform(.connect(service: "C0DE1000"))
            try await p.one.expect("connected")
            try await p.fence()
        },
    ]

    private static let servingWrites: [ContractScenario] = [
        ContractScenario(peripheral: "S130: a write is answered once, with the first of its requests") { p in
            _ = try await p.serve()
            try await p.one.perform(.write("C0DE1001", Data([1, 2])))
            try await p.expect("didReceiveWrite C0DE1001 @0 0102")
            try p.answerWrite()
            try await p.one.expect("wrote C0DE1001")
            try await p.one.perform(.write("C0DE1009", Data()))
            try await p.expect("didReceiveWrite C0DE1009 @0 ")
            try p.answerWrite(.invalidAttributeValueLength)
            try await p.one.expect("wrote C0DE1009 ! 13")
        },
        ContractScenario(peripheral: "S131 S130: a long write is one callback of many parts") { p in
            _ = try await p.serve()
            let value = Data((0..<400).map { UInt8($0 % 251) })
            try await p.one.perform(.write("C0DE1001", value))
            try await p.expect(
                "didReceiveWrite C0DE1001 @0 180 bytes C0DE1001 @180 180 bytes C0DE1001 @360 40 bytes")
            let parts = try p.takeWrite()
            #expect(parts.reduce(Data()) { $0 + ($1.value ?? Data()) } == value)
            var end = 0
            for part in parts {
                #expect(part.offset == end)
                end += part.value?.count ?? 0
            }
            p.manager.respond(to: try #require(parts.first), withResult: .success)
            try await p.one.expect("wrote C0DE1001")
        },
        ContractScenario(peripheral: "S130: the part that failed may be named, and refuses the whole write") { p in
            _ = try await p.serve()
            try await p.one.perform(.write("C0DE1001", Data(count: 400)))
            try await p.skip("didReceiveWrite C0DE1001 @0")
            p.manager.respond(to: try #require(try p.takeWrite().last), withResult: .invalidOffset)
            try await p.one.expect("wrote C0DE1001 ! 7")
        },
        ContractScenario(peripheral: "S132: a write command asks the app, whose answer goes nowhere") { p in
            _ = try await p.serve()
            for byte in UInt8(1)...3 { try await p.one.perform(.command("C0DE1005", Data([byte]))) }
            for byte in 1...3 {
                try await p.expect("didReceiveWrite C0DE1005 @0 0\(byte)")
                try p.answerWrite(byte == 2 ? .writeNotPermitted : .success)
            }
            try await p.fence()
        },
        ContractScenario(peripheral: "S133: the value that was written is the app's to keep") { p in
            let service = try await p.serve()
            try await p.one.perform(.write("C0DE1001", Data([5])))
            try await p.expect("didReceiveWrite C0DE1001 @0 05")
            #expect(try service.mutable("C0DE1001").value == nil)
            try p.answerWrite()
            try await p.one.expect("wrote C0DE1001")
            #expect(try service.mutable("C0DE1001").value == nil)
        },
        ContractScenario(peripheral: "S134: a write that is not answered holds up its own central alone") { p in
            _ = try await p.serve()
            try await p.two.perform(.connect(service: "C0DE1000"))
            try await p.two.expect("connected")
            try await p.one.perform(.write("C0DE1001", Data([1])))
            try await p.expect("didReceiveWrite C0DE1001 @0 01")
            try await p.two.perform(.read("C0DE1001"))
            try await p.expect("didReceiveRead C0DE1001 @0")
            let write = try p.takeWrite()
            try p.answerRead(Data([2]))
            try await p.two.expect("read C0DE1001 02")
            p.manager.respond(to: try #require(write.first), withResult: .success)
            try await p.one.expect("wrote C0DE1001")
        },
    ]

    private static let servingMany: [ContractScenario] = [
        ContractScenario(peripheral: "S135: connecting and leaving calls nothing") { p in
            _ = try await p.serve()
            try await p.one.perform(.disconnect)
            try await p.one.expect("disconnected local")
            try await p.one.perform(.connect(service: "C0DE1000"))
            try await p.one.expect("connected")
            try await p.fence()
        },
        ContractScenario(peripheral: "S125 S126: two centrals are told apart, and answered in any order") { p in
            _ = try await p.serve()
            try await p.two.perform(.connect(service: "C0DE1000"))
            try await p.two.expect("connected")
            try await p.one.perform(.read("C0DE1001"))
            try await p.expect("didReceiveRead C0DE1001 @0")
            try await p.two.perform(.read("C0DE1001"))
            try await p.expect("didReceiveRead C0DE1001 @0")
            let (first, second) = (try p.takeRead(), try p.takeRead())
            #expect(first.central.identifier != second.central.identifier)
            second.value = Data([2])
            p.manager.respond(to: second, withResult: .success)
            try await p.two.expect("read C0DE1001 02")
            first.value = Data([1])
            p.manager.respond(to: first, withResult: .success)
            try await p.one.expect("read C0DE1001 01")
        },
        ContractScenario(peripheral: "S125: a central keeps its identity from one connection to the next") { p in
            _ = try await p.serve()
            var centrals: [CBCentral] = []
            for _ in 0..<2 {
                try await p.one.perform(.read("C0DE1001"))
                try await p.expect("didReceiveRead C0DE1001 @0")
                let request = try p.takeRead()
                centrals.append(request.central)
                p.manager.respond(to: request, withResult: .success)
                try await p.one.expect("read C0DE1001 ")
                try await p.one.perform(.disconnect)
                try await p.one.expect("disconnected local")
                try await p.one.perform(.connect(service: "C0DE1000"))
                try await p.one.expect("connected")
            }
            #expect(Set(centrals.map(\.identifier)).count == 1)
        },
        ContractScenario(peripheral: "S106 S125: two managers get the requests of their own services") { p in
            let other = p.makeOther()
            _ = try await p.publish(
                LocalServices.service("C0DE1000", [LocalServices.dynamic("C0DE1001", .read, .readable)]))
            _ = try await other.publish(
                LocalServices.service("C0DE2000", [LocalServices.dynamic("C0DE2001", .read, .readable)]))
            try await p.one.perform(.connect(service: "C0DE1000"))
            try await p.two.perform(.connect(service: "C0DE2000"))
            try await p.one.expect("connected")
            try await p.two.expect("connected")
            try await p.one.perform(.read("C0DE1001"))
            try await p.two.perform(.read("C0DE2001"))
            try await p.expect("didReceiveRead C0DE1001 @0")
            try await other.expect("didReceiveRead C0DE2001 @0")
            try p.answerRead(Data([1]))
            try other.answerRead(Data([2]))
            try await p.one.expect("read C0DE1001 01")
            try await p.two.expect("read C0DE2001 02")
            other.finish()
        },
    ]
}
