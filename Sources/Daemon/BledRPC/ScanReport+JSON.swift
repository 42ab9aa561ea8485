import Bluetooth
import FoundationEssentials

extension ScanReport.Params {
  /// Writes all of it.
  public func write(to writer: inout JSONWriter) throws {
    try writer.object { writer in
      try writeLasting(to: &writer)
      if let decoded {
        writer.name("decoded")
        try writer.value(decoded)
      }
      Self.write("scan", scan, to: &writer)
      try Self.write(rssi: rssi, time: time, to: &writer)
    }
  }

  /// Writes all but the parts that differ from one report on a device to the next.
  fileprivate func writeLasting(to writer: inout JSONWriter) throws {
    writer.name("peripheral")
    writer.value(peripheral)
    writer.name("adapter")
    writer.value(adapter)
    writer.name("address")
    writer.value(address)
    writer.name("addressType")
    writer.value(addressType)
    writer.name("connectable")
    writer.value(connectable)
    Self.write("name", name, to: &writer)
    Self.write("services", services, to: &writer)
    Self.write("solicitedServices", solicitedServices, to: &writer)
    if let serviceData {
      writer.name("serviceData")
      writer.object { writer in
        for (uuid, octets) in serviceData.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
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
    Self.write("truncated", truncated, to: &writer)
    Self.write("directed", directed, to: &writer)
    Self.write("primaryPHY", primaryPHY?.text, to: &writer)
    Self.write("secondaryPHY", secondaryPHY?.text, to: &writer)
    Self.write("sid", sid, to: &writer)
    if let periodicInterval {
      writer.name("periodicInterval")
      try writer.value(periodicInterval)
    }
  }

  fileprivate static func write(rssi: Int?, time: Double, to writer: inout JSONWriter) throws {
    write("rssi", rssi, to: &writer)
    writer.name("time")
    try writer.value(time)
  }

  private static func write(_ name: StaticString, _ text: String?, to writer: inout JSONWriter) {
    guard let text else { return }
    writer.name(name)
    writer.value(text)
  }

  private static func write(_ name: StaticString, _ isSo: Bool?, to writer: inout JSONWriter) {
    guard let isSo else { return }
    writer.name(name)
    writer.value(isSo)
  }

  fileprivate static func write(_ name: StaticString, _ number: Int?, to writer: inout JSONWriter) {
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

extension ScanReport {
  /// A report that is written again and again: as JSON, without the decoded values, the scan, the signal strength and
  /// the time.
  public struct Form {
    /// The adapter that it names.
    public let adapter: String
    private let beginning: JSONWriter

    /// Writes the unchanging part; `decoded`, `scan`, `rssi` and `time` of the report do not count.
    /// - Throws: for an interval that is not a finite number.
    public init(_ report: Params) throws {
      adapter = report.adapter
      var writer = JSONWriter(method: ScanReport.name, body: "params")
      writer.open("{")
      try report.writeLasting(to: &writer)
      beginning = writer
    }

    /// The notification as a line.
    /// - Parameters:
    ///   - decoded: the member of that name, as JSON; nil for none.
    ///   - scan: the number of its scan; nil for none.
    ///   - rssi: the signal strength in dBm; nil if unknown.
    ///   - time: when it was received, in seconds since the epoch.
    /// - Throws: for a time that is not a finite number.
    public func line(decoded: Data? = nil, scan: Int? = nil, rssi: Int?, time: Double) throws -> Data {
      var writer = beginning
      if let decoded {
        writer.name("decoded")
        writer.value(encoded: decoded)
      }
      Params.write("scan", scan, to: &writer)
      try Params.write(rssi: rssi, time: time, to: &writer)
      writer.close("}")
      return writer.finishMessage()
    }
  }
}
