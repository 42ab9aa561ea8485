import Bluetooth

extension Empty {
  /// Reads it, in the plain form only.
  public init?(from scanner: inout JSONScanner) {
    guard scanner.object({ _, _ in false }) else { return nil }
  }

  /// Writes all of it.
  public func write(to writer: inout JSONWriter) { writer.object { _ in } }
}

extension AttributeReference {
  /// Reads it, in the plain form only.
  public init?(from scanner: inout JSONScanner) {
    guard let place = ValuePlace(from: &scanner) else { return nil }
    self.init(peripheral: place.peripheral, attribute: place.attribute)
  }

  /// Writes all of it.
  public func write(to writer: inout JSONWriter) {
    writer.object { $0.place(peripheral, attribute) }
  }
}

extension GATTRead.Params {
  /// Reads it, in the plain form only, without force.
  public init?(from scanner: inout JSONScanner) {
    guard let place = ValuePlace(from: &scanner) else { return nil }
    self.init(peripheral: place.peripheral, attribute: place.attribute)
  }

  /// Writes all of it.
  public func write(to writer: inout JSONWriter) {
    writer.object {
      $0.place(peripheral, attribute)
      if let force {
        $0.name("force")
        $0.value(force)
      }
    }
  }
}

extension GATTRead.Result {
  /// Reads it, in the plain form only.
  public init?(from scanner: inout JSONScanner) {
    var octets: [UInt8]?
    var truncated: Bool?
    var found = AttributeFound()
    let isObject = scanner.object { name, scanner in
      switch name {
      case "value": scanner.read(&octets) { $0.text()?.hex }
      case "handle": scanner.read(&found.handle) { $0.handle() }
      case "uuid": scanner.read(&found.uuid) { $0.text()?.uuid }
      case "truncated": scanner.read(&truncated) { $0.bool() }
      default: scanner.skip() != nil
      }
    }
    guard isObject, let octets else { return nil }
    self.init(value: HexBytes(octets), handle: found.handle, uuid: found.uuid, truncated: truncated)
  }

  /// Writes all of it.
  public func write(to writer: inout JSONWriter) {
    writer.object {
      $0.name("value")
      $0.value(value)
      $0.found(handle, uuid)
      if let truncated {
        $0.name("truncated")
        $0.value(truncated)
      }
    }
  }
}

extension AttributeFound {
  /// Reads it, in the plain form only.
  public init?(from scanner: inout JSONScanner) {
    var found = AttributeFound()
    let isObject = scanner.object { name, scanner in
      switch name {
      case "handle": scanner.read(&found.handle) { $0.handle() }
      case "uuid": scanner.read(&found.uuid) { $0.text()?.uuid }
      default: false
      }
    }
    guard isObject else { return nil }
    self = found
  }

  /// Writes all of it.
  public func write(to writer: inout JSONWriter) { writer.object { $0.found(handle, uuid) } }
}

extension GATTWrite.Params {
  /// Reads it, in the plain form only, without an offset or a signature.
  public init?(from scanner: inout JSONScanner) {
    guard let place = ValuePlace(from: &scanner), let value = place.value else { return nil }
    self.init(peripheral: place.peripheral, attribute: place.attribute, value: value, response: place.response)
  }

  /// Writes all of it.
  public func write(to writer: inout JSONWriter) {
    writer.object {
      $0.place(peripheral, attribute)
      $0.name("value")
      $0.value(value)
      if let response {
        $0.name("response")
        $0.value(response)
      }
      if let offset {
        $0.name("offset")
        $0.value(offset)
      }
      if let signed {
        $0.name("signed")
        $0.value(signed)
      }
      if let force {
        $0.name("force")
        $0.value(force)
      }
    }
  }
}

extension GATTValue.Params {
  /// Reads it, in the plain form only.
  public init?(from scanner: inout JSONScanner) {
    guard let place = ValuePlace(from: &scanner), let value = place.value, let handle = place.attribute.handle,
      place.attribute == .handle(handle)
    else { return nil }
    self.init(peripheral: place.peripheral, handle: handle, value: value, time: place.time, serial: place.serial)
  }

  /// Writes all of it.
  public func write(to writer: inout JSONWriter) throws {
    try writer.object {
      $0.place(peripheral, .handle(handle))
      $0.name("value")
      $0.value(value)
      if let time {
        $0.name("time")
        try $0.value(time)
      }
      if let serial {
        $0.name("serial")
        $0.value(serial)
      }
    }
  }
}

/// The members common to reading, writing and subscribed values. Each ignores the members of the others. An object with
/// any other member is left to `JSONReader`.
private struct ValuePlace {
  var peripheral: String
  var attribute: AttributePath
  var value: HexBytes?
  var response: Bool?
  var time: Double?
  var serial: Int?

  init?(from scanner: inout JSONScanner) {
    var peripheral: String?
    var attribute = AttributePath()
    var value: [UInt8]?
    var response: Bool?
    var time: Double?
    var serial: Int?
    let isObject = scanner.object { name, scanner in
      switch name {
      case "peripheral": scanner.read(&peripheral) { $0.text()?.string }
      case "handle": scanner.read(&attribute.handle) { $0.handle() }
      case "characteristic": scanner.read(&attribute.characteristic) { $0.text()?.uuid }
      case "service": scanner.read(&attribute.service) { $0.text()?.uuid }
      case "descriptor": scanner.read(&attribute.descriptor) { $0.text()?.uuid }
      case "index": scanner.read(&attribute.index) { $0.integer() }
      case "value": scanner.read(&value) { $0.text()?.hex }
      case "response": scanner.read(&response) { $0.bool() }
      case "time": scanner.read(&time) { $0.decimal() }
      case "serial": scanner.read(&serial) { $0.integer() }
      default: false
      }
    }
    guard isObject, let peripheral else { return nil }
    self.peripheral = peripheral
    self.attribute = attribute
    self.value = value.map { HexBytes($0) }
    self.response = response
    self.time = time
    self.serial = serial
  }
}

extension JSONScanner {
  /// Reads the value of a member, unless it has been read: a member occurs once.
  /// - Returns: true if it has the plain form.
  mutating func read<Value>(_ value: inout Value?, _ parse: (inout JSONScanner) -> Value?) -> Bool {
    guard value == nil else { return false }
    value = parse(&self)
    return value != nil
  }

  fileprivate mutating func handle() -> UInt16? { integer().flatMap { UInt16(exactly: $0) } }
}

extension JSONScanner.Text {
  fileprivate var uuid: BluetoothUUID? { BluetoothUUID(string) }
}

extension JSONWriter {
  /// Writes the members that name an attribute.
  fileprivate mutating func place(_ peripheral: String, _ attribute: AttributePath) {
    name("peripheral")
    value(peripheral)
    if let handle = attribute.handle {
      name("handle")
      value(handle)
    }
    member("characteristic", attribute.characteristic)
    member("service", attribute.service)
    member("descriptor", attribute.descriptor)
    if let index = attribute.index {
      name("index")
      value(index)
    }
  }

  /// Writes the members of `AttributeFound`.
  fileprivate mutating func found(_ handle: UInt16?, _ uuid: BluetoothUUID?) {
    if let handle {
      name("handle")
      value(handle)
    }
    member("uuid", uuid)
  }

  private mutating func member(_ name: StaticString, _ uuid: BluetoothUUID?) {
    guard let uuid else { return }
    self.name(name)
    value("\(uuid)")
  }
}

extension PeripheralList.Result {
  /// Writes all of it: there may be thousands, while other work waits.
  public func write(to writer: inout JSONWriter) throws {
    try writer.object { writer in
      writer.name("peripherals")
      try writer.array { writer in
        for entry in peripherals {
          writer.separate()
          try writer.object { try entry.write(to: &$0) }
        }
      }
    }
  }
}

extension PeripheralList.Entry {
  fileprivate func write(to writer: inout JSONWriter) throws {
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
    if let connectable {
      writer.name("connectable")
      writer.value(connectable)
    }
    if let blocked {
      writer.name("blocked")
      writer.value(blocked)
    }
    if let incoming {
      writer.name("incoming")
      writer.value(incoming)
    }
    if let sinceReport {
      writer.name("sinceReport")
      try writer.value(sinceReport)
    }
  }
}
