import BledClient
import BledRPC
import FoundationEssentials

/// The devices that a scan monitors, one line each, in the order in which they were named.
struct PresenceTable {
  private struct Device {
    let address: String
    var name: String?
    var state = "away"
  }

  private var devices: [Device]
  /// The addresses, by the daemon's identifiers.
  private var addresses: [String: String] = [:]

  init(addresses: [String]) {
    // An address may be named twice.
    devices = addresses.reduce(into: []) { devices, address in
      let address = address.uppercased()
      if !devices.contains(where: { $0.address == address }) { devices.append(Device(address: address)) }
    }
  }

  /// True if no device was present.
  var isEmpty: Bool { addresses.isEmpty }

  /// Handles a change.
  /// - Returns: Its line, and the address and the name of its device.
  mutating func change(
    _ change: DevicePresence, _ output: Output
  ) -> (line: String, address: String, name: String?) {
    switch change {
    case .found(let found):
      addresses[found.peripheral] = found.address
      let place = place(of: found.address)
      devices[place].name = found.name ?? devices[place].name
      let time = clockText(Date(timeIntervalSince1970: found.time))
      devices[place].state = "there since \(time)"
      let rssi = found.rssi.map { " (\($0) dBm)" } ?? ""
      return event(devices[place], time, "is there\(rssi)", output)
    case .lost(let lost):
      let place = place(of: addresses[lost.peripheral] ?? "\(lost.peripheral.prefix(8))")
      let last = clockText(Date(timeIntervalSince1970: lost.lastHeard))
      devices[place].state = "away, last heard at \(last)"
      return event(devices[place], clockText(Date()), "is away; it was last heard at \(last)", output)
    }
  }

  /// A device may be known by another address than the named one.
  private mutating func place(of address: String) -> Int {
    if let place = devices.firstIndex(where: { $0.address == address }) { return place }
    devices.append(Device(address: address))
    return devices.count - 1
  }

  private func event(
    _ device: Device, _ time: String, _ event: String, _ output: Output
  ) -> (line: String, address: String, name: String?) {
    let name = output.styled(Output.clean(device.name ?? "-"), .bold)
    return ("\(output.styled(time, .dim))  \(device.address)  \(name) \(event)", device.address, device.name)
  }

  /// The table.
  var table: Table {
    var table = Table(.init(heading: "NAME"), .init(heading: "ADDRESS"), .init(heading: "STATE"))
    table.rows = devices.map {
      [.init(text: $0.name ?? "-", style: .bold), .init(text: $0.address), .init(text: $0.state)]
    }
    return table
  }
}
