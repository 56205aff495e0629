import BluetoothHCI
import Crypto
import CryptoExtras

/// The cryptographic functions of the Security Manager.
///
/// All values are in the order of the air, least significant byte first; the specification writes the most significant byte
/// first. Keys and random values are of 16 bytes, coordinates of 32.
///
/// Source: Core Specification, Vol 3, Part H, 2.2.
enum SecurityFunctions {
    /// The input of f5 and f6 that describes an end: its address and type, 7 bytes.
    private static func identity(_ address: HCIAddress) -> [UInt8] { address.bytes + [address.isRandom ? 1 : 0] }

    /// Encrypts a block with AES-128 (2.2.1).
    static func e(key: [UInt8], _ block: [UInt8]) -> [UInt8] {
        var result = [UInt8](block.reversed())
        do {
            try AES.permute(&result, key: SymmetricKey(data: key.reversed()))
        } catch {
            preconditionFailure("a key or a block of other than 16 bytes: \(error)")
        }
        return result.reversed()
    }

    /// Authenticates a message with AES-CMAC (2.2.5).
    static func cmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        do {
            var code = try AES.CMAC(key: SymmetricKey(data: key.reversed()))
            code.update(data: message.reversed())
            return code.finalize().withUnsafeBytes { $0.reversed() }
        } catch {
            preconditionFailure("a key of other than 16 bytes: \(error)")
        }
    }

    // MARK: Private addresses and LE legacy pairing

    /// The hash of a resolvable private address (2.2.2).
    ///
    /// - Parameter random: 3 bytes, as is the result.
    static func ah(key: [UInt8], random: [UInt8]) -> [UInt8] {
        Array(e(key: key, random + [UInt8](repeating: 0, count: 13)).prefix(3))
    }

    /// The confirm value of LE legacy pairing (2.2.3).
    ///
    /// - Parameters:
    ///   - request: The packet of the pairing request, 7 bytes.
    ///   - response: The packet of the pairing response, 7 bytes.
    static func c1(
        key: [UInt8], random: [UInt8], request: [UInt8], response: [UInt8], initiator: HCIAddress, responder: HCIAddress
    ) -> [UInt8] {
        let first = [initiator.isRandom ? 1 : 0, responder.isRandom ? 1 : 0] + request + response
        let second = responder.bytes + initiator.bytes + [0, 0, 0, 0]
        return e(key: key, xor(e(key: key, xor(random, first)), second))
    }

    /// The short-term key of LE legacy pairing (2.2.4).
    static func s1(key: [UInt8], responderRandom: [UInt8], initiatorRandom: [UInt8]) -> [UInt8] {
        e(key: key, Array(initiatorRandom.prefix(8) + responderRandom.prefix(8)))
    }

    private static func xor(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { zip(left, right).map { $0 ^ $1 } }

    // MARK: LE Secure Connections

    /// The confirm value (2.2.6) over the X coordinates `u` and `v`, with the random value `x`.
    static func f4(_ u: [UInt8], _ v: [UInt8], _ x: [UInt8], _ z: UInt8) -> [UInt8] { cmac(key: x, [z] + v + u) }

    /// The keys of a pairing (2.2.7): the key of the check values, and the long-term key.
    static func f5(
        _ sharedSecret: [UInt8], _ initiatorRandom: [UInt8], _ responderRandom: [UInt8], initiator: HCIAddress,
        responder: HCIAddress
    ) -> (checkKey: [UInt8], longTermKey: [UInt8]) {
        let salt: [UInt8] = [
            0xBE, 0x83, 0x60, 0x5A, 0xDB, 0x0B, 0x37, 0x60, 0x38, 0xA5, 0xF5, 0xAA, 0x91, 0x83, 0x88, 0x6C,
        ]
        let key = cmac(key: salt, sharedSecret)
        // The length in bits, the addresses, the random values, and "btle".
        var message: [UInt8] = [0x00, 0x01] + identity(responder) + identity(initiator)
        message += responderRandom + initiatorRandom + [0x65, 0x6C, 0x74, 0x62]
        return (cmac(key: key, message + [0]), cmac(key: key, message + [1]))
    }

    /// The check value (2.2.8) of the end whose random value and address come first.
    ///
    /// - Parameter capabilities: The bytes 1 to 3 of its pairing request or response.
    static func f6(
        _ checkKey: [UInt8], _ n1: [UInt8], _ n2: [UInt8], _ r: [UInt8], capabilities: [UInt8], _ a1: HCIAddress,
        _ a2: HCIAddress
    ) -> [UInt8] {
        cmac(key: checkKey, identity(a2) + identity(a1) + capabilities + r + n2 + n1)
    }

    /// The number that users compare (2.2.9), over the X coordinates and the random values of both: 0...0xFFFF_FFFF, of which
    /// they see the last six decimal digits.
    static func g2(_ u: [UInt8], _ v: [UInt8], _ x: [UInt8], _ y: [UInt8]) -> UInt32 {
        cmac(key: x, y + v + u).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: Keys for the other transport

    /// Converts a key (2.2.10) for a use that four characters name.
    ///
    /// - Parameter use: The four characters in the order of the air, the last one first.
    static func h6(_ key: [UInt8], use: [UInt8]) -> [UInt8] { cmac(key: key, use) }

    /// Converts a key with a salt (2.2.11).
    static func h7(salt: [UInt8], _ key: [UInt8]) -> [UInt8] { cmac(key: salt, key) }
}
