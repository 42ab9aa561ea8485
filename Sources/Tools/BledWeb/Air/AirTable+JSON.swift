import Beacons
import BledClient
import Bluetooth
import ValueFormats

/// Devices as pages receive them.
extension JSONWriter {
  /// The limit for the words of a row, in characters.
  private static let longestText = 200
  /// The limit for the services of a row.
  private static let maximumServices = 16

  /// A time in milliseconds, which an integer of JavaScript holds.
  /// - Parameter seconds: since the epoch, or between two times.
  mutating func value(milliseconds seconds: Double) {
    value(Int(exactly: (seconds * 1000).rounded()) ?? 0)
  }

  /// - Parameters:
  ///   - names: the names that the user gives, which services may have.
  ///   - inFull: with the members that seldom change.
  mutating func value(_ device: AirTable.Device, _ names: NameList, inFull: Bool) {
    let report = device.report
    object { writer in
      writer.member("id", report.peripheral)
      writer.name("rssi")
      if let rssi = report.rssi { writer.value(rssi) } else { writer.null() }
      writer.name("heard")
      writer.value(milliseconds: report.time)
      writer.name("count")
      writer.value(device.count)
      if let interval = device.interval {
        writer.name("interval")
        writer.value(milliseconds: interval)
      }
      if inFull { writer.description(device, names) }
    }
  }

  private mutating func description(_ device: AirTable.Device, _ names: NameList) {
    let report = device.report
    member("name", device.ownName ?? report.name)
    member("advertised", report.name)
    member("maker", AdvertisingData(parsing: report.data.octets).manufacturerData.first?.companyName)
    member("address", report.address)
    member("type", report.addressType.text)
    member("adapter", report.adapter)
    name("connectable")
    value(report.connectable)
    name("silent")
    value(device.isSilent)
    name("services")
    array { writer in
      for service in device.services.prefix(Self.maximumServices) {
        writer.separate()
        writer.value(names.name(of: service, of: report.address) ?? service.knownName ?? "\(service)")
      }
    }
    let text = device.text.joined(separator: ", ")
    member("text", text.count > Self.longestText ? "\(text.prefix(Self.longestText))…" : text)
    name("sensor")
    if let sensor = device.sensor { value(sensor) } else { null() }
  }

  private mutating func value(_ sensor: SensorReading) {
    object { writer in
      writer.member("format", sensor.format)
      writer.member("problem", sensor.problem)
      writer.member("battery", sensor.battery?.text)
      writer.name("values")
      writer.array { writer in
        for value in sensor.measurements {
          writer.separate()
          writer.object { writer in
            writer.member("name", value.name)
            writer.member("title", value.title)
            writer.member("text", value.text)
            writer.name("rank")
            if let rank = SensorReading.rank(value.name) { writer.value(rank) } else { writer.null() }
          }
        }
      }
    }
  }

  private mutating func member(_ name: StaticString, _ text: String?) {
    self.name(name)
    if let text { value(text) } else { null() }
  }
}
