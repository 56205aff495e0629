import Blinky
import Foundation

// swift run BlinkyRemote: the LED follows the button. Ends with Ctrl-C.
let app = BlinkyApp()
app.onChange = {
    print("\(app.phase), button \(app.isButtonPressed ? "pressed" : "released"), LED \(app.isLEDOn ? "on" : "off")")
    if app.isButtonPressed != app.isLEDOn { app.setLED(app.isButtonPressed) }
}
RunLoop.main.run()
