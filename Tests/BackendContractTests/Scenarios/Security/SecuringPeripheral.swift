import CoreBluetooth
import Testing

extension ContractScenario {
    static let securingPeripheral: [ContractScenario] = [
        ContractScenario(
            peripheral: "S129: a protected value makes a central pair before the app is asked", needs: [.pairing]
        ) { p in
            _ = try await p.serve()
            try await p.one.perform(.read("C0DE1007"))
            try await p.expect("didReceiveRead C0DE1007 @0")
            try p.answerRead(Data([7]))
            try await p.one.expect("read C0DE1007 07")
            try await p.one.perform(.write("C0DE1007", Data([8])))
            try await p.expect("didReceiveWrite C0DE1007 @0 08")
            try p.answerWrite()
            try await p.one.expect("wrote C0DE1007")
        },
        ContractScenario(
            peripheral: "S129: a central that does not pair is refused, and the app hears nothing", needs: [.pairing]
        ) { p in
            let agent = p.makeAgent(.noInputNoOutput)
            _ = try await p.serve()
            try await p.one.perform(.read("C0DE1007"))
            try await agent.expect("asks consent")
            try agent.request.reject()
            try await p.one.expect("read C0DE1007 ! 5")
            try await agent.expect("pairing failed ! CBError 5")
            agent.finish()
        },
        ContractScenario(
            peripheral: "S117: only an encrypted central subscribes to what requires it", needs: [.pairing]
        ) { p in
            let agent = p.makeAgent(.noInputNoOutput)
            let service = try await p.serve()
            try await p.one.perform(.subscribe("C0DE1008"))
            try await agent.expect("asks consent")
            try agent.request.reject()
            try await p.one.expect("subscribed C0DE1008 ! 5")
            try await agent.expect("pairing failed ! CBError 5")
            try await p.one.perform(.subscribe("C0DE1008"))
            try await agent.expect("asks consent")
            try agent.request.accept()
            try await agent.expect("paired")
            try await p.expect("didSubscribe C0DE1008 of 1")
            try await p.one.expect("subscribed C0DE1008 true")
            #expect(
                p.manager.updateValue(Data([1]), for: try service.mutable("C0DE1008"), onSubscribedCentrals: nil))
            try await p.one.expect("notified C0DE1008 01")
            agent.finish()
        },
        ContractScenario(
            peripheral: "S129: the app shows a number that is typed at the central", needs: [.pairing]
        ) { p in
            let agent = p.makeAgent(.displayOnly)
            _ = try await p.serve()
            try await p.one.perform(.pairing(.keyboardOnly))
            try await p.one.perform(.read("C0DE1007"))
            try await p.one.expect("asks enterPasskey")
            try await agent.expect("asks display")
            try await p.one.perform(.answer(.passkey(try agent.passkey)))
            try await agent.expect("paired", perhapsAfter: "asks no more")
            try await p.one.expect("paired")
            try await p.expect("didReceiveRead C0DE1007 @0")
            try p.answerRead(Data([7]))
            try await p.one.expect("read C0DE1007 07")
            agent.finish()
        },
        ContractScenario(
            peripheral: "S129: a number entered incorrectly at the central fails the pairing", needs: [.pairing],
            emulatorOnly: unanswered
        ) { p in
            let agent = p.makeAgent(.displayOnly)
            _ = try await p.serve()
            try await p.one.perform(.pairing(.keyboardOnly))
            try await p.one.perform(.read("C0DE1007"))
            try await p.one.expect("asks enterPasskey")
            try await agent.expect("asks display")
            try await p.one.perform(.answer(.passkey((try agent.passkey + 1) % 1_000_000)))
            try await agent.expect("asks no more")
            try await agent.skip("pairing failed", isFailure: true)
            try await p.one.expect("pairing failed", "read C0DE1007 ! 5")
            agent.finish()
        },
        ContractScenario(
            peripheral: "S129: both sides compare a number, and both have to agree", needs: [.pairing]
        ) { p in
            let agent = p.makeAgent(.displayYesNo)
            _ = try await p.serve()
            try await p.one.perform(.pairing(.displayYesNo))
            try await p.one.perform(.read("C0DE1007"))
            try await agent.expect("asks confirm")
            try await p.one.expect("asks confirm")
            try agent.request.accept()
            try await p.one.perform(.answer(.accept))
            try await agent.expect("paired")
            try await p.one.expect("paired")
            try await p.expect("didReceiveRead C0DE1007 @0")
            try p.answerRead(Data([7]))
            try await p.one.expect("read C0DE1007 07")
            agent.finish()
        },
        ContractScenario(
            peripheral: "S129: a central that refuses the comparison ends it for both", needs: [.pairing]
        ) { p in
            let agent = p.makeAgent(.displayYesNo)
            _ = try await p.serve()
            try await p.one.perform(.pairing(.displayYesNo))
            try await p.one.perform(.read("C0DE1007"))
            try await agent.expect("asks confirm")
            try await p.one.expect("asks confirm")
            try await p.one.perform(.answer(.reject))
            try await agent.expect("asks no more")
            try await agent.skip("pairing failed", isFailure: true)
            try await p.one.expect("pairing failed", "read C0DE1007 ! 5")
            agent.finish()
        },
        ContractScenario(
            peripheral: "S136: a bonded central that comes back is subscribed as before", needs: [.pairing]
        ) { p in
            let service = try await p.serve()
            try await p.one.perform(.subscribe("C0DE1008"))
            try await p.expect("didSubscribe C0DE1008 of 1")
            try await p.one.expect("subscribed C0DE1008 true")
            try await p.one.perform(.disconnect)
            try await p.one.expect("disconnected local")
            try await p.expect("didUnsubscribe C0DE1008 of 0")
            try await p.one.perform(.connect(service: "C0DE1000"))
            try await p.expect("didSubscribe C0DE1008 of 1")
            try await p.one.perform(.subscribe("C0DE1008"))
            try await p.one.expect("connected", "subscribed C0DE1008 true")
            #expect(
                p.manager.updateValue(Data([1]), for: try service.mutable("C0DE1008"), onSubscribedCentrals: nil))
            try await p.one.expect("notified C0DE1008 01")
        },
        ContractScenario(
            peripheral: "S129: a central that lost its keys pairs anew", needs: [.pairing]
        ) { p in
            let agent = p.makeAgent(.noInputNoOutput)
            _ = try await p.serve()
            for isAgain in [false, true] {
                if isAgain {
                    try await p.one.perform(.forget)
                    try await p.one.perform(.connect(service: "C0DE1000"))
                    try await p.one.expect("connected")
                }
                try await p.one.perform(.read("C0DE1007"))
                try await agent.expect("asks consent")
                try agent.request.accept()
                try await agent.expect("paired")
                try await p.expect("didReceiveRead C0DE1007 @0")
                try p.answerRead(Data([7]))
                try await p.one.expect("read C0DE1007 07")
                try await p.one.perform(.disconnect)
                try await p.one.expect("disconnected local")
            }
            agent.finish()
        },
    ]
}
