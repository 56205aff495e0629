#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

@Suite struct ConnectSchedulerTests {
    private var queue = ConnectScheduler()
    private let one = PeerID(UUID())
    private let two = PeerID(UUID())

    private mutating func add(_ count: Int) -> [PeerID] {
        let peers = (0..<count).map { _ in PeerID(UUID()) }
        for peer in peers { queue.add(peer, isClosing: false) }
        return peers
    }

    /// Returns the peers that are connected to now.
    private mutating func start() -> [PeerID] {
        var started: [PeerID] = []
        while let peer = queue.next(hasObject: { _ in true }) { started.append(peer) }
        return started
    }

    @Test mutating func allAreConnectedToAtOnceInOrderAndEachOnce() {
        let peers = add(50)
        #expect(start() == peers)
        #expect(start() == [])
        queue.finish(peers[20])
        #expect(!queue.contains(peers[20]) && queue.contains(peers[19]))
        #expect(start() == [])
    }

    @Test mutating func beyondTheLimitAConnectWaitsForTheEndOfAnotherOne() {
        let peers = add(ConnectScheduler.maximumInFlight + 2)
        #expect(start() == peers.dropLast(2))
        #expect(queue.nextToCancel() == nil)
        queue.finish(peers[5])
        #expect(start() == [peers[peers.count - 2]])
        _ = queue.fail(peers[0], isBusy: false)
        #expect(start() == [peers[peers.count - 1]])
    }

    /// See https://github.com/hbldh/bleak/issues/1036.
    @Test mutating func aPeerRefusedAsBusyAmongOthersIsTriedAlone() {
        let peers = add(3)
        _ = start()
        let failure = queue.fail(peers[2], isBusy: true)
        #expect(failure?.busyInARow == 1)
        queue.pauseOver(peers[2])
        #expect(start() == [])
        queue.finish(peers[0])
        #expect(start() == [])
        queue.finish(peers[1])
        let late = add(2)
        #expect(start() == [peers[2]])
        queue.finish(peers[2])
        #expect(start() == late)
    }

    /// Another program may keep a device busy forever.
    @Test mutating func aPeerThatRemainsBusyAloneDelaysOthersNoLonger() {
        let peers = add(1)
        for _ in 1..<ConnectScheduler.busyLimit {
            #expect(start() == peers)
            _ = queue.fail(peers[0], isBusy: true)
            queue.pauseOver(peers[0])
        }
        let late = add(2)
        #expect(start() == peers)
        _ = queue.fail(peers[0], isBusy: true)
        #expect(start() == late)
        queue.pauseOver(peers[0])
        #expect(start() == peers)
    }

    @Test mutating func aBusyPeerWhoseObjectIsGoneDelaysNobody() {
        let peers = add(2)
        _ = start()
        _ = queue.fail(peers[0], isBusy: true)
        queue.finish(peers[1])
        queue.pauseOver(peers[0])
        #expect(queue.next { _ in false } == nil)
        let late = add(2)
        #expect(start() == late)
    }

    @Test mutating func aConnectThatIsTakenBackIsCancelledOnceAndOnlyIfItIsAloneInFlight() {
        let peers = add(3)
        _ = start()
        queue.remove(peers[0])
        queue.remove(peers[1])
        #expect(queue.nextToCancel() == nil)
        queue.finish(peers[2])
        #expect(queue.nextToCancel() == nil)
        queue.finish(peers[1])
        #expect(queue.nextToCancel() == peers[0])
        #expect(queue.nextToCancel() == nil)
        let late = add(1)
        #expect(start() == [], "nothing begins during a cancel")
        _ = queue.fail(peers[0], isBusy: false)
        #expect(start() == late)
    }

    @Test mutating func aConnectThatIsWantedAgainIsNotCancelled() {
        let peers = add(2)
        _ = start()
        queue.remove(peers[0])
        queue.add(peers[0], isClosing: false)
        queue.finish(peers[1])
        #expect(queue.nextToCancel() == nil)
        queue.remove(peers[0])
        #expect(queue.nextToCancel() == peers[0])
    }

    @Test mutating func whoTakesBackARefusedConnectEndsTheCaution() {
        let peers = add(2)
        _ = start()
        _ = queue.fail(peers[1], isBusy: true)
        let late = add(2)
        #expect(start() == [])
        queue.remove(peers[1])
        #expect(start() == late)
    }

    @Test mutating func aPeerThatFailedIsTriedAgainAfterItsPause() {
        let peers = add(2)
        _ = start()
        let failure = queue.fail(peers[0], isBusy: false)
        #expect(failure?.failures == 1 && failure?.busyInARow == 0)
        #expect(start() == [])
        queue.pauseOver(peers[0])
        #expect(start() == [peers[0]])
    }

    /// See https://github.com/bluez/bluez/issues/1521.
    @Test mutating func aPeerWithoutAnObjectWaitsForOneAndWantsAScan() {
        queue.add(one, isClosing: false)
        #expect(!queue.needsScan)
        #expect(queue.next { _ in false } == nil)
        #expect(queue.needsScan)
        queue.becameReady(one)
        #expect(queue.next { _ in true } == one)
        queue.lostObject(one)
        #expect(!queue.hasInFlight && queue.needsScan)
    }

    @Test mutating func theScanGoesOnBetweenAttempts() {
        queue.add(one, isClosing: false)
        _ = queue.next { _ in true }
        #expect(!queue.needsScan)
        _ = queue.fail(one, isBusy: false)
        #expect(queue.needsScan)
        queue.pauseOver(one)
        _ = queue.next { _ in true }
        #expect(queue.needsScan)
        queue.finish(one)
        #expect(!queue.needsScan)
    }

    @Test mutating func aPeerTakenBackInFlightAndWantedAgainIsTriedAgain() {
        queue.add(one, isClosing: false)
        _ = queue.next { _ in true }
        queue.remove(one)
        #expect(queue.contains(one))
        queue.add(one, isClosing: false)
        #expect(start() == [], "one call for each peer")
        let failure = queue.fail(one, isBusy: false)
        #expect(failure?.failures == 1)
        queue.pauseOver(one)
        #expect(queue.next { _ in true } == one)
    }

    @Test mutating func aPeerTakenBackInFlightIsForgottenWhenItFails() {
        queue.add(one, isClosing: false)
        _ = queue.next { _ in true }
        queue.remove(one)
        let failure = queue.fail(one, isBusy: false)
        #expect(failure == nil)
        #expect(!queue.contains(one) && !queue.needsScan)
    }

    @Test mutating func aPeerWhoseLinkIsGoingDownWaitsForThat() {
        queue.add(one, isClosing: true)
        #expect(queue.next { _ in true } == nil)
        queue.becameReady(one)
        #expect(queue.next { _ in true } == nil, "event of the device are none of its link")
        queue.linkEnded(one)
        #expect(queue.next { _ in true } == one)
    }
}

@Suite struct DiscoverySessionTests {
    private var session = DiscoverySession()
    private let filter = DiscoverySession.Filter()

    private mutating func run(_ error: DBusError? = nil, isDiscovering: Bool = true) -> DiscoverySession.Step? {
        let step = session.nextStep()
        if step != nil { _ = session.done(error: error, isDiscovering: isDiscovering) }
        return step
    }

    @Test mutating func aScanSetsItsFilterAndStarts() {
        #expect(session.nextStep() == nil)
        session.want(filter, restart: true)
        #expect(run() == .setFilter(filter))
        #expect(run() == .start)
        #expect(session.nextStep() == nil)
        #expect(session.isActive)
    }

    @Test mutating func onlyOneCallIsInFlight() {
        session.want(filter, restart: true)
        #expect(session.nextStep() != nil)
        #expect(session.nextStep() == nil)
    }

    @Test mutating func theEndStopsAndClearsTheFilter() {
        session.want(filter, restart: true)
        _ = (run(), run())
        session.want(nil, restart: false)
        #expect(run() == .stop)
        #expect(run() == .clearFilter)
        #expect(session.nextStep() == nil)
    }

    @Test mutating func anotherFilterIsSetWithoutStopping() {
        session.want(filter, restart: true)
        _ = (run(), run())
        let other = DiscoverySession.Filter(services: [BluetoothUUID(0x180D)], allowDuplicates: true)
        session.want(other, restart: false)
        #expect(run() == .setFilter(other))
        #expect(session.nextStep() == nil)
    }

    @Test mutating func anotherScanBeginsAnew() {
        session.want(filter, restart: true)
        _ = (run(), run())
        session.want(filter, restart: true)
        #expect(run() == .stop)
        #expect(run() == .start)
        #expect(session.nextStep() == nil)
    }

    /// See https://github.com/hbldh/bleak/issues/859.
    @Test mutating func aStartThatIsInProgressCountsWhereDiscoveryRunsAndElseIsTriedAgain() {
        let error = DBusError(name: "org.bluez.Error.InProgress", message: "")
        session.want(filter, restart: true)
        _ = run()
        #expect(run(error, isDiscovering: false) == .start)
        #expect(!session.isActive)
        #expect(session.nextStep() == nil)
        session.pauseOver()
        #expect(run(error, isDiscovering: true) == .start)
        #expect(session.isActive)
    }

    /// See https://github.com/hbldh/bleak/issues/958.
    @Test(arguments: ["NotReady", "InProgress", "Failed"])
    mutating func aStopThatFailsHasStopped(name: String) {
        session.want(filter, restart: true)
        _ = (run(), run())
        session.want(nil, restart: false)
        #expect(run(DBusError(name: "org.bluez.Error." + name, message: "")) == .stop)
        #expect(run() == .clearFilter)
        #expect(session.nextStep() == nil)
    }

    @Test mutating func discoveryThatEndedByItselfIsStartedAgain() {
        session.want(filter, restart: true)
        _ = (run(), run())
        let mustPause = session.discoveringEnded()
        #expect(mustPause)
        #expect(session.nextStep() == nil)
        session.pauseOver()
        #expect(run() == .start)
        session.want(nil, restart: false)
        let isUnexpected = session.discoveringEnded()
        #expect(!isUnexpected)
    }

    @Test func theFilterLeavesDefaultsOut() {
        #expect(filter.value == .properties(["Transport": .string("le"), "RSSI": .int16(-127)]))
        let full = DiscoverySession.Filter(services: [BluetoothUUID(0x180D)], allowDuplicates: true)
        #expect(
            full.value
                == .properties([
                    "Transport": .string("le"), "RSSI": .int16(-127), "DuplicateData": .boolean(true),
                    "UUIDs": .strings(["0000180d-0000-1000-8000-00805f9b34fb"]),
                ]))
    }
}

@Suite struct ErrorMapTests {
    private func error(_ name: String, _ message: String = "") -> DBusError {
        DBusError(name: name.contains(".") ? name : "org.bluez.Error." + name, message: message)
    }

    /// The answers of bluetoothd for each ATT error, as measured on 5.66.
    @Test(arguments: [
        ("NotPermitted", "Read not permitted", UInt8(0x02)), ("NotPermitted", "Write not permitted", 0x03),
        ("NotPermitted", "Not paired", 0x05), ("NotSupported", "Operation is not supported", 0x06),
        ("InvalidArguments", "Invalid offset", 0x07), ("NotAuthorized", "Operation Not Authorized", 0x08),
        ("InvalidArguments", "Invalid Length", 0x0D), ("Failed", "Operation failed with ATT error: 0x80", 0x80),
        ("Failed", "Operation failed with ATT error: 0x0e", 0x0E), ("Failed", "Operation failed", 0x0E),
        ("Failed", "Operation failed with ATT error: 0xzz", 0x0E),
    ])
    func aPeersAnswerKeepsItsCode(name: String, message: String, code: UInt8) {
        let outcome = ErrorMap.attribute(error(name, message), operation: "WriteValue", isPaired: false)
        guard case .fail(let failure) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(failure.attCode == code && failure.code == .att)
        #expect(failure.daemonName == "org.bluez.Error." + name && failure.message == message)
    }

    @Test func withABondItIsEncryptionThatIsMissing() {
        let outcome = ErrorMap.attribute(error("NotPermitted", "Not paired"), operation: "ReadValue", isPaired: true)
        guard case .fail(let failure) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(failure.attCode == 0x0F)
    }

    @Test(arguments: [
        ("NotPermitted", "Notify acquired", BackendError.Code.operationNotSupported),
        ("InvalidArguments", "Invalid arguments in method call", .invalidParameters),
        ("org.freedesktop.DBus.Error.UnknownObject", "", .invalidHandle),
        ("org.freedesktop.DBus.Error.NoReply", "", .connectionTimeout), ("org.example.New", "", .unknown),
    ])
    func whatThePeerDidNotAnswerHasNoCode(name: String, message: String, code: BackendError.Code) {
        let outcome = ErrorMap.attribute(error(name, message), operation: "StartNotify", isPaired: false)
        guard case .fail(let failure) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(failure.code == code && failure.attCode == nil)
    }

    @Test(arguments: [
        ("NotConnected", ""), ("Failed", "Not connected"), ("NotReady", ""),
        ("org.freedesktop.DBus.Error.Disconnected", ""),
    ])
    func anErrorOfTheLinkWaitsForItsEnd(name: String, message: String) {
        let outcome = ErrorMap.attribute(error(name, message), operation: "ReadValue", isPaired: false)
        guard case .linkLost = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test func aBusyAttributeIsTriedAgain() {
        for name in ["InProgress", "org.freedesktop.DBus.Error.LimitsExceeded"] {
            #expect(ErrorMap.attribute(error(name), operation: "ReadValue", isPaired: false) == .retry)
        }
    }

    @Test(arguments: [
        ("Failed", "le-connection-abort-by-local", ErrorMap.ConnectOutcome.retry),
        ("Failed", "Software caused connection abort", .retry), ("Failed", "Input/output error", .retry),
        ("Failed", "br-connection-page-timeout", .retry), ("Failed", "br-connection-canceled", .retry),
        ("org.freedesktop.DBus.Error.NoReply", "", .retry), ("InProgress", "", .busy),
        ("Failed", "br-connection-busy", .busy), ("Failed", "Operation already in progress", .busy),
        ("NotReady", "", .noPower), ("Failed", "br-connection-adapter-not-powered", .noPower),
        ("AlreadyConnected", "", .connected), ("DoesNotExist", "", .objectGone),
        ("org.freedesktop.DBus.Error.UnknownObject", "", .objectGone),
    ])
    func aConnectThatFailedIsMostlyTriedAgain(name: String, message: String, outcome: ErrorMap.ConnectOutcome) {
        #expect(ErrorMap.connect(error(name, message)) == outcome)
    }

    @Test(arguments: [
        ("le-connection-concurrent-connection-limit", BackendError.Code.connectionLimitReached),
        ("le-connection-key-missing", .peerRemovedPairingInformation),
    ])
    func someConnectsAreHopeless(message: String, code: BackendError.Code) {
        guard case .fail(let failure) = ErrorMap.connect(error("Failed", message)) else {
            Issue.record("not hopeless")
            return
        }
        #expect(failure.code == code && failure.message == message)
    }
}
#endif
