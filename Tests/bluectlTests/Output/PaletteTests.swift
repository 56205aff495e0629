import Testing

@testable import bluectl

struct PaletteTests {
    @Test func colorsAreForTerminalsOnly() {
        #expect(Palette(isTerminal: true, environment: ["TERM": "xterm"]).value("x") == "\u{1B}[36mx\u{1B}[0m")
        #expect(Palette(isTerminal: false, environment: ["TERM": "xterm"]).value("x") == "x")
    }

    @Test func noColorIsObeyedUnlessEmpty() {
        #expect(!Palette(isTerminal: true, environment: ["NO_COLOR": "1"]).isEnabled)
        #expect(Palette(isTerminal: true, environment: ["NO_COLOR": ""]).isEnabled)
    }

    @Test func aDumbTerminalHasNone() {
        #expect(!Palette(isTerminal: true, environment: ["TERM": "dumb"]).isEnabled)
    }
}
