import Adapter
import BledRPC
import Bluetooth

/// The bonds as seen, imported and forgotten by sessions, and as reported by adapters. It decides which users rely on a
/// bond.
final class BondBroker {
  /// The owner of all bonds.
  let bonds: BondDirectory
  private unowned let adapters: AdapterRegistry
  private unowned let directory: PeripheralDirectory
  private unowned let links: LinkRegistry

  init(
    _ bonds: BondDirectory, adapters: AdapterRegistry, directory: PeripheralDirectory, links: LinkRegistry
  ) {
    self.bonds = bonds
    self.adapters = adapters
    self.directory = directory
    self.links = links
  }

  // MARK: Sessions

  /// All bonds, as reported to programs.
  var list: PairingList.Result {
    let known = Dictionary(directory.all.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
    return .init(
      bonds: bonds.all.map { bond in
        let peripheral = known[bond.peer]
        return BondDescription(
          peripheral: peripheral?.id, address: "\(bond.peer)", addressType: Word(bond.peer.kind),
          name: peripheral?.name, adapterAddress: "\(bond.local)", level: (bond.security ?? .none).word,
          keySize: bond.security?.keySize ?? 0)
      })
  }

  /// Forgets the keys shared with a device, on all adapters.
  func forget(_ params: PairingForget.Params, for session: Session) throws {
    let peers: [DeviceAddress]
    switch try DeviceReference(peripheral: params.peripheral, address: params.address) {
    case .identifier(let id): peers = [try directory.find(id).identity]
    case .address(let address): peers = address.candidates
    case nil: throw BledError.invalidParameter.error("give \"peripheral\" or \"address\"")
    }
    guard let peer = bonds.all.first(where: { peers.contains($0.peer) })?.peer else {
      throw GAPError.unknownDevice.error("this machine has not paired with that device: see \(PairingList.name)")
    }
    try check(session, mayForget: peer)
    for bond in bonds.all where bond.peer == peer { forget(bond) }
  }

  /// Takes over keys of another stack.
  func importBond(_ params: PairingImport.Params, for session: Session, _ reply: Reply<Empty>) throws {
    guard session.rules.permissions(of: session).contains(.adapters) else {
      throw session.rules.policy.refusal(of: .adapters, to: session.credentials)
    }
    let bond = try Bond(params)
    store(bond, for: 0)
    isAdded(bond)
    bonds.whenStored { isStored in
      guard isStored else {
        return reply.fail(GAPError.pairingFailed.error("the keys could not be stored: the daemon's log says why"))
      }
      reply.succeed(Empty())
    }
  }

  /// Checks if a session may forget a device, keys included.
  func check(_ session: Session, mayForget peripheral: Peripheral) throws(BluetoothError) {
    guard bonds.contains(peripheral.identity) else { return }
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

  private func check(_ session: Session, mayForget peer: DeviceAddress) throws(BluetoothError) {
    let users = bonds.all.filter { $0.peer == peer }.reduce(directory.find(identity: peer)?.users ?? []) {
      $0.union(self.users(of: $1))
    }
    guard users.allSatisfy({ $0 == session.user }) || session.rules.permissions(of: session).contains(.sessions) else {
      throw BledError.notPermitted.error(
        "other users use this device: its keys can be forgotten by a program with the permission \"sessions\"")
    }
  }

  // MARK: Pairings

  /// The users relying on a bond: its maker, and each user of a link to its device.
  func users(of bond: Bond) -> Set<UInt32> {
    var users = Set([bonds.user(of: bond)].compactMap { $0 })
    if users.isEmpty { users = directory.find(identity: bond.peer)?.users ?? [] }
    for hub in links.links where hub.peripheral.identity == bond.peer {
      users.formUnion((hub.central.users.map(\.user) + hub.server.servedUsers).compactMap { $0 })
    }
    return users
  }

  /// Stores a bond. The bond evicted for it is removed everywhere.
  /// - Parameter user: the pairing user; nil leaves it unchanged.
  /// - Returns: false if this bond had to give way.
  @discardableResult
  func store(_ bond: Bond, for user: UInt32?) -> Bool {
    let connected = Set(links.links.map(\.peripheral.identity))
    guard let victim = bonds.store(bond, for: user, isLinked: { connected.contains($0.peer) }) else { return true }
    forget(victim)
    return victim != bond
  }

  /// Removes a bond everywhere.
  func forget(_ bond: Bond) {
    bonds.remove(bond.id)
    for slot in adapters.slots where slot.adapter.information.address == bond.local { slot.adapter.unpair(bond.peer) }
  }

  /// A bond exists that its adapter did not make, or that is valid again.
  func isAdded(_ bond: Bond) {
    for slot in adapters.slots where slot.adapter.information.address == bond.local { slot.adapter.bondsAdded() }
  }
}

extension Bond {
  /// Keys of another stack.
  /// - Throws: `BledError.invalidParameter`, naming the invalid member.
  fileprivate init(_ params: PairingImport.Params) throws {
    guard let local = DeviceAddress(params.adapterAddress, kind: .public),
      let peer = DeviceAddress(params.address, kind: params.addressType)
    else {
      throw BledError.invalidParameter.error(
        "give \"adapterAddress\" and \"address\" as six pairs of hex digits")
    }
    // With such a bond the kernel would refuse all the adapter's keys.
    guard peer.isIdentity else {
      throw BledError.invalidParameter.error(
        "give the identity address of the device: \(peer) is a private address, which changes")
    }
    self.init(local: local, peer: peer)
    guard (1...2).contains(params.longTermKeys.count), params.signatureKeys?.count ?? 0 <= 2 else {
      throw BledError.invalidParameter.error("give one or two long term keys, and at most two signature keys")
    }
    for key in params.longTermKeys {
      guard key.value.octets.count == 16, key.value.octets.contains(where: { $0 != 0 }), (7...16).contains(key.size),
        key.random.octets.count == 8
      else {
        throw BledError.invalidParameter.error(
          "a long term key has 16 octets that are not all 0, a size of 7 to 16 and a random number of 8 octets")
      }
      add(
        LongTermKey(
          value: key.value.octets, size: key.size, diversifier: key.diversifier,
          random: key.random.octets.reduce(0) { $0 << 8 | UInt64($1) }, isAuthenticated: key.authenticated,
          isSecureConnections: key.secureConnections, role: key.central ? .central : .peripheral))
    }
    let others = [params.identityResolvingKey].compactMap { $0 } + (params.signatureKeys ?? []).map(\.value)
    guard others.allSatisfy({ $0.octets.count == 16 }) else {
      throw BledError.invalidParameter.error("an identity resolving key and a signature key have 16 octets")
    }
    // Keys of zeros are not secret.
    identityResolvingKey = params.identityResolvingKey?.octets.nonZero
    for key in params.signatureKeys ?? [] where key.value.octets.nonZero != nil {
      add(SignatureKey(value: key.value.octets, isOurs: key.ours, isAuthenticated: key.authenticated))
    }
  }
}

extension [UInt8] {
  /// Nil if all octets are 0.
  fileprivate var nonZero: [UInt8]? { contains { $0 != 0 } ? self : nil }
}
