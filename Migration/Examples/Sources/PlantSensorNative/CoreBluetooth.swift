// CoreBluetooth itself in place of the file of aliases, for all files of the app.
@_exported import CoreBluetooth
