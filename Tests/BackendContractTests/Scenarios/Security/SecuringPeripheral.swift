import CoreBluetooth
import Testing

extension ContractScenario {
    private static let refused = ContractEvent.read(.protected).failing(response: .insufficientAuthentication)

    static let securingPeripheral: [ContractScenario] = [
        .peripheral(
            "a central pairs before its read of a protected value reaches the app", proving: "S129", needs: .pairing
        ) { p in
            _ = try await p.serve()
            try await p.one.perform(.read(.protected))
            try await p.answerProtectedRead()
            try await p.one.perform(.write(.protected, [8]))
            try await p.expect(.didReceiveWrite(.protected, [8]))
            try p.respondToWrite()
            try await p.one.expect(.wrote(.protected))
        },
        .peripheral("a central that does not pair is refused without a callback", proving: "S129", needs: .pairing) {
            p in
            let agent = try await p.serveProtected(.noInputNoOutput)
            try await agent.reject()
            try await p.one.expect(refused)
            try await agent.expect(.pairingFailed.failing(.operationCancelled))
            agent.finish()
        },
        .peripheral(
            "a central without a bond reaches nothing that requires encryption", proving: "S129", "S117",
            needs: .pairing
        ) { p in
            let agent = p.makeAgent(.noInputNoOutput)
            let command = LocalServices.dynamic(
                .commandOnly, [.read, .writeWithoutResponse], [.readEncryptionRequired, .writeEncryptionRequired])
            let updating = LocalServices.dynamic(.protectedUpdating, [.notify, .notifyEncryptionRequired], [])
            let readable = LocalServices.dynamic(.protected, [.read, .write], [.readable, .writeEncryptionRequired])
            _ = try await p.serve(
                LocalServices.service(
                    .served, [command, updating, readable, LocalServices.constant(.constant, "open")]))
            let refused: [(CentralAction, ContractEvent)] = [
                (.read(.commandOnly), .read(.commandOnly)), (.write(.protected, [1]), .wrote(.protected)),
                (.subscribe(.protectedUpdating), .subscribed(.protectedUpdating)),
            ]
            for (action, event) in refused {
                try await p.one.perform(action)
                try await agent.reject()
                try await p.one.expect(event.failing(response: .insufficientAuthentication))
                try await agent.expect(.pairingFailed.failing(.operationCancelled))
            }
            // A central cannot learn that its command is dropped.
            try await p.one.perform(.command(.commandOnly, [1]))
            #expect(p.update(updating, [2]))
            // Attributes without requirements are served as before.
            try await p.one.perform(.read(.protected))
            try await p.answerRead(of: .protected, with: [3])
            try await p.one.expect(.read(.protected, [3]))
            try await p.one.perform(.read(.constant))
            try await p.one.expect(.read(.constant, Data("open".utf8)))
            agent.finish()
        },
        .peripheral("a protected subscription requires an encrypted link", proving: "S117", needs: .pairing) { p in
            let agent = p.makeAgent(.noInputNoOutput)
            let service = try await p.serve()
            try await p.one.perform(.subscribe(.protectedUpdating))
            try await agent.reject()
            try await p.one.expect(.subscribed(.protectedUpdating).failing(response: .insufficientAuthentication))
            try await agent.expect(.pairingFailed.failing(.operationCancelled))
            try await p.one.perform(.subscribe(.protectedUpdating))
            try await agent.accept()
            try await p.expect(.didSubscribe(.protectedUpdating, subscribers: 1))
            try await p.one.expect(.subscribed(.protectedUpdating, true))
            #expect(p.update(try service.mutable(.protectedUpdating), [1]))
            try await p.one.expect(.notified(.protectedUpdating, [1]))
            agent.finish()
        },
        .peripheral("the app shows a number that the central's user enters", proving: "S129", needs: .pairing) { p in
            let agent = try await p.serveProtected(.displayOnly, user: .keyboardOnly)
            try await p.one.expect(.asks(.enterPasskey))
            try await agent.expect(.asks(.display))
            try await p.one.perform(.answer(.passkey(try agent.passkey)))
            try await agent.expect(.paired, perhapsAfter: .asksNoMore)
            try await p.one.expect(.paired)
            try await p.answerProtectedRead()
            agent.finish()
        },
        .peripheral(
            "a number entered incorrectly at the central fails the pairing", proving: "S129", needs: .pairing,
            emulatorOnly: unanswered
        ) { p in
            let agent = try await p.serveProtected(.displayOnly, user: .keyboardOnly)
            try await p.one.expect(.asks(.enterPasskey))
            try await agent.expect(.asks(.display))
            try await p.one.perform(.answer(.passkey((try agent.passkey + 1) % 1_000_000)))
            try await agent.expect(.asksNoMore)
            try await agent.skip(.pairingFailed, isFailure: true)
            try await p.one.expect(.pairingFailed, refused)
            agent.finish()
        },
        .peripheral("both sides compare a number, and both must confirm it", proving: "S129", needs: .pairing) { p in
            let agent = try await p.serveProtected(.displayYesNo, user: .displayYesNo)
            try await agent.expect(.asks(.confirm))
            try await p.one.expect(.asks(.confirm))
            try agent.request.accept()
            try await p.one.perform(.answer(.accept))
            try await agent.expect(.paired)
            try await p.one.expect(.paired)
            try await p.answerProtectedRead()
            agent.finish()
        },
        .peripheral("a central that rejects the comparison fails the pairing", proving: "S129", needs: .pairing) { p in
            let agent = try await p.serveProtected(.displayYesNo, user: .displayYesNo)
            try await agent.expect(.asks(.confirm))
            try await p.one.expect(.asks(.confirm))
            try await p.one.perform(.answer(.reject))
            try await agent.expect(.asksNoMore)
            try await agent.skip(.pairingFailed, isFailure: true)
            try await p.one.expect(.pairingFailed, refused)
            agent.finish()
        },
        .peripheral("a bonded central that reconnects is subscribed as before", proving: "S136", needs: .pairing) { p in
            let service = try await p.serve()
            try await p.subscribe(.protectedUpdating)
            try await p.one.disconnect()
            try await p.expect(.didUnsubscribe(.protectedUpdating, subscribers: 0))
            // bluetoothd may end such a link at once: LimitsOfBlueZ, "Pairing".
            let failed = try await p.one.perform(.connect(service: .served)).count
            for _ in 0..<failed {
                try await p.expect(.didSubscribe(.protectedUpdating, subscribers: 1))
                try await p.expect(.didUnsubscribe(.protectedUpdating, subscribers: 0))
            }
            try await p.expect(.didSubscribe(.protectedUpdating, subscribers: 1))
            try await p.one.perform(.subscribe(.protectedUpdating))
            try await p.one.expect(.connected, .subscribed(.protectedUpdating, true))
            #expect(p.update(try service.mutable(.protectedUpdating), [1]))
            try await p.one.expect(.notified(.protectedUpdating, [1]))
        },
        .peripheral("a central that lost its keys pairs again", proving: "S129", needs: .pairing) { p in
            let agent = try await p.serveProtected(.noInputNoOutput)
            try await agent.accept()
            try await p.answerProtectedRead()
            try await p.one.disconnect()
            try await p.one.perform(.forget)
            // A server requests security of a central that it knows, and the two pair before the first request.
            agent.acceptAtOnce()
            try await p.one.connect()
            try await p.one.perform(.read(.protected))
            try await agent.expect(.asks(.consent), .paired)
            try await p.answerProtectedRead()
            try await p.one.disconnect()
            agent.finish()
        },
    ]
}
