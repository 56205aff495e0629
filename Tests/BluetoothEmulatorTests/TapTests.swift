import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Testing

/// The delivery of events to taps, and the end of taps.
@Suite struct TapTests {
    @Test func aTapBeginsWithTheWorldAsItIs() async throws {
        let pair = try await ConnectedPair()
        let recorder = TapRecorder(pair.emulator)
        try await pair.emulator.runUntilIdle()
        let events = recorder.events
        #expect(events.last?.kind == .began)
        #expect(events.allSatisfy { $0.time == pair.emulator.now })
        let names = events.compactMap { event -> String? in
            switch event.kind {
            case .hostAdded(let host): "host \(host.name) \(host.isAnonymous)"
            case .deviceAdded(let device): "device \(device.name) \(device.host.map(String.init) ?? "-")"
            case .servicesChanged(_, let services): "services \(services.map(\.uuid.text).joined(separator: " "))"
            case .connectionOpened(let connection): "link \(connection.central.host ?? -1) \(connection.mtu)"
            default: nil
            }
        }
        #expect(
            names == [
                "host default false", "host peripheral 1 true", "device peripheral 1 1",
                "services 1800 1801 C0DE", "link 0 185",
            ])
    }

    @Test func severalTapsReceiveTheSameAndOnlyTheKindsThatTheyWant() async throws {
        let fixture = Fixture()
        let all = TapRecorder(fixture.emulator)
        let again = TapRecorder(fixture.emulator)
        let links = TapRecorder(fixture.emulator, .links)
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        _ = try await fixture.connect(device)
        try await fixture.emulator.runUntilIdle()
        #expect(all.events == again.events)
        #expect(all.events.count > links.events.count)
        guard case .connectionOpened(let connection)? = links.kinds().first else {
            throw Unexpected("\(links.events)")
        }
        #expect(links.kinds().count == 1)
        #expect(connection.device == device.number && connection.central.host == fixture.emulator.host.index)
        #expect(all.events.map(\.time) == all.events.map(\.time).sorted())
    }

    @Test func aTapEndsWithItsLastReferenceOrWhenItIsCancelled() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let kept = TapRecorder(emulator, .hosts)
        var released: TapRecorder? = TapRecorder(emulator, .hosts)
        let cancelled = TapRecorder(emulator, .hosts)
        weak let observer = released
        emulator.host.setPower(false)
        try await emulator.runUntilIdle()
        #expect(released?.kinds().count == 1 && cancelled.kinds().count == 1)
        released = nil
        cancelled.cancel()
        cancelled.cancel()
        #expect(observer == nil)
        emulator.host.setPower(true)
        try await emulator.runUntilIdle()
        #expect(kept.kinds().count == 2)
        #expect(cancelled.kinds().count == 1)
    }

    /// No lock of the emulator is held while an event is received.
    @Test(.timeLimit(.minutes(5)))
    func aReceiverMayCallTheEmulator() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let states = Lock<[AdapterState]>([])
        let tap = emulator.tap(.hosts) { event in
            guard case .hostChanged(let host) = event.kind else { return }
            states.withLock { $0.append(emulator.hosts[host.index].state) }
            // A control of a receiver belongs to the same instant.
            if !host.isPowered { emulator.host.setPower(true) }
        }
        emulator.host.setPower(false)
        try await emulator.runUntilIdle()
        #expect(states.withLock { $0 } == [.poweredOff, .poweredOn])
        #expect(emulator.host.state == .poweredOn && emulator.now == .zero)
        tap.cancel()
    }

    @Test func aReceiverMayBeginAndCancelTaps() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let inner = Lock<EmulatorTap?>(nil)
        let count = Lock(0)
        let outer = emulator.tap(.hosts) { event in
            switch event.kind {
            case .hostChanged(let host) where !host.isPowered:
                let tap = emulator.tap(.hosts) { event in
                    if case .hostChanged = event.kind { count.withLock { $0 += 1 } }
                }
                inner.withLock { $0 = tap }
            case .hostChanged(let host) where host.isResetting: inner.withLock { $0?.cancel() }
            default: break
            }
        }
        emulator.host.setPower(false)
        try await emulator.runUntilIdle()
        emulator.host.setPower(true)
        try await emulator.runUntilIdle()
        emulator.host.reset(for: .seconds(1))
        try await emulator.advance(by: .milliseconds(1))
        let received = count.withLock { $0 }
        try await emulator.runUntilIdle()
        #expect(count.withLock { $0 } == received && received >= 1)
        outer.cancel()
    }

    @Test func notesAndControlsAreReportedWithTheTraceOffAndLeaveItEmpty() async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.traceLimit = 0
        let fixture = Fixture(configuration)
        let recorder = TapRecorder(fixture.emulator, .notes)
        let device = try fixture.emulator.add(ContractPeer.description)
        device.notify("C0DE", value: Data([1]))
        try await fixture.emulator.runUntilIdle()
        let source = "device 1 \"Contract Peer\""
        #expect(
            recorder.kinds() == [
                .control(source: source, "added", words: "is added", device: device.number),
                .control(
                    source: source, "notify characteristic=C0DE value=0x01", words: "stores 01 in C0DE and notifies it",
                    device: device.number),
                .note("control ignored: device 1 has no characteristic C0DE"),
            ])
        #expect(fixture.emulator.trace.isEmpty)
    }

    @Test(.timeLimit(.minutes(5)))
    func inRealTimeEventsArriveInTheOrderOfTheWorld() async throws {
        let emulator = Emulator(configuration: .instant)
        let (stream, continuation) = AsyncStream.makeStream(of: TapEvent.self)
        let tap = emulator.tap([.hosts, .devices]) { continuation.yield($0) }
        try emulator.add(ContractPeer.description)
        for isOn in [false, true, false] { emulator.host.setPower(isOn) }
        var seen: [String] = []
        for await event in stream {
            switch event.kind {
            case .began: seen.append("began")
            case .deviceAdded(let device): seen.append("added \(device.name)")
            case .hostChanged(let host): seen.append("power \(host.isPowered)")
            default: break
            }
            if seen.count == 5 { break }
        }
        let added = "added \(ContractPeer.description.name)"
        #expect(seen == ["began", added, "power false", "power true", "power false"])
        tap.cancel()
    }

    @Test(.timeLimit(.minutes(5)))
    func aReceiverThatIsTooSlowLearnsHowManyEventsItMissed() async throws {
        let emulator = Emulator(configuration: .instant)
        let (stream, continuation) = AsyncStream.makeStream(of: TapEvent.Kind.self)
        let (started, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let tap = emulator.tap(.hosts, limit: 3) { event in
            if event.kind == .began {
                started.signal()
                gate.wait()
            }
            continuation.yield(event.kind)
        }
        await Task.detached { Self.wait(for: started) }.value
        // The events are received in order, until the fourth no longer fits.
        for _ in 0..<5 {
            emulator.host.setPower(false)
            emulator.host.setPower(true)
        }
        gate.signal()
        var kinds: [TapEvent.Kind] = []
        for await kind in stream {
            kinds.append(kind)
            if case .dropped = kind { break }
        }
        #expect(kinds.last == .dropped(7))
        #expect(kinds.count == 6)
        tap.cancel()
    }

    /// The events wait for a batch, but the end of a run waits for them, and so does half of the limit, so none is
    /// dropped.
    @Test(arguments: [8, 100_000])
    func aReceiverThatMayLagGetsTheSameEvents(limit: Int) async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let (other, recorder) = (CollectingSink<TapEvent>(), TapRecorder(emulator, .hosts))
        let tap = emulator.tap(.hosts, limit: limit, mayLag: true) { other.deliver($0) }
        for second in 1...100 {
            emulator.host.setPower(!second.isMultiple(of: 2))
            try await emulator.advance(by: .seconds(second.isMultiple(of: 10) ? 10 : 0))
            #expect(other.events.count == recorder.events.count)
        }
        #expect(other.events == recorder.events && recorder.events.count > 100)
        tap.cancel()
    }

    @Test func aTapThatIsFinishedHasReceivedAllEvents() async throws {
        let emulator = Emulator(configuration: .instant)
        let sink = CollectingSink<TapEvent>()
        let tap = emulator.tap(.hosts, mayLag: true) { sink.deliver($0) }
        for isOn in [false, true, false] { emulator.host.setPower(isOn) }
        tap.finish()
        let count = sink.events.count
        let powers = sink.events.compactMap { event -> Bool? in
            if case .hostChanged(let host) = event.kind { host.isPowered } else { nil }
        }
        #expect(powers == [false, true, false])
        emulator.host.setPower(true)
        #expect(sink.events.count == count)
    }

    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test func aWorldThatContinuesFromASnapshotHasNoTaps() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let recorder = TapRecorder(emulator)
        try emulator.add(ContractPeer.description)
        try await emulator.runUntilIdle()
        let count = recorder.events.count
        let later = Emulator(restoring: try emulator.snapshot())
        later.host.setPower(false)
        try await later.runUntilIdle()
        #expect(recorder.events.count == count)
        let other = TapRecorder(later, .hosts)
        later.host.setPower(true)
        try await later.runUntilIdle()
        #expect(other.kinds().count == 1)
    }
}
