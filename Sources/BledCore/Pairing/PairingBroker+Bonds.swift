import Adapter
import BledRPC
import Bluetooth

extension PairingBroker {
  /// All bonds, as programs see them.
  var list: PairingList.Result {
    .init(
      bonds: bonds.all.map { bond in
        let peripheral = directory.find(identity: bond.peer)
        return BondDescription(
          peripheral: peripheral?.id, address: "\(bond.peer)", addressType: "\(bond.peer.kind)",
          name: peripheral?.name, adapterAddress: "\(bond.local)", level: (bond.security ?? .none).word,
          keySize: bond.security?.keySize ?? 0)
      })
  }

  /// Forgets the keys shared with a device, on all adapters.
  func forget(_ params: PairingForget.Params, for session: Session) throws {
    let peer: DeviceAddress
    if let id = params.peripheral {
      peer = try directory.find(id).identity
    } else if let text = params.address,
      let bond = bonds.all.first(where: { DeviceAddress(text, kind: $0.peer.kind) == $0.peer })
    {
      peer = bond.peer
    } else if params.address == nil {
      throw BledError.invalidParameter.error("give \"peripheral\" or \"address\"")
    } else {
      throw GAPError.unknownDevice.error("this machine has not paired with such a device: see \(PairingList.name)")
    }
    try check(session, mayForget: peer)
    let own = bonds.all.filter { $0.peer == peer }
    guard !own.isEmpty else {
      throw GAPError.unknownDevice.error("this machine has not paired with that device: see \(PairingList.name)")
    }
    for bond in own { forget(bond) }
  }

  private func check(_ session: Session, mayForget peer: DeviceAddress) throws {
    let users = directory.find(identity: peer)?.users ?? []
    guard users.allSatisfy({ $0 == session.user }) || session.rules.permissions(of: session).contains(.sessions) else {
      throw BledError.notPermitted.error(
        "other users use this device: its keys can be forgotten by a program with the permission \"sessions\"")
    }
  }

  /// Removes a bond everywhere.
  func forget(_ bond: Bond) {
    bonds.remove(bond.local, bond.peer)
    shareBonds()
    for slot in adapters.slots where slot.adapter.information.address == bond.local { slot.adapter.unpair(bond.peer) }
  }

  /// Tells all adapters: a controller may be used through another one when it is plugged in again.
  func shareBonds() {
    for slot in adapters.slots { slot.adapter.setBonds(bonds.all) }
    directory.setBonds(bonds.all)
  }

  /// Whether a session may forget a device, keys included.
  func check(_ session: Session, mayForget peripheral: Peripheral) throws {
    guard bonds.all.contains(where: { $0.peer == peripheral.identity }) else { return }
    guard session.rules.permissions(of: session).contains(.pair) else {
      throw session.rules.policy.refusal(of: .pair, to: session.credentials)
    }
    try check(session, mayForget: peripheral.identity)
  }

  /// The device itself is forgotten.
  func forget(_ peripheral: Peripheral) {
    for bond in bonds.all where bond.peer == peripheral.identity { forget(bond) }
    peripheral.adapter.adapter.unpair(peripheral.address)
  }
}
