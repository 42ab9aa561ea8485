import Adapter
import Bluetooth
import HCI

/// The mgmt commands that set up a controller before it is used, and restore it afterwards.
enum ControllerSettings {
  /// Brings a controller into use. The remains of other programs in the kernel are removed before it has power: devices
  /// that the kernel connects to by itself, advertisements, and private addresses, made with an unknown key.
  /// - Parameters:
  ///   - spareAddress: a random static address for a controller without one.
  ///   - pairing: the pairing settings. If no device may pair, the kernel neither stores keys nor pairs by itself.
  ///   - bonds: the bonds of all adapters. Loading them replaces the kernel's list, so all are loaded at once.
  ///   - identityResolvingKey: the key of its private addresses; nil if it is to have none.
  ///   - needsCycle: true if its power has to be cycled in between.
  static func script(
    for index: ControllerIndex, _ information: ControllerInformation, spareAddress: UInt64, pairing: PairingSettings,
    bonds: [Bond], identityResolvingKey: [UInt8]?, needsCycle: Bool
  ) -> [ManagementPacket] {
    var script: [ManagementPacket] = []
    func add(_ command: some ManagementCommand) { script.append(ManagementPacket(command, index: index)) }
    let current = information.current
    let changesPrivacy = identityResolvingKey != nil || current.contains(.privacy)
    let isCycled = (needsCycle || changesPrivacy) && current.contains(.powered)
    add(RemoveDevice())
    add(RemoveAdvertising())
    let local = information.address(orSpare: spareAddress)
    script += keys(for: index, bonds.filter { $0.local == local })
    if isCycled, information.address != 0 { add(SetPowered(value: 0)) }
    if information.address == 0 {
      if current.contains(.powered) { add(SetPowered(value: 0)) }
      add(SetStaticAddress { $0.address = spareAddress })
    }
    if changesPrivacy { add(privacy(identityResolvingKey)) }
    if current.contains(.advertising) { add(SetAdvertising(value: 0)) }
    // Otherwise the non-connectable advertisement of `PrivateAddressMachine` would be connectable.
    if identityResolvingKey != nil, current.contains(.connectable) { add(SetConnectable(value: 0)) }
    if !current.contains(.lowEnergy) { add(SetLowEnergy(value: 1)) }
    // With BR/EDR on, the kernel refuses Secure Connections, also of LE, before this.
    if current.contains(.basicRate), !current.contains(.secureSimplePairing) { add(SetSecureSimplePairing(value: 1)) }
    if !current.contains(.secureConnections), information.supported.contains(.secureConnections) {
      add(SetSecureConnections(value: 1))
    }
    add(SetIOCapability(value: pairing.ioCapability))
    if current.contains(.bondable) != pairing.acceptsDevices {
      add(SetBondable(value: pairing.acceptsDevices ? 1 : 0))
    }
    if !current.contains(.powered) || information.address == 0 || isCycled { add(SetPowered(value: 1)) }
    return script
  }

  private static func privacy(_ identityResolvingKey: [UInt8]?) -> SetPrivacy {
    SetPrivacy {
      // Limited: see `PrivateAddressMachine`. Nothing else of ours is discoverable for the kernel.
      $0.mode = identityResolvingKey == nil ? 0 : 2
      $0.identityResolvingKey = identityResolvingKey ?? [UInt8](repeating: 0, count: 16)
    }
  }

  /// Replaces the keys that the kernel has of a controller. Bonds without an identity address are left out: the kernel
  /// would refuse the whole list.
  static func keys(for index: ControllerIndex, _ bonds: [Bond]) -> [ManagementPacket] {
    let bonds = bonds.filter(\.peer.isIdentity)
    let encrypting = LoadLongTermKeys {
      $0.keys = bonds.flatMap { bond in bond.longTermKeys.map { .init($0, of: bond.peer) } }
    }
    let resolving = LoadIdentityResolvingKeys {
      $0.keys = bonds.compactMap { bond in
        bond.identityResolvingKey.map { value in
          ManagementIdentityResolvingKey {
            $0.device = ManagementAddress(bond.peer)
            $0.value = value
          }
        }
      }
    }
    return [ManagementPacket(encrypting, index: index), ManagementPacket(resolving, index: index)]
  }

  /// Restores a controller's earlier settings.
  /// - Parameters:
  ///   - found: its settings when it was first seen.
  ///   - acceptedPairing: true if devices could pair while it was used.
  ///   - wasPrivate: true if it had private addresses while it was used.
  ///   - needsCycle: true if its power has to be cycled in between.
  static func restoringScript(
    for index: ControllerIndex, _ found: ManagementSettings, acceptedPairing: Bool, wasPrivate: Bool, needsCycle: Bool
  ) -> [ManagementPacket] {
    var script: [ManagementPacket] = []
    func add(_ command: some ManagementCommand) { script.append(ManagementPacket(command, index: index)) }
    if found.contains(.bondable) != acceptedPairing { add(SetBondable(value: acceptedPairing ? 0 : 1)) }
    let isCycled = needsCycle || wasPrivate
    if isCycled || !found.contains(.powered) { add(SetPowered(value: 0)) }
    if wasPrivate { add(privacy(nil)) }
    if wasPrivate, found.contains(.connectable) { add(SetConnectable(value: 1)) }
    if isCycled, found.contains(.powered) { add(SetPowered(value: 1)) }
    return script
  }
}

extension ControllerInformation {
  /// The controller's address on the air.
  /// - Parameter spare: the random static address for a controller without a public one.
  func address(orSpare spare: UInt64) -> DeviceAddress {
    address == 0 ? DeviceAddress(value: spare, kind: .random) : DeviceAddress(value: address, kind: .public)
  }
}
