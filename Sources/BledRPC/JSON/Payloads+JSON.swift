import Bluetooth

extension Empty {
  /// Reads it, in the plain form only.
  public init?(from scanner: inout JSONScanner) {
    guard scanner.object({ $1.skip() != nil }) else { return nil }
  }

  /// Writes all of it.
  public func write(to writer: inout JSONWriter) { writer.object { _ in } }
}

extension GATTRead.Params {
  /// Reads it, in the plain form only.
  public init?(from scanner: inout JSONScanner) {
    guard let place = ValuePlace(from: &scanner) else { return nil }
    self.init(peripheral: place.peripheral, handle: place.handle)
  }

  /// Writes all of it.
  public func write(to writer: inout JSONWriter) {
    writer.object { $0.place(peripheral, handle) }
  }
}

extension GATTRead.Result {
  /// Reads it, in the plain form only.
  public init?(from scanner: inout JSONScanner) {
    var octets: [UInt8]?
    let isObject = scanner.object { name, scanner in
      guard case "value" = name else { return scanner.skip() != nil }
      guard octets == nil else { return false }
      octets = scanner.text()?.hex
      return octets != nil
    }
    guard isObject, let octets else { return nil }
    self.init(value: HexBytes(octets))
  }

  /// Writes all of it.
  public func write(to writer: inout JSONWriter) {
    writer.object {
      $0.name("value")
      $0.value(value)
    }
  }
}

extension GATTWrite.Params {
  /// Reads it, in the plain form only.
  public init?(from scanner: inout JSONScanner) {
    guard let place = ValuePlace(from: &scanner), let value = place.value else { return nil }
    self.init(peripheral: place.peripheral, handle: place.handle, value: value, response: place.response)
  }

  /// Writes all of it.
  public func write(to writer: inout JSONWriter) {
    writer.object {
      $0.place(peripheral, handle, value)
      if let response {
        $0.name("response")
        $0.value(response)
      }
    }
  }
}

extension GATTValue.Params {
  /// Reads it, in the plain form only.
  public init?(from scanner: inout JSONScanner) {
    guard let place = ValuePlace(from: &scanner), let value = place.value else { return nil }
    self.init(peripheral: place.peripheral, handle: place.handle, value: value)
  }

  /// Writes all of it.
  public func write(to writer: inout JSONWriter) {
    writer.object { $0.place(peripheral, handle, value) }
  }
}

/// The members that reading, writing and subscribed values have in common. Each ignores the members of the others.
private struct ValuePlace {
  var peripheral: String
  var handle: UInt16
  var value: HexBytes?
  var response: Bool?

  init?(from scanner: inout JSONScanner) {
    var peripheral: String?
    var handle: UInt16?
    var value: [UInt8]?
    var response: Bool?
    let isObject = scanner.object { name, scanner in
      switch name {
      case "peripheral":
        guard peripheral == nil else { return false }
        peripheral = scanner.text()?.string
        return peripheral != nil
      case "handle":
        guard handle == nil else { return false }
        handle = scanner.integer().flatMap { UInt16(exactly: $0) }
        return handle != nil
      case "value":
        guard value == nil else { return false }
        value = scanner.text()?.hex
        return value != nil
      case "response":
        guard response == nil else { return false }
        response = scanner.bool()
        return response != nil
      default: return scanner.skip() != nil
      }
    }
    guard isObject, let peripheral, let handle else { return nil }
    self.peripheral = peripheral
    self.handle = handle
    self.value = value.map { HexBytes($0) }
    self.response = response
  }
}

extension JSONWriter {
  /// Writes the members of `ValuePlace`.
  fileprivate mutating func place(_ peripheral: String, _ handle: UInt16, _ value: HexBytes? = nil) {
    name("peripheral")
    self.value(peripheral)
    name("handle")
    self.value(handle)
    guard let value else { return }
    name("value")
    self.value(value)
  }
}

extension PeripheralList.Result {
  /// Writes all of it: there may be thousands, and others wait meanwhile.
  public func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.name("peripherals")
      writer.array { writer in
        for entry in peripherals {
          writer.separate()
          writer.object { entry.write(to: &$0) }
        }
      }
    }
  }
}

extension PeripheralList.Entry {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.name("peripheral")
    writer.value(peripheral)
    writer.name("address")
    writer.value(address)
    writer.name("addressType")
    writer.value(addressType)
    writer.name("adapter")
    writer.value(adapter)
    if let name {
      writer.name("name")
      writer.value(name)
    }
    if let rssi {
      writer.name("rssi")
      writer.value(rssi)
    }
    writer.name("state")
    writer.value(state)
    writer.name("mine")
    writer.value(mine)
    if let mtu {
      writer.name("mtu")
      writer.value(mtu)
    }
  }
}
