import ATT
import Adapter
import Bluetooth
import GATT
import Logging

/// The enhanced ATT bearers of one link (Core 5.4, Vol 3, Part F, 3.2.11, and Part G, 5.4): channels beside ATT's fixed
/// one, each with its own request.
///
/// | State   | Input                                          | Then                                                |
/// |---------|------------------------------------------------|-----------------------------------------------------|
/// | none    | `open`                                         | the first channel is asked for → opening            |
/// | opening | it is open                                     | a bearer; the next one is requested, or → settled   |
/// | opening | the device has no room for the first one       | it is asked for again, as `BearerOpening` says      |
/// | opening | the device refuses it, or leaves it unanswered | → settled, with the present ones                    |
/// | any     | a channel ends, or a bearer fails              | its pending operations fail; it is not opened again |
/// | any     | the device opens one                           | a bearer, for the device's requests                 |
/// | any     | the link ends                                  | so do they                                          |
///
/// Opening them delays nothing: the link works without them. A device may send requests on our bearers, too. We send
/// none on bearers opened by the device: they are for its own requests.
public final class EnhancedBearers {
  /// The PSM for enhanced bearers.
  public static let psm: UInt16 = 0x27
  /// Maximum bearers from a device: as many as one request contains (Core 5.4, Vol 3, Part A, 4.25).
  private static let maximumTaken = 5
  /// The longest useful packet, in octets.
  private static let longest = 517
  /// Maximum packets queued until the device gives credits. Each direction has one request and its response; a device
  /// that keeps sending requests without reading responses is misbehaving.
  private static let maximumWaiting = 8

  private struct Entry {
    let id: BearerID
    let channel: any Channel
    /// True if we opened it.
    let isOurs: Bool
    var waiting: [[UInt8]] = []
  }

  private unowned let hub: LinkHub
  private var entries: [Entry] = []
  private var lastNumber = 0
  private var opening = BearerOpening()

  init(of hub: LinkHub) { self.hub = hub }

  /// True once they were requested on this link.
  var hasBegun: Bool { opening.hasBegun }

  /// The bearers that carry our requests.
  var count: Int { entries.count { $0.isOurs } }

  /// Listens for bearers from devices, on encrypted links.
  static func listen(on adapter: any Adapter, _ logger: Logger) {
    do {
      _ = try adapter.publishChannel(psm, ChannelParameters(receiveMTU: longest, level: 2, mode: .enhanced))
    } catch {
      logger.warning("devices cannot open enhanced ATT bearers: \(error)")
    }
  }

  /// The device has opened one.
  func accept(_ channel: any Channel) {
    guard channel.mode == .enhanced, hub.link.security.level > 1,
      entries.count(where: { !$0.isOurs }) < Self.maximumTaken
    else { return channel.close() }
    add(channel, isOurs: false)
  }

  /// Opens enhanced bearers, once on a link: the device supports them, and the link is encrypted.
  func open() {
    if opening.begin() { ask() }
  }

  private func ask() {
    let parameters = ChannelParameters(receiveMTU: Self.longest, mode: .enhanced)
    hub.link.openChannel(to: Self.psm, parameters) { [weak hub] result in
      if let hub, hub.isOpen {
        hub.bearers.asked(result)
      } else if case .success(let channel) = result {
        channel.close()
      }
    }
  }

  private func asked(_ result: Result<any Channel, BluetoothError>) {
    switch result {
    case .success(let channel):
      let isNextDue = opening.opened()
      add(channel, isOurs: true)
      if isNextDue { ask() }
    case .failure(let error):
      let lacksRoom = error.domain == .bled && error.code == BledError.limitReached.rawValue
      guard let delay = opening.refused(lacksRoom: lacksRoom) else { return }
      hub.scheduler.schedule(after: delay) { [weak hub] in
        if let hub, hub.isOpen { hub.bearers.ask() }
      }
    }
  }

  private func add(_ channel: any Channel, isOurs: Bool) {
    lastNumber += 1
    let id = BearerID(lastNumber)
    let mtu = min(channel.sendMTU, channel.receiveMTU, Self.longest)
    entries.append(Entry(id: id, channel: channel, isOurs: isOurs))
    hub.withConnection { connection, _ in connection.open(id, mtu: mtu) }
    channel.onEvent = { [weak hub] event in hub?.bearers.handle(event, id) }
    channel.isReading = hub.link.isReading
    guard isOurs else { return }
    hub.central.bearerOpened(id, mtu: mtu)
    hub.reportParameters()
  }

  private func handle(_ event: ChannelEvent, _ id: BearerID) {
    guard hub.isOpen else { return }
    switch event {
    case .received(let packet):
      hub.updateSecurity()
      hub.withConnection {
        $0.received(packet, on: id, now: hub.scheduler.now, database: &hub.database[hub.slot.audience], actions: &$1)
      }
    case .writable: flush(id)
    case .ended(let reason):
      let error = GAPError.disconnected.error(
        "the bearer on which the device was asked ended before the answer: \(reason); the write may be in force")
      hub.withConnection { $0.end(id, error, actions: &$1) }
    }
  }

  func send(_ packet: [UInt8], on id: BearerID) {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
    if entries[index].waiting.isEmpty, entries[index].channel.isWritable { return entries[index].channel.send(packet) }
    guard entries[index].waiting.count < Self.maximumWaiting else {
      let error = BledError.protocolViolation.error("the device sent too many requests without reading the responses")
      return hub.withConnection { $0.end(id, error, actions: &$1) }
    }
    entries[index].waiting.append(packet)
  }

  private func flush(_ id: BearerID) {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
    while entries[index].channel.isWritable, !entries[index].waiting.isEmpty {
      entries[index].channel.send(entries[index].waiting.removeFirst())
    }
  }

  /// The connection has given one up; its pending operations fail next.
  func ended(_ id: BearerID) {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
    let entry = entries.remove(at: index)
    entry.channel.close()
    guard hub.isOpen, entry.isOurs else { return }
    hub.central.bearerEnded(id)
    hub.reportParameters()
  }

  /// Reading of the link was paused or resumed.
  func readingChanged() { for entry in entries { entry.channel.isReading = hub.link.isReading } }
}
