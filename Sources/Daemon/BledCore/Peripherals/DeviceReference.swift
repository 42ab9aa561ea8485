import Adapter
import BledRPC
import Bluetooth

/// A device as a call names it: by the daemon's identifier of it, or by its address.
enum DeviceReference {
  case identifier(String)
  case address(NamedAddress)

  /// Reads a member that may be either.
  /// - Parameter kind: the type of the address, if the call gives it.
  init(_ text: String, kind: DeviceAddress.Kind?) {
    self = NamedAddress(text, kind: kind).map { .address($0) } ?? .identifier(text)
  }

  /// Reads the members `address` and `addressType`.
  /// - Throws: `BledError.invalidParameter` for a text that is not an address.
  init(address: String, kind: DeviceAddress.Kind?) throws(BluetoothError) {
    guard let named = NamedAddress(address, kind: kind) else {
      throw BledError.invalidParameter.error("\"address\" must be six pairs of hex digits with colons between them")
    }
    self = .address(named)
  }

  /// Reads the members `peripheral`, `address` and `addressType`. The identifier applies if both are given.
  /// - Returns: nil if the call has neither.
  /// - Throws: `BledError.invalidParameter` for a text that is not an address.
  init?(peripheral: String?, address: String?, kind: DeviceAddress.Kind? = nil) throws(BluetoothError) {
    if let peripheral {
      self = .identifier(peripheral)
    } else if let address {
      try self.init(address: address, kind: kind)
    } else {
      return nil
    }
  }
}

extension PeripheralDirectory {
  /// The device of a call, remembered from now on, and the adapter for it.
  /// - Parameter adapter: the adapter of the call; nil for the one that heard the device last, else the first.
  /// - Throws: `GAPError.unknownDevice` for an unknown identifier, `GAPError.adapterAbsent`.
  func find(
    _ reference: DeviceReference, on adapter: String?, of adapters: AdapterRegistry
  ) throws -> (Peripheral, AdapterSlot) {
    let named = try adapter.map { try adapters.find($0) }
    let peripheral =
      switch reference {
      case .identifier(let id): try find(id)
      case .address(let address): self.peripheral(at: meant(address), on: try named ?? adapters.find(nil))
      }
    return (peripheral, named ?? peripheral.adapter)
  }

  /// The devices that a call may mean, of the known ones.
  /// - Throws: `GAPError.unknownDevice` for an unknown identifier.
  func known(_ reference: DeviceReference) throws(BluetoothError) -> [Peripheral] {
    switch reference {
    case .identifier(let id): [try find(id)]
    case .address(let address): address.candidates.compactMap { known(at: $0) }
    }
  }

  /// The address of the device of a call, which need not be known.
  /// - Throws: `GAPError.unknownDevice` for an unknown identifier.
  func address(of reference: DeviceReference) throws(BluetoothError) -> DeviceAddress {
    switch reference {
    case .identifier(let id): try find(id).address
    case .address(let address): meant(address)
    }
  }

  /// An address with the type of the device that was used last among the possible ones.
  private func meant(_ named: NamedAddress) -> DeviceAddress {
    let uses = named.candidates.compactMap { address in known(at: address).map { (address, $0.lastUse) } }
    return uses.max { $0.1 < $1.1 }?.0 ?? named.address
  }
}
