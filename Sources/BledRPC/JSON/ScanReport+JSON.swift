import Bluetooth

extension ScanReport.Params {
  /// Writes all of it.
  public func write(to writer: inout JSONWriter) throws {
    try writer.object { writer in
      writer.name("peripheral")
      writer.value(peripheral)
      writer.name("adapter")
      writer.value(adapter)
      writer.name("address")
      writer.value(address)
      writer.name("addressType")
      writer.value(addressType)
      Self.write("rssi", rssi, to: &writer)
      writer.name("connectable")
      writer.value(connectable)
      if let name {
        writer.name("name")
        writer.value(name)
      }
      Self.write("services", services, to: &writer)
      Self.write("solicitedServices", solicitedServices, to: &writer)
      if let serviceData {
        writer.name("serviceData")
        writer.object { writer in
          for (uuid, octets) in serviceData {
            writer.name(uuid)
            writer.value(octets)
          }
        }
      }
      Self.write("manufacturerData", manufacturerData, to: &writer)
      Self.write("txPower", txPower, to: &writer)
      Self.write("appearance", appearance, to: &writer)
      writer.name("data")
      writer.value(data)
      Self.write("scanResponse", scanResponse, to: &writer)
      writer.name("time")
      try writer.value(time)
    }
  }

  private static func write(_ name: StaticString, _ number: Int?, to writer: inout JSONWriter) {
    guard let number else { return }
    writer.name(name)
    writer.value(number)
  }

  private static func write(_ name: StaticString, _ octets: HexBytes?, to writer: inout JSONWriter) {
    guard let octets else { return }
    writer.name(name)
    writer.value(octets)
  }

  private static func write(_ name: StaticString, _ uuids: [BluetoothUUID]?, to writer: inout JSONWriter) {
    guard let uuids else { return }
    writer.name(name)
    writer.array { writer in
      for uuid in uuids {
        writer.separate()
        writer.value("\(uuid)")
      }
    }
  }
}
