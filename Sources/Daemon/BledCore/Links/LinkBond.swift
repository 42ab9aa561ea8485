import Adapter
import Bluetooth
import BluetoothCrypto
import GATT

/// A link's state that belongs to the bond with its device: the device's settings at our server, our client's features
/// sent to it, and the counters of signed writes.
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
  /// True if the device's settings belong to its bond: it has proven its keys, or they were made here.
  private var isInForce = false
  /// True if it has not proven its keys yet, though there is a bond.
  private(set) var isAwaited = false

  init(on hub: LinkHub, _ protection: any LinkProtection) {
    self.hub = hub
    self.protection = protection
  }

  private var bond: Bond? { protection.bond(of: hub) }

  /// The link's protection changed, or is known better.
  func securityChanged() {
    if hub.isOpen, let bond = protection.provenBond(of: hub) { giveBack(to: bond) }
    isAwaited = !isInForce && bond != nil
  }

  /// The link is new, or the bond with its device was replaced or removed.
  /// - Parameter isMadeHere: true if its keys come from a pairing on this link: the device's settings here belong to
  ///   it.
  func changed(isMadeHere: Bool) {
    if isMadeHere {
      isInForce = true
      storeSettings()
    }
    acceptSignatures()
  }

  // MARK: Our server

  /// The device has its bond's keys: restores its settings, and reports the changes since.
  private func giveBack(to bond: Bond) {
    if isInForce {
      // The link may now be secure enough for values that had to wait.
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

  /// The Client Supported Features sent to the device, if it is bonded and has identified us; else nil.
  var toldFeatures: [UInt8]? {
    guard isInForce, let bond else { return nil }
    return protection.clients.toldFeatures(of: bond)
  }

  /// The features were sent to the device: a bonded one keeps them (Core 5.4, Vol 3, Part G, 7.2).
  func knowsFeatures(_ features: [UInt8]) {
    if isInForce, let bond { protection.clients.store(toldFeatures: features, of: bond) }
  }

  /// True if the device, which has proven its keys, reports services changed since earlier links.
  var tellsChanges: Bool {
    guard isInForce, let bond else { return false }
    return protection.clients.tellsChanges(bond)
  }

  /// Our client has subscribed to changed services: a bonded device keeps that (Core 5.4, Vol 3, Part G, 3.3.3.3).
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

  /// The device's signed write was accepted.
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
