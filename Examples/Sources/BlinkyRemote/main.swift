import Blinky
import Foundation

// Usage: swift run BlinkyRemote [COUNT]. The button switches the LED. Ends after COUNT changes, or with Ctrl-C.
var left = CommandLine.arguments.dropFirst().first.flatMap { Int($0) }
let app = BlinkyApp()
app.onChange = {
    print("\(app.phase), button \(app.isButtonPressed ? "pressed" : "released"), LED \(app.isLEDOn ? "on" : "off")")
    left = left.map { $0 - 1 }
    if left == 0 { exit(0) }
    if app.isButtonPressed != app.isLEDOn { app.setLED(app.isButtonPressed) }
}
RunLoop.main.run()
