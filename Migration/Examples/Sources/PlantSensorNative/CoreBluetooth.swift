// In place of the file of aliases: CoreBluetooth itself, for all files of the app.
@_exported import CoreBluetooth
