import ATT
import Adapter
import Bluetooth
import GATT

/// The enhanced ATT bearers of one link (Core 5.4, Vol 3, Part F, 3.2.11, and Part G, 5.4): channels beside the one
/// that ATT has on every link, on each of which a request can be under way.
///
/// | State   | Input                                            | Then                                                |
/// |---------|--------------------------------------------------|-----------------------------------------------------|
/// | none    | `open`                                           | the first channel is asked for → opening            |
/// | opening | it is there                                      | a bearer; the next one is asked for, or → settled    |
/// | opening | the device refuses it, or leaves it unanswered   | → settled, with those that are there                |
/// | any     | a channel ends, or a bearer fails                | what is pending on it fails; it is not opened again  |
/// | any     | the link ends                                    | so do they                                          |
///
/// Nobody waits for them: until they are there, and where they are not, the link is used as it is.
final class EnhancedBearers {
  /// The number under which a device takes such channels.
  static let psm: UInt16 = 0x27
  /// How many are opened.
  private static let wanted = 2
  /// The longest packet that is of use, in octets.
  private static let longest = 517
  /// How many packets may wait until the device gives credits. In either direction there is one request and its
  /// answer; a device that asks on and on and takes no answers has a fault.
  private static let mostWaiting = 8

  private struct Entry {
    let id: BearerID
    let channel: any Channel
    var waiting: [[UInt8]] = []
  }

  private unowned let hub: LinkHub
  private var entries: [Entry] = []
  private var lastNumber = 0
  /// Whether they were asked for on this link.
  private(set) var hasBegun = false

  init(of hub: LinkHub) { self.hub = hub }

  /// How many there are.
  var count: Int { entries.count }

  /// The device takes enhanced bearers, and the link is encrypted: they are opened, once on a link.
  func open() {
    guard !hasBegun else { return }
    hasBegun = true
    openNext()
  }

  private func openNext() {
    let parameters = ChannelParameters(receiveMTU: Self.longest, mode: .enhanced)
    hub.link.openChannel(to: Self.psm, parameters) { [weak hub] result in
      guard case .success(let channel) = result else { return }
      guard let hub, hub.isOpen else { return channel.close() }
      hub.bearers.add(channel)
      if hub.bearers.lastNumber < Self.wanted { hub.bearers.openNext() }
    }
  }

  private func add(_ channel: any Channel) {
    lastNumber += 1
    let id = BearerID(lastNumber)
    let mtu = min(channel.sendMTU, channel.receiveMTU, Self.longest)
    entries.append(Entry(id: id, channel: channel))
    hub.withConnection { connection, _ in connection.openBearer(id, mtu: mtu) }
    channel.onEvent = { [weak hub] event in hub?.bearers.handle(event, id) }
    channel.isReading = hub.link.isReading
    hub.central.bearerOpened(id, mtu: mtu)
    hub.tellParameters()
  }

  private func handle(_ event: ChannelEvent, _ id: BearerID) {
    guard hub.isOpen else { return }
    switch event {
    case .received(let packet):
      hub.updateSecurity()
      hub.withConnection {
        $0.received(packet, on: id, now: hub.scheduler.now, database: &hub.database.attributes, actions: &$1)
      }
    case .writable: flush(id)
    case .ended(let reason):
      let error = GAPError.disconnected.error(
        "the bearer on which the device was asked ended before the answer: \(reason); what was written may be in force")
      hub.withConnection { $0.bearerEnded(id, error, actions: &$1) }
    }
  }

  func send(_ packet: [UInt8], on id: BearerID) {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
    if entries[index].waiting.isEmpty, entries[index].channel.isWritable { return entries[index].channel.send(packet) }
    guard entries[index].waiting.count < Self.mostWaiting else {
      let error = BledError.protocolViolation.error("the device asks again and again and takes no answers")
      return hub.withConnection { $0.bearerEnded(id, error, actions: &$1) }
    }
    entries[index].waiting.append(packet)
  }

  private func flush(_ id: BearerID) {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
    while entries[index].channel.isWritable, !entries[index].waiting.isEmpty {
      entries[index].channel.send(entries[index].waiting.removeFirst())
    }
  }

  /// The connection has given one up; what was pending on it fails next.
  func ended(_ id: BearerID, _ error: BearerError) {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
    entries.remove(at: index).channel.close()
    guard hub.isOpen else { return }
    hub.central.bearerEnded(id)
    hub.tellParameters()
  }

  /// Whether the link is read changed.
  func readingChanged() { for entry in entries { entry.channel.isReading = hub.link.isReading } }
}
