import BluetoothEmulator
import BluetoothSupport
import BluetoothTracing
import TraceReports

// The questions and commands of the protocol.
extension LiveWorld {
    /// Answers a question, or performs a command.
    ///
    /// - Throws: The reason that it was refused.
    package func answer(_ request: LiveRequest) async throws(LiveError) -> LiveAnswer {
        guard let parts = request.parts else { throw .notFound("path \(request.path)") }
        switch (request.method, parts.first, parts.count) {
        case ("GET", "world", 1): return try json(await liveState())
        case ("GET", "vocabulary", 1): return try json(Vocabulary.present)
        case ("GET", "world.json", 1): return try worldFile()
        case ("GET", "events", 1): return try await events(request)
        case ("GET", "trace", 1): return try trace(request.query["format"] ?? "text")
        case ("GET", "test.swift", 1):
            return .document(Data(record.source.utf8), type: "text/plain; charset=utf-8", name: "ByHandTests.swift")
        case ("GET", "capture.pcapng", 1):
            guard let file = capture.file else { throw LiveError(409, "no capture was begun") }
            return .file(file, type: "application/octet-stream", name: "capture.pcapng")
        case ("PATCH", "capture", 1): return try await changeCapture(request.body)
        case ("POST", "time", 1): return try await changeTime(request.body)
        case (_, "devices", _): return try await answerDevices(request, Array(parts.dropFirst()))
        case (_, "hosts", 2...): return try await answerHosts(request, Array(parts.dropFirst()))
        default: throw .notFound("\(request.method) \(request.path)")
        }
    }

    func json(_ value: some Encodable) throws(LiveError) -> LiveAnswer {
        do {
            return .json(try value.jsonLine())
        } catch {
            throw LiveError(500, "the answer cannot be written: \(error)")
        }
    }

    /// Returns the answer to a command, once it has taken effect.
    func done(id: UInt32? = nil) async throws(LiveError) -> LiveAnswer {
        do {
            return try json(LiveResult(sequence: try await settle(), id: id))
        } catch let error as LiveError {
            throw error
        } catch {
            throw LiveError(500, "the time cannot go on: \(error)")
        }
    }

    private func events(_ request: LiveRequest) async throws(LiveError) -> LiveAnswer {
        await observe()
        let isOnce = request.query["once"] == "true"
        guard let text = request.query["after"] else { return .events(after: log.lastSequence, once: isOnce) }
        guard let sequence = UInt64(text) else { throw .invalid("after", "the number of an event is wanted here") }
        return .events(after: sequence, once: isOnce)
    }

    // MARK: Files

    private func worldFile() throws(LiveError) -> LiveAnswer {
        do {
            return .document(try emulator.presentWorld.json(), type: "application/json", name: "world.json")
        } catch {
            throw LiveError(500, "the world cannot be written: \(error)")
        }
    }

    private func trace(_ format: String) throws(LiveError) -> LiveAnswer {
        let entries = emulator.trace
        let (text, type, name): (String, String, String)
        switch format {
        case "text":
            (text, type, name) = (entries.map { "\($0)\n" }.joined(), "text/plain; charset=utf-8", "trace.txt")
        case "jsonl": (text, type, name) = (try jsonLines(entries), "application/jsonl", "trace.jsonl")
        case "mermaid":
            (text, type, name) = (
                TraceTimeline(entries).mermaidDiagram(), "text/plain; charset=utf-8", "trace.mmd"
            )
        case "perfetto": (text, type, name) = (TraceTimeline(entries).perfettoTrace(), "application/json", "trace.json")
        case "html":
            (text, type, name) = (
                TraceTimeline(entries).htmlReport(title: file ?? "built-in devices"), "text/html; charset=utf-8",
                "trace.html"
            )
        default: throw .invalid("format", "the formats are text, jsonl, mermaid, perfetto, html")
        }
        return .document(Data(text.utf8), type: type, name: name)
    }

    private func jsonLines(_ entries: [TraceEntry]) throws(LiveError) -> String {
        do {
            return try entries.map { String(decoding: try $0.jsonLine(), as: UTF8.self) + "\n" }.joined()
        } catch {
            throw LiveError(500, "the trace cannot be written: \(error)")
        }
    }

    private func changeCapture(_ body: Data) async throws(LiveError) -> LiveAnswer {
        let isRunning: Bool = try CommandFields(body, "running").required("running")
        do {
            if isRunning { try capture.start() } else { capture.stop() }
        } catch {
            throw LiveError(500, "\(error)")
        }
        if let state = capture.newState { append([.capture(state)]) }
        return try await done()
    }

    // MARK: Time

    private func changeTime(_ body: Data) async throws(LiveError) -> LiveAnswer {
        let fields = try CommandFields(body, "paused", "rate", "step")
        guard let clock else {
            throw LiveError(
                409,
                "cannot pause: other programs use this world in real time; only \"bluectl view\" worlds can be paused")
        }
        let isPaused: Bool? = try fields.value("paused")
        let rate = try fields.number("rate", in: WorldClock.rates)
        let step = try fields.number("step", in: 0...(WorldClock.longestStep / .seconds(1)))
        if let isPaused { await clock.setPaused(isPaused) }
        if let rate { await clock.setRate(rate) }
        if let step {
            do {
                try await clock.advance(by: .seconds(step))
            } catch {
                throw LiveError(500, "the time cannot go on: \(error)")
            }
        }
        append([.clock(await clock.state)])
        return try await done()
    }
}
