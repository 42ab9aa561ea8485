import Bluetooth
import Fuzzing
import HCI

/// Packets of the controller and to it: what can be decoded is the same when it is encoded, events octet for octet as
/// far as their fields are known.
@main
enum HCIPackets {
  static func main() {
    fuzz { octets in
      guard let packet = try? HCIPacket(decoding: octets) else { return }
      invariant(packet.octets == octets, "\(octets) became \(packet.octets)")
      switch packet {
      case .event(let packet):
        check(packet, AdvertisingReports(ofWhole: octets))
        check(packet, try? CompletedPackets(packet: ([0] + octets)[1...]))
      case .command(let packet):
        guard let type = KnownCommands.type(of: packet.opcode) else { return }
        check(packet, type)
      case .acl(let packet): invariant((try? ACLDataPacket(packet: octets)) == packet, "\(packet) is read otherwise")
      }
    }
  }

  /// - Parameter reports: the reports, read from the whole packet.
  private static func check(_ packet: EventPacket, _ reports: AdvertisingReports?) {
    guard let event = try? HCIEvent(decoding: packet) else {
      return invariant(reports == nil, "\(packet) is no event, and has reports")
    }
    let again = event.packet
    invariant(
      again.code == packet.code && packet.parameters.starts(with: again.parameters), "\(packet) became \(again)")
    switch event {
    case .commandComplete(let complete):
      guard let type = KnownCommands.type(of: complete.opcode) else { return }
      check(complete, type)
    case .leAdvertisingReport(let event):
      invariant(reports == .legacy(event), "\(packet) became \(String(describing: reports))")
      for report in event.reports { _ = (report.address.device, AdvertisingData(parsing: report.data)) }
    case .leExtendedAdvertisingReport(let event):
      invariant(reports == .extended(event), "\(packet) became \(String(describing: reports))")
      for report in event.reports { _ = (report.address.device, AdvertisingData(parsing: report.data)) }
    case .disconnectionComplete(let event): _ = event.reason.error("gone").message
    default: break
    }
  }

  /// - Parameter completed: the transmitted packets, read from the whole packet.
  private static func check(_ packet: EventPacket, _ completed: CompletedPackets?) {
    guard case .numberOfCompletedPackets(let event)? = try? HCIEvent(decoding: packet) else {
      return invariant(completed == nil, "\(packet) tells of no transmitted packets")
    }
    guard let completed else { return invariant(false, "\(packet) is not read") }
    invariant(completed.count == event.links.count, "\(packet) is of \(completed.count) links")
    for (place, link) in event.links.enumerated() {
      invariant(completed[place] == (link.handle, Int(link.packets)), "\(link) became \(completed[place])")
    }
  }

  private static func check<Command: HCICommand>(_ packet: CommandPacket, _: Command.Type) {
    guard let command = try? Command(decoding: packet) else { return }
    // Advertising data lies in a field of 31 octets; what stands behind the data is lost, so values are compared.
    let again = try? Command(decoding: CommandPacket(command))
    invariant(again == command, "\(command) is not decoded as itself")
  }

  private static func check<Command: HCICommand>(_ complete: CommandComplete, _: Command.Type) {
    guard let returned = try? complete.decoded(as: Command.self) else { return }
    let octets = returned.octets
    invariant(complete.returnParameters.starts(with: octets), "\(complete.returnParameters) became \(octets)")
  }
}

extension AdvertisingReports {
  /// The reports of a packet; nil where there are none, or none that can be read.
  fileprivate init?(ofWhole octets: [UInt8]) {
    guard let reports = try? AdvertisingReports(decoding: octets) else { return nil }
    self = reports
  }
}
