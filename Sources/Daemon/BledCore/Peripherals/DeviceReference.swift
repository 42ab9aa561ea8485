import Adapter
import BledRPC
import Bluetooth

/// A device as a call names it: by the daemon's identifier of it, or by its address.
enum DeviceReference {
  case identifier(String)
  case address(NamedAddress)

  /// Reads a member that may be an address or an identifier.
  /// - Parameter kind: the address type, if given in the call.
  init(_ text: String, kind: DeviceAddress.Kind?) {
    self = NamedAddress(text, kind: kind).map { .address($0) } ?? .identifier(text)
  }

  /// Reads the members `address` and `addressType`.
  /// - Throws: `BledError.invalidParameter` for an invalid address.
  init(address: String, kind: DeviceAddress.Kind?) throws(BluetoothError) {
    guard let named = NamedAddress(address, kind: kind) else {
      throw BledError.invalidParameter.error("\"address\" must be six pairs of hex digits with colons between them")
    }
    self = .address(named)
  }

  /// Reads the members `peripheral`, `address` and `addressType`. The identifier applies if both are given.
  /// - Returns: nil if the call has neither.
  /// - Throws: `BledError.invalidParameter` for an invalid address.
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
  /// The target device of a call, remembered from now on, and its adapter.
  /// - Parameter adapter: the call's adapter; nil for the one that last received the device, else the first.
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

  /// The known devices that match a call.
  /// - Throws: `GAPError.unknownDevice` for an unknown identifier.
  func known(_ reference: DeviceReference) throws(BluetoothError) -> [Peripheral] {
    switch reference {
    case .identifier(let id): [try find(id)]
    case .address(let address): address.candidates.compactMap { known(at: $0) }
    }
  }

  /// The target address of a call, for a device that need not be known.
  /// - Throws: `GAPError.unknownDevice` for an unknown identifier.
  func address(of reference: DeviceReference) throws(BluetoothError) -> DeviceAddress {
    switch reference {
    case .identifier(let id): try find(id).address
    case .address(let address): meant(address)
    }
  }

  /// An address with the type of the most recently used device among the candidates.
  private func meant(_ named: NamedAddress) -> DeviceAddress {
    let uses = named.candidates.compactMap { address in known(at: address).map { (address, $0.lastUse) } }
    return uses.max { $0.1 < $1.1 }?.0 ?? named.address
  }
}
