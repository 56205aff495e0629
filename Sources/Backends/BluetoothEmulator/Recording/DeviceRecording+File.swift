public import BluetoothSupport
import Logging

extension DeviceRecording {
    /// Reads a file or a pipe of JSON lines.
    ///
    /// A last line that was truncated, because its program ended while writing it, is ignored with a warning in the
    /// log.
    ///
    /// - Throws: ``DescriptionError`` with file, line, field and rule for a malformed file, and for one with more than
    ///   ``maximumEvents`` events or ``maximumBytes`` bytes.
    public init(contentsOfFile file: String) throws(DescriptionError) {
        do throws(DescriptionError) {
            let text: [UInt8]
            do throws(InputFileError) {
                text = try InputFile.contents(of: file, atMost: Self.maximumBytes)
            } catch {
                throw Self.unreadable(error.isTooLarge ? nil : error.reason)
            }
            try self.init(jsonLines: Data(text), name: file)
        } catch {
            throw error.inFile(file)
        }
    }

    /// - Parameter reason: The reason; nil for a file that is too large.
    private static func unreadable(_ reason: String?) -> DescriptionError {
        DescriptionError("", reason.map { "the file cannot be read: \($0)" } ?? sizeRule)
    }

    /// Returns the contents of a regular file that another file names, unless it is too large.
    static func text(ofFile file: String) throws(DescriptionError) -> Data {
        do throws(NamedFileProblem) {
            return try NamedFileProblem.contents(of: file, atMost: maximumBytes)
        } catch {
            switch error {
            case .notRegular: throw DescriptionError("", "a recording is a regular file")
            case .tooLarge: throw unreadable(nil)
            case .unreadable(let reason): throw unreadable(reason)
            }
        }
    }

    /// Decodes JSON lines.
    ///
    /// A last line that is not JSON and has no line end is ignored.
    ///
    /// - Throws: ``DescriptionError`` with line, field and rule for a malformed text.
    public init(jsonLines text: Data) throws(DescriptionError) { try self.init(jsonLines: text, name: "recording") }

    private static let sizeRule = "a recording has \(maximumBytes) bytes or fewer"

    init(jsonLines text: Data, name: String) throws(DescriptionError) {
        guard text.count <= Self.maximumBytes else { throw DescriptionError("", Self.sizeRule) }
        let decoder = JSONDecoder()
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var recording: DeviceRecording?
        for (index, line) in lines.enumerated() where !line.isEmpty {
            let bytes = Array(line)
            if let mistake = DescriptionError.syntaxError(of: bytes) {
                guard index < lines.count - 1 || recording == nil else {
                    Logger(label: "CoreBluetooth").line(.warning, "\(name): line \(index + 1) is cut off, and left out")
                    continue
                }
                throw mistake.onLine(index + 1)
            }
            do throws(DescriptionError) {
                let parsed: RecordingLine
                do {
                    parsed = try decoder.decode(RecordingLine.self, from: Data(bytes))
                } catch {
                    throw DescriptionError(reading: error)
                }
                try parsed.add(to: &recording)
            } catch {
                throw error.located(in: bytes).onLine(index + 1)
            }
        }
        guard let recording else {
            throw DescriptionError("recording", "the first line of a recording has recording, device and source")
        }
        self = recording
    }
}

extension RecordingLine {
    /// Adds the content of the line to a recording; the first line starts the recording.
    fileprivate func add(to recording: inout DeviceRecording?) throws(DescriptionError) {
        guard let count = recording?.events.count else {
            recording = try beginning()
            return
        }
        guard version == nil else { throw DescriptionError("recording", "a recording begins once") }
        if let event = try event() {
            guard count < DeviceRecording.maximumEvents else {
                throw DescriptionError("", "a recording has \(DeviceRecording.maximumEvents) events or fewer")
            }
            recording?.events.append(event)
        } else if let device {
            try device.validateRecorded()
            recording?.device = device
        }
    }

    private func beginning() throws(DescriptionError) -> DeviceRecording {
        guard let version, let device, let source else {
            throw DescriptionError("recording", "the first line of a recording has recording, device and source")
        }
        guard version == Self.version else {
            throw DescriptionError("recording", "this is version \(version): \(Self.version) can be read")
        }
        try device.validateRecorded()
        return DeviceRecording(device: device, source: source)
    }
}

extension PeripheralDescription {
    /// Checks the device of a recording, which must be a plain one.
    fileprivate func validateRecorded() throws(DescriptionError) {
        do throws(DescriptionError) {
            try require(handler == nil, "handler", "a recorded device has no handler")
            try validate()
        } catch {
            throw DescriptionError("device" + (error.path.isEmpty ? "" : ".") + error.path, error.rule)
        }
    }
}

extension DescriptionError {
    /// Returns an error about a line as an error in the whole text.
    fileprivate func onLine(_ number: Int) -> DescriptionError {
        var placed = self
        placed.place = Place(line: number, column: place?.column ?? 1)
        return placed
    }
}

// MARK: Writing

extension DeviceRecording {
    /// Encodes the recording as JSON lines.
    public func jsonLines() throws -> Data {
        var text = try Self.firstLine(device, source)
        for event in events { text += try Self.line(event) }
        return text
    }

    /// Encodes the first line of a recording.
    package static func firstLine(_ device: PeripheralDescription, _ source: Source) throws -> Data {
        var line = RecordingLine()
        (line.version, line.device, line.source) = (RecordingLine.version, device, source)
        return try encoded(line)
    }

    /// Encodes the line of an event.
    package static func line(_ event: RecordedEvent) throws -> Data { try encoded(RecordingLine(event)) }

    /// Encodes a line with newly observed properties of the device.
    package static func line(_ device: PeripheralDescription, at time: Duration) throws -> Data {
        var line = RecordingLine()
        (line.time, line.device) = (time.inSeconds, device)
        return try encoded(line)
    }

    private static func encoded(_ line: RecordingLine) throws -> Data {
        try line.jsonLine() + Data([UInt8(ascii: "\n")])
    }
}
