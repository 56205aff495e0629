import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// Sample data of the Core Specification: Vol 3, Part H, 2.2.3, 2.2.4 and Appendix D; Vol 2, Part G, 7.1.2.
///
/// The specification writes the most significant byte first, and so do these tests.
struct SecurityFunctionTests {
    private static let u = "20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6"
    private static let v = "55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd"
    private static let n1 = "d5cb8454d177733effffb2ec712baeab"
    private static let n2 = "a6e8e7cc25a75f6e216583f7ff3dc4cf"
    private static let sharedSecret = "ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698"
    private static let key = "ec0234a357c8ad05341010a60a397d9b"
    private static let a1 = HCIAddress(bits: 0x5612_3737_BFCE, isRandom: false)
    private static let a2 = HCIAddress(bits: 0xA713_702D_CFC1, isRandom: false)

    private func bytes(_ text: String) throws -> [UInt8] { [UInt8](try #require(Data(hexText: text)).reversed()) }

    private func text(_ bytes: [UInt8]) -> String { Data(bytes.reversed()).hexText.lowercased() }

    @Test func ahIsThatOfTheSampleData() throws {
        #expect(text(SecurityFunctions.ah(key: try bytes(Self.key), random: try bytes("708194"))) == "0dfbaa")
    }

    @Test func c1IsThatOfTheSampleData() throws {
        let value = SecurityFunctions.c1(
            key: [UInt8](repeating: 0, count: 16), random: try bytes("5783d52156ad6f0e6388274ec6702ee0"),
            request: try bytes("07071000000101"), response: try bytes("05000800000302"),
            initiator: HCIAddress(bits: 0xA1A2_A3A4_A5A6, isRandom: true),
            responder: HCIAddress(bits: 0xB1B2_B3B4_B5B6, isRandom: false))
        #expect(text(value) == "1e1e3fef878988ead2a74dc5bef13b86")
    }

    @Test func s1IsThatOfTheSampleData() throws {
        let value = SecurityFunctions.s1(
            key: [UInt8](repeating: 0, count: 16), responderRandom: try bytes("000f0e0d0c0b0a091122334455667788"),
            initiatorRandom: try bytes("010203040506070899aabbccddeeff00"))
        #expect(text(value) == "9a1fe1f0e8b0f49b5b4216ae796da062")
    }

    @Test(arguments: [
        ("", "bb1d6929e95937287fa37d129b756746"),
        ("6bc1bee22e409f96e93d7e117393172a", "070a16b46b4d4144f79bdd9dd04a287c"),
        (
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411",
            "dfa66747de9ae63030ca32611497c827"
        ),
        (
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
            "51f0bebf7e3b9d92fc49741779363cfe"
        ),
    ])
    func theMessageAuthenticationCodeIsThatOfTheSampleData(message: String, code: String) throws {
        let key = try bytes("2b7e151628aed2a6abf7158809cf4f3c")
        #expect(text(SecurityFunctions.cmac(key: key, try bytes(message))) == code)
    }

    @Test func f4IsThatOfTheSampleData() throws {
        let value = SecurityFunctions.f4(try bytes(Self.u), try bytes(Self.v), try bytes(Self.n1), 0)
        #expect(text(value) == "f2c916f107a9bd1cf1eda1bea974872d")
    }

    @Test func f5IsThatOfTheSampleData() throws {
        let keys = SecurityFunctions.f5(
            try bytes(Self.sharedSecret), try bytes(Self.n1), try bytes(Self.n2), initiator: Self.a1,
            responder: Self.a2)
        #expect(text(keys.checkKey) == "2965f176a1084a02fd3f6a20ce636e20")
        #expect(text(keys.longTermKey) == "6986791169d7cd23980522b594750a38")
    }

    @Test func f6IsThatOfTheSampleData() throws {
        let value = SecurityFunctions.f6(
            try bytes("2965f176a1084a02fd3f6a20ce636e20"), try bytes(Self.n1), try bytes(Self.n2),
            try bytes("12a3343bb453bb5408da42d20c2d0fc8"), capabilities: try bytes("010102"), Self.a1, Self.a2)
        #expect(text(value) == "e3c473989cd0e8c5d26c0b09da958f61")
    }

    @Test func g2IsThatOfTheSampleData() throws {
        let value = SecurityFunctions.g2(
            try bytes(Self.u), try bytes(Self.v), try bytes(Self.n1), try bytes(Self.n2))
        #expect(value == 0x2F9E_D5BA)
    }

    @Test func h6IsThatOfTheSampleData() throws {
        let value = SecurityFunctions.h6(try bytes(Self.key), use: try bytes("6c656272"))
        #expect(text(value) == "2d9ae102e76dc91ce8d3a9e280b16399")
    }

    @Test func h7IsThatOfTheSampleData() throws {
        let value = SecurityFunctions.h7(salt: try bytes("000000000000000000000000746d7031"), try bytes(Self.key))
        #expect(text(value) == "fb173597c6a3c0ecd2998c2a75a57011")
    }

    // MARK: P-256

    private static let keyPairs = [
        (
            "3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd", u,
            "dc809c49652aeb6d63329abf5a52155c766345c28fed3024741c8ed01589d28b",
            "1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190",
            "4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a", sharedSecret
        ),
        (
            "06a516693c9aa31a6084545d0c5db641b48572b97203ddffb7ac73f7d0457663",
            "2c31a47b5779809ef44cb5eaaf5c3e43d5f8faad4a8794cb987e9b03745c78dd",
            "919512183898dfbecd52e2408e43871fd021109117bd3ed4eaf8437743715d4f",
            "f465e43ff23d3f1b9dc7dfc04da8758184dbc966204796eccf0d6cf5e16500cc",
            "0201d048bcbbd899eeefc424164e33c201c2b010ca6b4d43a8a155cad8ecb279",
            "ab85843a2f6d883f62e5684b38e307335fe6e1945ecd19604105c6f23221eb69"
        ),
    ]

    @Test(arguments: keyPairs)
    func theSharedSecretIsThatOfTheSampleData(
        privateKey: String, x: String, y: String, peerX: String, peerY: String, secret: String
    ) throws {
        let keys = try #require(DiffieHellmanKeys(privateKey: try bytes(privateKey)))
        #expect(keys.publicKey == (try bytes(x) + bytes(y)))
        #expect(keys.sharedSecret(with: try bytes(peerX) + bytes(peerY)) == (try bytes(secret)))
    }

    @Test func thePublicKeyOfTheDebugModeIsKnown() throws {
        #expect(DiffieHellmanKeys.debugCoordinate == (try bytes(Self.u)))
    }

    @Test func aPointThatIsNotOnTheCurveHasNoSharedSecret() {
        var random = SeededGenerator(seed: 1)
        let keys = DiffieHellmanKeys(using: &random)
        var point = DiffieHellmanKeys(using: &random).publicKey
        #expect(keys.sharedSecret(with: point) != nil)
        point[40] ^= 1
        #expect(keys.sharedSecret(with: point) == nil)
        #expect(keys.sharedSecret(with: [UInt8](repeating: 0, count: 64)) == nil)
    }

    @Test func zeroAndTheOrderOfTheCurveAreNoPrivateKeys() throws {
        #expect(DiffieHellmanKeys(privateKey: [UInt8](repeating: 0, count: 32)) == nil)
        let order = try bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        #expect(DiffieHellmanKeys(privateKey: order) == nil)
    }

    @Test func aSeedDrawsTheSameKeysAgain() {
        var (first, second) = (SeededGenerator(seed: 5), SeededGenerator(seed: 5))
        #expect(DiffieHellmanKeys(using: &first).publicKey == DiffieHellmanKeys(using: &second).publicKey)
    }
}
