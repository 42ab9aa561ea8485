import Adapter
import Bluetooth
import BluetoothCrypto
import GATT

/// The state of a link that belongs to the bond with its device: the device's settings at our server, the features
/// that it was told of our client, and the counters of signed writes.
///
/// | State   | Input                                             | Then                                              |
/// |---------|---------------------------------------------------|---------------------------------------------------|
/// | none    | there is a bond                                   | awaited                                           |
/// | any     | the device shows that it has the keys of the bond | its settings are restored: in force               |
/// | any     | the keys of the bond were made on the link        | its settings here are kept: in force              |
/// | in force| the device sets something                         | kept                                              |
final class LinkBond {
  private unowned let hub: LinkHub
  private unowned let protection: any LinkProtection
  /// Whether the device's settings belong to its bond: it has shown that it has the keys, or they were made here.
  private var isInForce = false
  /// Whether it has not done so yet, though there is a bond.
  private(set) var isAwaited = false

  init(on hub: LinkHub, _ protection: any LinkProtection) {
    self.hub = hub
    self.protection = protection
  }

  private var bond: Bond? { protection.bond(of: hub) }

  /// The protection of the link changed, or is known better.
  func securityChanged() {
    if hub.isOpen, let bond = protection.provenBond(of: hub) { giveBack(to: bond) }
    isAwaited = !isInForce && bond != nil
  }

  /// The link is new, or there is another bond with its device, or none any more.
  /// - Parameter isMadeHere: whether its keys come from a pairing on this link: the device's settings here belong to
  ///   it.
  func changed(isMadeHere: Bool) {
    if isMadeHere {
      isInForce = true
      storeSettings()
    }
    acceptSignatures()
  }

  // MARK: Our server

  /// The device has the keys of its bond: its settings are restored, and it is told the changes since.
  private func giveBack(to bond: Bond) {
    if isInForce {
      // The link may be secure enough now for values that had to wait.
      return serviceReturned(1...0xFFFF)
    }
    isInForce = true
    if let state = protection.clients.state(of: bond) { hub.restore(state) }
    storeSettings()
  }

  /// A service is at these handles: a bonded device may have subscribed to it before.
  func serviceReturned(_ range: ClosedRange<UInt16>) {
    if isInForce, hub.isOpen { hub.serviceReturned(range) }
  }

  /// Stores the device's settings.
  func storeSettings() {
    guard isInForce, let bond else { return }
    if hub.database[hub.slot.audience].isHashed {
      protection.clients.store(hub.clientState, of: bond)
    } else {
      protection.clients.storeLater(of: bond) { [weak hub] in hub?.clientState }
    }
  }

  // MARK: Our client

  /// The Client Supported Features that the device was told, if it is bonded and knows that it is us; else nil.
  var toldFeatures: [UInt8]? {
    guard isInForce, let bond else { return nil }
    return protection.clients.toldFeatures(of: bond)
  }

  /// The device was told them: if it is bonded it keeps them (Core 5.4, Vol 3, Part G, 7.2).
  func told(_ features: [UInt8]) {
    if isInForce, let bond { protection.clients.store(toldFeatures: features, of: bond) }
  }

  /// Whether the device, which has shown that it has the keys, tells us changes of its services since earlier links.
  var tellsChanges: Bool {
    guard isInForce, let bond else { return false }
    return protection.clients.tellsChanges(bond)
  }

  /// Our client has subscribed to changes of its services: a bonded device keeps that (Core 5.4, Vol 3, Part G,
  /// 3.3.3.3).
  func subscribedToChanges() {
    if isInForce, let bond { protection.clients.store(tellsChanges: true, of: bond) }
  }

  /// The device does not let our client subscribe to them.
  func refusedToTellChanges() {
    if isInForce, let bond { protection.clients.store(tellsChanges: false, of: bond) }
  }

  // MARK: Signatures

  /// A signature needs no encryption: it identifies the writer by itself.
  private func acceptSignatures() {
    guard let bond, let key = bond.peerSignatureKey.flatMap({ Key128(littleEndian: $0.value) }) else {
      return hub.acceptSignatures(after: nil, nil)
    }
    hub.acceptSignatures(after: protection.clients.signCounter(of: bond)) { ATTSignature.verify($0, key: key) }
  }

  /// A signed write of the device was accepted.
  func signatureAccepted(_ counter: UInt32) {
    if let bond { protection.clients.store(signCounter: counter, of: bond) }
  }

  /// A write whose origin the device can check without encryption; on an encrypted link nothing is signed (Core 5.4,
  /// Vol 3, Part C, 10.4.1).
  /// - Throws: `notPermitted` without a bond with a key of ours; `pairingFailed` if the counter is not on disk.
  func signedWrite(_ handle: UInt16, _ value: [UInt8]) throws(BluetoothError) -> GATTProcedure {
    guard protection.security(of: hub).level <= 1 else { return .writeWithoutResponse(handle, value) }
    guard let bond, let key = bond.signatureKey.flatMap({ Key128(littleEndian: $0.value) }) else {
      throw BledError.notPermitted.error(
        "a signed write needs a key that only pairing gives: pair with the device (peripheral.pair) first")
    }
    guard let counter = protection.clients.nextCounter(of: bond) else {
      throw GAPError.pairingFailed.error(
        "the counter of signed writes, which may never repeat, could not be stored: the daemon's log says why")
    }
    return .signedWrite(handle, value) { ATTSignature.sign($0, counter: counter, key: key) }
  }
}
