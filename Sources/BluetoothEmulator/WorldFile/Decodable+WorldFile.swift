public import BluetoothSupport

extension Decodable {
    /// Reads a world file, or a part of one; only a syntax error has a place.
    ///
    /// - Throws: ``DescriptionError`` naming path and rule.
    init(worldFile json: Data, _ recordings: RecordingFiles? = nil) throws(DescriptionError) {
        if let error = DescriptionError.syntaxError(of: Array(json)) { throw error }
        let decoder = JSONDecoder()
        recordings?.serve(decoder)
        do {
            self = try decoder.decode(Self.self, from: json)
        } catch {
            throw DescriptionError(reading: error)
        }
    }
}

extension PeripheralDescription {
    /// Reads a device as world files write it, and checks it.
    ///
    /// - Throws: ``DescriptionError`` naming place, path and rule.
    public init(json: Data) throws(DescriptionError) {
        do throws(DescriptionError) {
            try self.init(worldFile: json)
            try validate()
        } catch {
            throw error.located(in: Array(json))
        }
    }
}

extension DeviceFault {
    /// Reads a fault as world files write it, and checks it.
    ///
    /// - Throws: ``DescriptionError`` naming place, path and rule.
    public init(json: Data) throws(DescriptionError) {
        do throws(DescriptionError) {
            try self.init(worldFile: json)
            try validate(path: "fault")
        } catch {
            throw error.located(in: Array(json))
        }
    }
}
