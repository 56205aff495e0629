import CoreBluetooth
import Library

print(CBUUID(string: "180d").uuidString, describe("180d"))
