import Bluetooth

extension Empty: PlainReadable, PlainWritable {
  init?(from scanner: inout JSONScanner) {
    guard scanner.object({ $1.skip() != nil }) else { return nil }
  }

  func write(to writer: inout JSONWriter) { writer.object { _ in } }
}

extension GATTRead.Params: PlainReadable, PlainWritable {
  init?(from scanner: inout JSONScanner) {
    guard let place = ValuePlace(from: &scanner) else { return nil }
    self.init(peripheral: place.peripheral, handle: place.handle)
  }

  func write(to writer: inout JSONWriter) {
    writer.object { $0.place(peripheral, handle) }
  }
}

extension GATTRead.Result: PlainReadable, PlainWritable {
  init?(from scanner: inout JSONScanner) {
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

  func write(to writer: inout JSONWriter) {
    writer.object {
      $0.name("value")
      $0.value(value)
    }
  }
}

extension GATTWrite.Params: PlainReadable, PlainWritable {
  init?(from scanner: inout JSONScanner) {
    guard let place = ValuePlace(from: &scanner), let value = place.value else { return nil }
    self.init(peripheral: place.peripheral, handle: place.handle, value: value, response: place.response)
  }

  func write(to writer: inout JSONWriter) {
    writer.object {
      $0.place(peripheral, handle, value)
      if let response {
        $0.name("response")
        $0.value(response)
      }
    }
  }
}

extension GATTValue.Params: PlainReadable, PlainWritable {
  init?(from scanner: inout JSONScanner) {
    guard let place = ValuePlace(from: &scanner), let value = place.value else { return nil }
    self.init(peripheral: place.peripheral, handle: place.handle, value: value)
  }

  func write(to writer: inout JSONWriter) {
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
