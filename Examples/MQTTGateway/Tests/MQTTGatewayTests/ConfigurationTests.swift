import Foundation
import GatewayCore
import Mosquitto
import Testing

@Suite struct ConfigurationTests {
    private static let valid = """
        gateway: kitchen
        broker:
          host: broker.example
          user: gateway
          password: { environment: SECRET }
        queue: { file: /tmp/queue.sqlite, rows: 10 }
        devices:
          - id: sensor
            address: C0:11:22:33:44:55
            profiles: environmental-sensing
            values:
              - { id: counter, characteristic: FFF0/FFF1, format: uint32@4/10, minimumInterval: 2 s }
            commands:
              - { id: lamp, characteristic: FFE0/FFE1, kind: switch, on: "01", off: "00" }
        """

    private func read(_ yaml: String) throws -> Configuration {
        try Configuration(yaml: yaml, file: "gateway.yaml", environment: ["SECRET": "swordfish"])
    }

    @Test func aFileIsRead() throws {
        let configuration = try read(Self.valid)
        #expect(configuration.gateway == "kitchen")
        #expect(configuration.broker.host == "broker.example" && configuration.broker.port == 1883)
        #expect(configuration.broker.password?.text == "swordfish")
        #expect(configuration.queue.rows == 10)
        let device = try #require(configuration.devices.first)
        #expect(device.values.map(\.id) == ["temperature", "humidity", "counter"])
        #expect(device.values.last?.minimumInterval == .seconds(2))
        #expect(device.commands.map(\.id) == ["lamp"])
    }

    @Test func aWordInQuotationMarksIsText() throws {
        let configuration = try read(Self.valid.replacingOccurrences(of: "user: gateway", with: "user: \"null\""))
        #expect(configuration.broker.user == "null")
    }

    @Test func aPasswordIsPartOfNoDescription() throws {
        let configuration = try read(Self.valid)
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("swordfish") && !"\(configuration)".contains("swordfish"))
    }

    @Test(arguments: [
        (
            "gateway: kitchen", "gateway: my kitchen",
            "gateway.yaml:1:10: gateway: \"my kitchen\" must be 1 to 64 letters"
        ),
        ("  host: broker.example\n", "", "gateway.yaml:3:3: broker: lacks the field host"),
        ("host:", "hots:", "gateway.yaml:3:3: broker.hots: is unknown; known are host"),
        ("rows: 10", "rows: 0", "gateway.yaml:6:41: queue.rows: \"0\" must be a whole number, 1 to 100000000"),
        ("SECRET", "OTHER", "gateway.yaml:5:28: broker.password.environment: the variable OTHER is not set"),
        ("C0:11:22:33:44:55", "C0:11", "gateway.yaml:9:14: devices[0].address: \"C0:11\" is not an address"),
        ("uint32@4/10", "uint31", "gateway.yaml:12:59: devices[0].values[0].format: \"uint31\" is not a type"),
        ("2 s", "2", "devices[0].values[0].minimumInterval: \"2\" must be a number with the unit ms, s, min or h"),
        ("id: lamp", "id: counter", "devices[0]: two values or commands are named counter"),
        (
            "kind: switch", "kind: lever",
            "devices[0].commands[0].kind: \"lever\" is none of switch, button, number, text"
        ),
        ("environmental-sensing", "weather", "devices[0].profiles: \"weather\" is none of battery"),
        ("FFF0/FFF1", "FFF1", "devices[0].values[0].characteristic: \"FFF1\" is not a service and a characteristic"),
        ("host: broker.example", "host: ~", "gateway.yaml:3:9: broker.host: must be text"),
        ("host: broker.example", "host: Null", "broker.host: must be text"),
        ("host: broker.example", "host:", "broker.host: must be text"),
        ("gateway: kitchen", "gateway: [", "gateway.yaml: "),
    ])
    func aMistakeNamesFileLineAndField(text: String, replacement: String, message: String) throws {
        let yaml = Self.valid.replacingOccurrences(of: text, with: replacement)
        #expect(yaml != Self.valid)
        let error = try #require(throws: ConfigurationError.self) { try read(yaml) }
        #expect(error.description.contains(message), "\(error)")
    }
}

@Suite struct ValueFormatTests {
    @Test(arguments: [
        ("sint16/100", [0x65, 0x08], MeasuredValue.number(21.49)), ("sint16/100", [0xFF, 0xFF], .number(-0.01)),
        ("uint8", [200], .integer(200)), ("sint8", [200], .integer(-56)), ("uint24be", [1, 2, 3], .integer(0x010203)),
        ("uint16@1", [9, 1, 2], .integer(0x0201)), ("float32", [0, 0, 0xC0, 0x3F], .number(1.5)),
        ("uint64", [UInt8](repeating: 0xFF, count: 8), .number(18_446_744_073_709_551_615)),
        ("text@1", [0x20, 0x68, 0x69], .text("hi")), ("hex", [0, 0xAB], .text("00ab")),
        ("heart-rate", [0, 72], .integer(72)),
    ])
    func bytesBecomeAValue(format: String, bytes: [UInt8], value: MeasuredValue) throws {
        #expect(try #require(ValueFormat(format)).decode(Data(bytes)) == value)
    }

    @Test(arguments: ["uint16", "uint8@2", "float64", "heart-rate", "temperature-measurement"])
    func bytesThatAreTooShortAreAnError(format: String) throws {
        let format = try #require(ValueFormat(format))
        #expect(throws: (any Error).self) { try format.decode(Data([1])) }
    }

    @Test(arguments: ["", "uint9", "uint8/0", "uint8/x", "uint8@-1", "text/10", "heart-rate@1", "uint8@512"])
    func otherTextIsNoFormat(text: String) { #expect(ValueFormat(text) == nil) }

    @Test(arguments: [
        ("uint8", 255.0, [0xFF]), ("sint16/100", -0.01, [0xFF, 0xFF]), ("uint16be", 258, [1, 2]),
        ("float32", 1.5, [0, 0, 0xC0, 0x3F]),
    ])
    func aNumberBecomesBytes(format: String, number: Double, bytes: [UInt8]) throws {
        #expect(try #require(ValueFormat(format)).encode(number) == Data(bytes))
    }

    @Test(arguments: [("uint8", 256.0), ("uint8", -1), ("sint8", 128), ("uint64", 1.9e19), ("text", 1)])
    func aNumberThatDoesNotFitIsAnError(format: String, number: Double) throws {
        let format = try #require(ValueFormat(format))
        #expect(throws: FormatError.self) { try format.encode(number) }
    }
}
