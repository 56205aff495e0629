public import BluetoothSupport

extension Decodable {
    /// Decodes a world file or a part of one; only a syntax error has a place.
    ///
    /// - Throws: ``DescriptionError`` naming the path and the rule.
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
    /// Decodes a device in the format of world files, and checks it.
    ///
    /// - Throws: ``DescriptionError`` naming the place, the path and the rule.
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
    /// Decodes a fault in the format of world files, and checks it.
    ///
    /// - Throws: ``DescriptionError`` naming the place, the path and the rule.
    public init(json: Data) throws(DescriptionError) {
        do throws(DescriptionError) {
            try self.init(worldFile: json)
            try validate(path: "fault")
        } catch {
            throw error.located(in: Array(json))
        }
    }
}
