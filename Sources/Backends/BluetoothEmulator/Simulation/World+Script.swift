// The script of a described world: inputs at fixed instants.
extension World {
    /// Schedules the steps of a script.
    ///
    /// - Parameters:
    ///   - script: Checked steps.
    ///   - described: The checked descriptions of the air.devices.
    ///   - refs: The devices, in the order of their descriptions.
    mutating func schedule(_ script: [ScriptStep], _ described: [PeripheralDescription], _ refs: [Ref<Device>]) {
        for (index, step) in script.enumerated() {
            do throws(DescriptionError) {
                let input = try input(of: step, described, refs)
                // Future steps do not keep the world from being idle.
                context.queue.schedule(.script(index, input), at: step.time.nanoseconds, isPeriodic: true)
            } catch {
                preconditionFailure("a checked script failed: \(error)")
            }
        }
    }

    private func input(
        of step: ScriptStep, _ described: [PeripheralDescription], _ refs: [Ref<Device>]
    ) throws(DescriptionError) -> WorldInput {
        switch step.action {
        case .host(let name, let isPowered):
            guard let host = hosts.index(named: name) else {
                throw DescriptionError("host", "there is no host \"\(name)\"")
            }
            return .host(host, .power(isPowered))
        case .device(let name, let action):
            return .device(refs[try described.index(of: name, path: "device")], control(of: action))
        }
    }

    private func control(of action: ScriptStep.DeviceAction) -> DeviceControl {
        switch action {
        case .setProximity(let proximity): .setProximity(proximity)
        case .setRSSI(let rssi): .setRSSI(rssi)
        case .setAdvertising(let isOn): .enableAdvertising(nil, isOn)
        case .setValue(let value, let path, true): .notify(.path(path), value)
        case .setValue(let value, let path, false): .setValue(.path(path), value)
        case .disconnect: .disconnect(nil)
        case .inject(let fault): .inject(fault)
        }
    }

    /// Submits the control of a due step of the script.
    mutating func scriptDue(_ index: Int, _ input: WorldInput) {
        context.log("script[\(index)]")
        submit(input)
    }
}
