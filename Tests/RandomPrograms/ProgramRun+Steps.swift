import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth
import Foundation

/// The steps of a program, performed by apps, devices and the host.
extension ProgramRun {
    func perform(_ step: ProgramStep, _ place: any ProgramPlace) async throws {
        let host = place.emulator.host
        switch step {
        case .wait(let milliseconds): return try await place.pass(.milliseconds(milliseconds))
        case .power(let isOn): host.setPower(isOn)
        case .reset: return try await place.reset()
        case .authorize(let isAllowed): host.setAuthorization(isAllowed ? .allowed : .denied)
        case .plug(let isIn): host.setPlugged(isIn)
        case .remake(let index): try await remake(index, place)
        default:
            if !performAsServer(step), !performAsDevice(step) { performAsCentral(step) }
        }
        // The effects of the step at this instant are handled before the next step.
        try await place.settle()
    }

    private func performAsServer(_ step: ProgramStep) -> Bool {
        guard let server else { return false }
        switch step {
        case .publish(let isOn): server.queue.sync { server.publish(isOn) }
        case .advertise(let isOn): server.queue.sync { server.advertise(isOn) }
        case .answer(let answer): server.queue.sync { server.answer = answer }
        case .answerHeld: server.queue.sync { server.answerHeld() }
        case .update(_, let count): server.queue.sync { server.update(count: count) }
        default: return false
        }
        return true
    }

    private func performAsDevice(_ step: ProgramStep) -> Bool {
        switch step {
        case .value(let device, let characteristic, let count):
            let path = CharacteristicPath(ProgramWorld.characteristics[characteristic])
            devices[device].notify(path, value: Data(repeating: 9, count: count))
        case .disconnect(let device): devices[device].disconnect()
        case .crash(let device): devices[device].reset()
        case .range(let device, let isNear): devices[device].setProximity(isNear ? .near : .outOfRange)
        case .onAir(let device, let isOn): devices[device].setAdvertising(isOn)
        case .hold(let device, let isHeld): devices[device].holdReads(of: "AA00", isHeld)
        case .addService(let device): addService(to: devices[device])
        case .removeService(let device): devices[device].removeService(ProgramWorld.passingService)
        case .rename(let device): devices[device].rename("Renamed")
        default: return false
        }
        return true
    }

    private func addService(to device: EmulatedDevice) {
        do {
            try device.addService(ProgramWorld.passing)
        } catch {
            violations.append("a service could not be added: \(error)")
        }
    }

    private func performAsCentral(_ step: ProgramStep) {
        switch step {
        case .scan(let manager, let duplicates):
            let options = [CBCentralManagerScanOptionAllowDuplicatesKey: duplicates]
            onQueue(manager) { central in
                guard central.manager?.state == .poweredOn else { return }
                central.manager?.scanForPeripherals(withServices: nil, options: options)
            }
        case .stopScan(let manager): onQueue(manager) { $0.manager?.stopScan() }
        case .connect(let manager, let device): onQueue(manager) { self.connect($0, device) }
        case .cancel(let manager, let device):
            peripheral(manager, device) { central, peripheral in
                central.manager?.cancelPeripheralConnection(peripheral)
            }
        case .forget(let manager, let device):
            onQueue(manager) { central in self.identifier(device).map { central.forget($0) } }
        default: performOperation(step)
        }
    }

    private func performOperation(_ step: ProgramStep) {
        switch step {
        case .services(let manager, let device):
            peripheral(manager, device) { central, peripheral in
                central.ask(peripheral, .services)
                peripheral.discoverServices(nil)
            }
        case .characteristics(let manager, let device):
            peripheral(manager, device) { central, peripheral in
                for service in peripheral.services ?? [] {
                    central.ask(peripheral, .characteristics(service.uuid.uuidString))
                    peripheral.discoverCharacteristics(nil, for: service)
                }
            }
        case .rssi(let manager, let device):
            peripheral(manager, device) { central, peripheral in
                central.ask(peripheral, .rssi)
                peripheral.readRSSI()
            }
        case .descriptors(let manager, let device, let index):
            characteristic(manager, device, index) { central, peripheral, found in
                central.ask(peripheral, .descriptors(found.uuid.uuidString))
                peripheral.discoverDescriptors(for: found)
            }
        case .read(let manager, let device, let index):
            // Notifying characteristics are not read, so that their values can be distinguished.
            guard index != 2, index != 3 else { return }
            characteristic(manager, device, index) { central, peripheral, found in
                central.ask(peripheral, .read(found.uuid.uuidString))
                peripheral.readValue(for: found)
            }
        case .write(let manager, let device, let index, let count):
            characteristic(manager, device, index) { central, peripheral, found in
                central.ask(peripheral, .write(found.uuid.uuidString))
                peripheral.writeValue(Data(repeating: 5, count: count), for: found, type: .withResponse)
            }
        case .command(let manager, let device, let index, let count):
            characteristic(manager, device, index) { _, peripheral, found in
                peripheral.writeValue(Data(repeating: 6, count: count), for: found, type: .withoutResponse)
            }
        case .subscribe(let manager, let device, let index, let isOn):
            characteristic(manager, device, index) { central, peripheral, found in
                central.ask(peripheral, .notify(found.uuid.uuidString))
                peripheral.setNotifyValue(isOn, for: found)
            }
        default: violations.append("no way to perform \(step)")
        }
    }

    // MARK: Objects

    func onQueue(_ manager: Int, _ body: (ProgramCentral) -> Void) {
        let central = centrals[manager]
        central.queue.sync(flags: .barrier) { body(central) }
    }

    private func identifier(_ device: Int) -> UUID? {
        device < 2 ? place?.identifier(of: devices[device]) : place?.serverIdentifier()
    }

    private func connect(_ central: ProgramCentral, _ device: Int) {
        guard let manager = central.manager, manager.state == .poweredOn, let identifier = identifier(device),
            let object = central.links[identifier]?.object
                ?? manager.retrievePeripherals(withIdentifiers: [identifier]).first
        else { return }
        object.delegate = central
        central.links[identifier, default: ProgramCentral.Link()].object = object
        central.links[identifier]?.isWanted = true
        manager.connect(object)
    }

    private func peripheral(_ manager: Int, _ device: Int, _ body: (ProgramCentral, CBPeripheral) -> Void) {
        onQueue(manager) { central in
            guard let identifier = identifier(device), let object = central.links[identifier]?.object else { return }
            body(central, object)
        }
    }

    private func characteristic(
        _ manager: Int, _ device: Int, _ index: Int,
        _ body: (ProgramCentral, CBPeripheral, CBCharacteristic) -> Void
    ) {
        peripheral(manager, device) { central, peripheral in
            let uuid = CBUUID(string: ProgramWorld.characteristics[index].text)
            let all = (peripheral.services ?? []).flatMap { $0.characteristics ?? [] }
            if let found = all.first(where: { $0.uuid == uuid }) { body(central, peripheral, found) }
        }
    }
}
