import HCI

/// The mgmt commands that set up a controller before it is used, and restore it afterwards.
enum ControllerSettings {
  /// Brings a controller into use.
  /// - Parameters:
  ///   - spareAddress: a random static address for a controller that has none of its own.
  ///   - needsCycle: whether its power has to be cycled in between.
  static func script(
    for index: ControllerIndex, _ information: ControllerInformation, spareAddress: UInt64, needsCycle: Bool
  ) -> [ManagementPacket] {
    var script: [ManagementPacket] = []
    func add(_ command: some ManagementCommand) { script.append(ManagementPacket(command, index: index)) }
    let current = information.current
    let isCycled = needsCycle && current.contains(.powered)
    if isCycled, information.address != 0 { add(SetPowered(value: 0)) }
    if information.address == 0 {
      if current.contains(.powered) { add(SetPowered(value: 0)) }
      add(SetStaticAddress { $0.address = spareAddress })
    }
    if current.contains(.advertising) { add(SetAdvertising(value: 0)) }
    if !current.contains(.lowEnergy) { add(SetLowEnergy(value: 1)) }
    if !current.contains(.secureConnections), information.supported.contains(.secureConnections) {
      add(SetSecureConnections(value: 1))
    }
    add(SetIOCapability(value: 3))
    if !current.contains(.bondable) { add(SetBondable(value: 1)) }
    if !current.contains(.powered) || information.address == 0 || isCycled { add(SetPowered(value: 1)) }
    return script
  }

  /// Restores a controller's earlier settings.
  /// - Parameters:
  ///   - found: its settings when it was first seen.
  ///   - needsCycle: whether its power has to be cycled in between.
  static func restoringScript(for index: ControllerIndex, _ found: ManagementSettings, needsCycle: Bool)
    -> [ManagementPacket]
  {
    var script: [ManagementPacket] = []
    func add(_ command: some ManagementCommand) { script.append(ManagementPacket(command, index: index)) }
    if !found.contains(.bondable) { add(SetBondable(value: 0)) }
    if needsCycle || !found.contains(.powered) { add(SetPowered(value: 0)) }
    if needsCycle, found.contains(.powered) { add(SetPowered(value: 1)) }
    return script
  }
}
