import ATT
import Bluetooth
import HCI

/// Finds a recording's devices: their advertisements, and their answers on links with this machine as client.
///
/// | Input                            | Effect                                                  |
/// |----------------------------------|---------------------------------------------------------|
/// | an advertising report            | data, signal and interval of its device (`AirRecord`)   |
/// | a link was established           | its device accepts connections                          |
/// | a request of this machine        | it is remembered for the answer                         |
/// | an answer, a notification        | attributes and values of the device (`AttributeRecord`) |
/// | a Pairing Response of the device | how it pairs                                            |
/// | a link ended                     | requests without an answer are forgotten                |
/// | a note of a call                 | its device has the name in it, if it has no other       |
public struct DeviceRecorder: Sendable {
  private struct Device {
    var air = AirRecord()
    var attributes = AttributeRecord()
    var wasConnected = false
    var mtu: Int?
    var pairing: RecordedDevice.Pairing?
  }

  private struct Link {
    var peer: DeviceAddress
    /// In microseconds.
    var began: Int64
    var isEncrypted = false
    /// The requests without an answer, by their bearer.
    var requests: [Int: [UInt8]] = [:]
  }

  /// So many devices are found; further ones are counted.
  public static let maximumDevices = 2_000
  /// Omitted devices.
  public private(set) var devicesLeftOut = 0
  /// Omitted packets of links established before the recording: their devices are unknown.
  public private(set) var packetsWithoutDevice = 0

  private var frames = LinkFrames()
  private var links: [LinkNumber: Link] = [:]
  private var found: [DeviceAddress: Device] = [:]
  /// The addresses in order of discovery.
  private var order: [DeviceAddress] = []
  /// The names in notes of calls, by the address in text.
  private var notedNames: [String: String] = [:]

  /// Begins with no device found.
  public init() {}

  /// Adds a packet from the recording.
  public mutating func receive(_ record: CaptureRecord) {
    let packet = record.packet
    switch packet.kind {
    case .event:
      guard packet.octets.count >= 2,
        let event = try? HCIEvent(
          decoding: EventPacket(code: packet.octets[0], parameters: Array(packet.octets.dropFirst(2))))
      else { return }
      receive(event, record)
    case .sentACL, .receivedACL:
      let isSent = packet.kind == .sentACL
      guard let frame = frames.receive(packet.octets[...], isSent: isSent, adapter: record.adapter) else { return }
      receive(frame, at: record.time)
    case .closeIndex, .deletedIndex:
      frames.reset(record.adapter)
      links = links.filter { $0.key.adapter != record.adapter }
    case .userLogging:
      guard let device = Annotation(packet).flatMap({ CallNote($0.text) })?.device else { return }
      // A known device may have another name by now.
      guard notedNames.count < Self.maximumDevices || notedNames[device.address] != nil else { return }
      notedNames[device.address] = device.name
    default: break
    }
  }

  // MARK: Events

  private mutating func receive(_ event: HCIEvent, _ record: CaptureRecord) {
    switch event {
    case .leAdvertisingReport, .leExtendedAdvertisingReport:
      for advertisement in Advertisement.list(event) {
        guard let peer = advertisement.peer, isKnown(peer) else { continue }
        found[peer]?.air.receive(advertisement, at: record.time)
      }
    case .leConnectionComplete(let event):
      began(event.status, event.handle, event.peer, record)
    case .leEnhancedConnectionComplete(let event):
      began(event.status, event.handle, event.peer, record)
    case .disconnectionComplete(let event):
      let number = LinkNumber(adapter: record.adapter, handle: event.handle & 0x0FFF)
      links[number] = nil
      _ = frames.ended(number)
    case .encryptionChange(let event) where event.status == .success:
      links[LinkNumber(adapter: record.adapter, handle: event.handle & 0x0FFF)]?.isEncrypted = event.mode != 0
    case .other(let event):
      guard let link = ClassicLink(event) else { return }
      frames.began(
        LinkNumber(adapter: record.adapter, handle: link.handle & 0x0FFF), peer: nil, isClassic: true)
    default: break
    }
  }

  private mutating func began(
    _ status: HCIStatus, _ handle: UInt16, _ peer: HCIAddress, _ record: CaptureRecord
  ) {
    guard status == .success, let peer = peer.device else { return }
    let number = LinkNumber(adapter: record.adapter, handle: handle & 0x0FFF)
    frames.began(number, peer: peer)
    guard isKnown(peer) else { return }
    links[number] = Link(peer: peer, began: record.time)
    found[peer]?.wasConnected = true
    found[peer]?.attributes.linkBegan(at: record.time)
  }

  /// True if the device is found, or there is room for it.
  private mutating func isKnown(_ address: DeviceAddress) -> Bool {
    if found[address] != nil { return true }
    guard found.count < Self.maximumDevices else {
      devicesLeftOut += 1
      return false
    }
    found[address] = Device()
    order.append(address)
    return true
  }

  // MARK: Data

  private mutating func receive(_ frame: LinkFrame, at time: Int64) {
    guard var link = links[frame.link] else {
      if frame.peer == nil { packetsWithoutDevice += 1 }
      return
    }
    defer { links[frame.link] = link }
    switch frame.channel {
    case .attribute(let bearer): attribute(frame, bearer, &link, time)
    case .security:
      let octets = frame.octets
      guard !frame.isSent, octets.count >= 5, octets[0] == 0x02 else { return }
      found[link.peer]?.pairing = RecordedDevice.Pairing(
        capability: octets[1], bonds: octets[3] & 0x03 != 0, hasSecureConnections: octets[3] & 0x08 != 0,
        keySize: octets[4])
    case .signalling: break
    }
  }

  private mutating func attribute(_ frame: LinkFrame, _ bearer: Int, _ link: inout Link, _ time: Int64) {
    guard let pdu = try? ATTPDU(decoding: frame.octets) else { return }
    guard !frame.isSent else {
      if pdu.opcode.kind == .request { link.requests[bearer] = frame.octets }
      return
    }
    switch pdu {
    case .handleValueNotification(let handle, let value), .handleValueIndication(let handle, let value):
      found[link.peer]?.attributes.wasSent(handle, value, at: time, linkUp: link.began)
    case .multipleHandleValueNotification(let list):
      for (handle, value) in HandleLengthValueList(list) {
        found[link.peer]?.attributes.wasSent(handle, value, at: time, linkUp: link.began)
      }
    default:
      guard pdu.opcode.kind == .response, let request = link.requests.removeValue(forKey: bearer),
        let asked = try? ATTPDU(decoding: request)
      else { return }
      answered(asked, pdu, link, time)
    }
  }

  private mutating func answered(_ request: ATTPDU, _ answer: ATTPDU, _ link: Link, _ time: Int64) {
    if case .exchangeMTUResponse(let mtu) = answer { found[link.peer]?.mtu = Int(mtu) }
    found[link.peer]?.attributes.answered(
      request, answer, isEncrypted: link.isEncrypted, at: time, linkUp: link.began)
  }

  // MARK: The devices

  /// The found devices, in the order of their first packets.
  public var devices: [RecordedDevice] { order.compactMap { address in found[address].map { device(address, $0) } } }

  private func device(_ address: DeviceAddress, _ found: Device) -> RecordedDevice {
    var device = RecordedDevice(address: address)
    device.isConnectable = found.wasConnected || found.air.isConnectable
    device.advertising = found.air.data
    device.scanResponse = found.air.scanResponse
    device.interval = found.air.interval
    device.signal = found.air.signal
    device.mtu = found.mtu
    device.pairing = found.pairing
    device.services = found.attributes.services
    device.name =
      found.attributes.name ?? AdvertisingData(parsing: found.air.scanResponse ?? []).localName
      ?? AdvertisingData(parsing: found.air.data ?? []).localName ?? notedNames["\(address)"]
    if found.air.data == nil { device.remarks.append("its advertisements were not recorded") }
    if found.wasConnected, device.services.isEmpty {
      device.remarks.append("its services were not discovered during the recording")
    }
    let strange = found.attributes.handlesWithoutType
    if !strange.isEmpty, !device.services.isEmpty {
      let list = strange.prefix(16).map { "\($0)" }.joined(separator: ", ") + (strange.count > 16 ? ", …" : "")
      device.remarks.append("values of handles that were not discovered are left out: \(list)")
    }
    if found.attributes.valuesLeftOut > 0 {
      device.remarks.append("\(found.attributes.valuesLeftOut) further values are left out")
    }
    return device
  }
}
