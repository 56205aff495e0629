extension SignalingPDU {
    /// The longest packet that every device accepts (Core Specification, Vol 3, Part A, 4).
    package static let mtu = 23

    /// A packet with its header, before its data is read.
    package struct Frame: Sendable {
        package let code: UInt8
        package let identifier: UInt8
        fileprivate let data: ArraySlice<UInt8>

        /// - Returns: nil if the length is wrong, or the identifier is 0, which no packet has.
        package init?(_ bytes: [UInt8]) {
            var cursor = ByteCursor(bytes)
            guard let code = cursor.byte(), let identifier = cursor.byte(), identifier != 0,
                let length = cursor.littleEndian(UInt16.self), cursor.count == Int(length)
            else { return nil }
            (self.code, self.identifier, data) = (code, identifier, cursor.rest)
        }
    }

    /// - Returns: nil if the code is unknown, or the data has another length than the code requires.
    package init?(_ frame: Frame) {
        var cursor = ByteCursor(frame.data)
        var fields: [UInt16] = []
        while let field = cursor.littleEndian(UInt16.self) { fields.append(field) }
        guard cursor.isAtEnd else { return nil }
        switch (frame.code, fields.count) {
        case (0x01, 1) where fields[0] == 0: self = .rejection(.notUnderstood)
        case (0x01, 2) where fields[0] == 1: self = .rejection(.tooLong(mtu: fields[1]))
        case (0x01, 3) where fields[0] == 2: self = .rejection(.invalidChannel(local: fields[1], remote: fields[2]))
        case (0x06, 2): self = .disconnectionRequest(destination: fields[0], source: fields[1])
        case (0x07, 2): self = .disconnectionResponse(destination: fields[0], source: fields[1])
        case (0x12, 4):
            self = .parametersRequest(
                minimum: fields[0], maximum: fields[1], latency: fields[2], timeout: fields[3])
        case (0x13, 1): self = .parametersResponse(isAccepted: fields[0] == 0)
        case (0x14, 5):
            self = .connectionRequest(
                psm: fields[0], source: fields[1], mtu: fields[2], mps: fields[3], credits: fields[4])
        case (0x15, 5):
            self = .connectionResponse(
                destination: fields[0], mtu: fields[1], mps: fields[2], credits: fields[3],
                result: ChannelResult(rawValue: fields[4]))
        case (0x16, 2): self = .credits(source: fields[0], fields[1])
        default: return nil
        }
    }
}
