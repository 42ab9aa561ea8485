import BledRPC
import Bluetooth

/// A link that a session uses.
package struct UsedLink: Hashable, Sendable {
  /// The daemon's identifier of the device.
  package var peripheral: String
  /// The address at the time of the call, without a type if that is unknown.
  package var address: String?
  package var addressType: DeviceAddress.Kind?

  package init(peripheral: String, address: String? = nil, addressType: DeviceAddress.Kind? = nil) {
    self.peripheral = peripheral
    self.address = address
    self.addressType = addressType
  }

  package init(_ link: PeripheralConnect.Result) {
    self.init(peripheral: link.peripheral, address: link.address, addressType: link.addressType.known)
  }

  /// An address may change, the identifier does not.
  package static func == (one: UsedLink, other: UsedLink) -> Bool { one.peripheral == other.peripheral }

  package func hash(into hasher: inout Hasher) { hasher.combine(peripheral) }
}

/// A call of `peripheral.connect`.
package struct LinkRequest: UseRequest {
  /// The call that cancels it.
  package let withdrawal: PeripheralDisconnect.Params

  package init(_ withdrawal: PeripheralDisconnect.Params) { self.withdrawal = withdrawal }

  /// A device searched for by its advertisements is not compared: if it is used already, the daemon answers.
  package func mayMean(_ link: UsedLink) -> Bool {
    if let peripheral = withdrawal.peripheral { return peripheral == link.peripheral }
    return mayBe(link.address, link.addressType)
  }

  /// An identifier and an address may be of one device.
  package func mayMean(_ other: LinkRequest) -> Bool {
    let (own, its) = (withdrawal, other.withdrawal)
    if own.address != nil, its.address != nil { return mayBe(its.address, its.addressType) }
    if own.address != nil || its.address != nil { return own.peripheral != nil || its.peripheral != nil }
    return own == its
  }

  private func mayBe(_ address: String?, _ type: DeviceAddress.Kind?) -> Bool {
    guard let own = withdrawal.address, let address, own.uppercased() == address.uppercased() else { return false }
    return withdrawal.addressType == nil || type == nil || withdrawal.addressType == type
  }
}

/// A call of `gatt.subscribe`.
package struct SubscriptionRequest: UseRequest {
  private let peripheral: String
  /// nil if it is named by UUIDs.
  private let handle: UInt16?

  package init(peripheral: String, handle: UInt16?) {
    self.peripheral = peripheral
    self.handle = handle
  }

  package func mayMean(_ characteristic: CharacteristicReference) -> Bool {
    peripheral == characteristic.peripheral && (handle == nil || handle == characteristic.handle)
  }

  package func mayMean(_ other: SubscriptionRequest) -> Bool {
    peripheral == other.peripheral && (handle == nil || other.handle == nil || handle == other.handle)
  }
}

/// A train that a session follows.
package struct UsedTrain: Hashable, Sendable {
  /// The daemon's identifier of the device.
  package let peripheral: String
  package let sid: Int
  /// The call's name for the device: an identifier or an address.
  package let name: String

  /// - Parameter name: nil if the call did not name the device.
  package init(peripheral: String, sid: Int, name: String? = nil) {
    self.peripheral = peripheral
    self.sid = sid
    self.name = name ?? peripheral
  }

  /// Calls name one device in two ways.
  package static func == (one: UsedTrain, other: UsedTrain) -> Bool {
    one.peripheral == other.peripheral && one.sid == other.sid
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(peripheral)
    hasher.combine(sid)
  }
}

/// A call of `periodic.sync` or `periodic.receive`.
package struct TrainRequest: UseRequest {
  /// The call that cancels it.
  package let withdrawal: PeriodicStop.Params
  private let device: String
  /// A device transfers it: it may be a train of any device.
  private let isTransfer: Bool

  package init(_ sync: PeriodicSync.Params) {
    (device, isTransfer) = (sync.peripheral, false)
    withdrawal = .init(peripheral: device, sid: sync.sid)
  }

  package init(_ transfer: PeriodicReceive.Params) {
    (device, isTransfer) = (transfer.peripheral, true)
    withdrawal = .init(peripheral: device)
  }

  package func mayMean(_ train: UsedTrain) -> Bool {
    guard !isTransfer else { return true }
    guard (withdrawal.sid ?? train.sid) == train.sid else { return false }
    // The identifier of the train's device is known, its address only if the call used it.
    if Self.isAddress(device) { return Self.mayBe(device, train.name) }
    return Self.isSame(device, train.peripheral) || Self.isSame(device, train.name)
  }

  package func mayMean(_ other: TrainRequest) -> Bool {
    guard !isTransfer, !other.isTransfer else { return true }
    if let own = withdrawal.sid, let its = other.withdrawal.sid, own != its { return false }
    return Self.mayBe(device, other.device)
  }

  /// An identifier and an address may be of one device.
  private static func mayBe(_ one: String, _ other: String) -> Bool {
    isAddress(one) != isAddress(other) || isSame(one, other)
  }

  private static func isAddress(_ name: String) -> Bool { DeviceAddress(name, kind: .public) != nil }

  private static func isSame(_ one: String, _ other: String) -> Bool { one.uppercased() == other.uppercased() }
}
