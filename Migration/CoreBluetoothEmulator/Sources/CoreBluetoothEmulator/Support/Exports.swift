// On Apple's systems CoreBluetooth brings these along. CoreBluetooth itself is not exported: clients import it.
@_exported import Dispatch
@_exported import Foundation
