import Bluetooth
import BluetoothCrypto
import NordicDFU

/// The server of Nordic's Secure DFU on a simulated device: the entry into the boot loader, and the boot loader's
/// objects, which outlast links and restarts.
///
/// | Input                              | Actions                                                     |
/// |------------------------------------|-------------------------------------------------------------|
/// | a request for the boot loader      | an indication; the boot loader starts                       |
/// | a request at the control point     | a notification; behind the last object a restart            |
/// | a packet                           | a receipt where one is due; the end of the link as a fault  |
/// | the link's end                     | none                                                        |
struct BootLoaderServer {
  enum Action {
    case answer([UInt8], on: BluetoothUUID)
    case disconnect
    /// The boot loader starts, with a name that it was given.
    case enter(name: String?)
    /// The application starts.
    case leave
  }

  private struct Part {
    var length = 0
    var octets: [UInt8] = []
    var isExecuted = false
  }

  private static let longestPacket = 512
  private static let longestFirmware = 1 << 20

  private var description: BootLoaderDescription
  private var name: String?
  private var object = DFUObject.command
  private var packet = Part()
  private var part = Part()
  /// The executed octets of the firmware.
  private var firmware: [UInt8] = []
  private var contents: InitPacket?
  /// The version of the boot loader, which an update must exceed.
  private var version: UInt32 = 0
  private var receipts = 0
  private var packets = 0

  init(_ description: BootLoaderDescription) { self.description = description }

  mutating func linkEnded() { receipts = 0 }

  /// A value was written.
  mutating func received(_ octets: [UInt8], on characteristic: BluetoothUUID) -> [Action] {
    switch characteristic {
    case DFUService.buttonless, DFUService.buttonlessWithBonds: return entry(octets, characteristic)
    case DFUService.controlPoint:
      guard let request = DFURequest(octets) else {
        return [response(DFUResponse(to: octets.first ?? 0, refusal: DFURefusal(code: 2)))]
      }
      return answer(request)
    case DFUService.packet: return receive(octets)
    default: return []
    }
  }

  private mutating func entry(_ octets: [UInt8], _ characteristic: BluetoothUUID) -> [Action] {
    guard let request = ButtonlessRequest(octets) else {
      return [.answer([0x20, octets.first ?? 0, ButtonlessResult.notSupported.rawValue], on: characteristic)]
    }
    let success = Action.answer(request.response(.success), on: characteristic)
    switch request {
    case .setName where characteristic == DFUService.buttonlessWithBonds:
      return [.answer(request.response(.notSupported), on: characteristic)]
    case .setName(let name):
      self.name = name
      return [success]
    case .enter where description.faults.start:
      description.faults.start = false
      return [success, .leave]
    case .enter where description.faults.silence: return [.enter(name: name)]
    case .enter: return [success, .enter(name: name)]
    }
  }

  // MARK: - Requests

  private func response(_ response: DFUResponse) -> Action { .answer(response.encoded, on: DFUService.controlPoint) }

  private mutating func answer(_ request: DFURequest) -> [Action] {
    func refused(_ code: UInt8) -> [Action] {
      [response(DFUResponse(to: request.code, refusal: DFURefusal(code: code)))]
    }
    switch request {
    case .setReceipts(let count): (receipts, packets) = (count, 0)
    case .select(let object):
      self.object = object
      let maximum = object == .command ? Self.longestPacket : description.objectLength
      return [response(DFUResponse(to: request.code, receipt: receipt, maximum: maximum))]
    case .checksum: return [response(DFUResponse(to: request.code, receipt: receipt))]
    case .create(.command, let length):
      guard length > 0, length <= Self.longestPacket else { return refused(3) }
      (object, packet, part, firmware, contents) = (.command, Part(length: length), Part(), [], nil)
      packets = 0
    case .create(.data, let length):
      guard packet.isExecuted, let contents else { return refused(8) }
      guard length > 0, length == min(description.objectLength, contents.length - firmware.count) else {
        return refused(3)
      }
      (object, part, packets) = (.data, Part(length: length), 0)
    case .execute: return execute(request)
    }
    return [response(DFUResponse(to: request.code))]
  }

  private mutating func execute(_ request: DFURequest) -> [Action] {
    if let refusal = object == .command ? executePacket() : executePart() {
      return [response(DFUResponse(to: request.code, refusal: refusal))]
    }
    let done = response(DFUResponse(to: request.code))
    guard object == .data, let contents, firmware.count == contents.length else { return [done] }
    switch contents.kind {
    case .application: description.version = contents.firmwareVersion ?? description.version
    case .bootLoader, .softDeviceAndBootLoader: version = contents.firmwareVersion ?? version
    case .softDevice, .externalApplication: break
    }
    (packet, part, firmware, self.contents) = (Part(), Part(), [], nil)
    return description.faults.silence ? [.leave] : [done, .leave]
  }

  private mutating func executePacket() -> DFURefusal? {
    func refusal(_ error: UInt8) -> DFURefusal { DFURefusal(code: DFURefusal.extended, extended: error) }
    guard packet.length > 0, packet.octets.count == packet.length else { return .notPermitted }
    if let error = description.faults.refusal {
      description.faults.refusal = nil
      return refusal(error)
    }
    guard let contents = InitPacket(packet.octets), contents.length > 0 else { return refusal(4) }
    guard contents.hardwareVersion == description.hardware else { return refusal(6) }
    guard isRecent(contents) else { return refusal(5) }
    guard contents.length <= Self.longestFirmware else { return refusal(13) }
    (packet.isExecuted, self.contents) = (true, contents)
    return nil
  }

  /// True for the device's version of an application or a later one, and for a later one of the boot loader.
  private func isRecent(_ contents: InitPacket) -> Bool {
    switch contents.kind {
    case .application: contents.firmwareVersion ?? 0 >= description.version
    case .bootLoader, .softDeviceAndBootLoader: contents.firmwareVersion ?? 0 > version
    case .softDevice, .externalApplication: true
    }
  }

  private mutating func executePart() -> DFURefusal? {
    // An object that was executed is so again.
    guard part.length > 0 || !firmware.isEmpty, part.octets.count == part.length else { return .notPermitted }
    if description.faults.execution {
      description.faults.execution = false
      return DFURefusal(code: 10)
    }
    let whole = firmware + part.octets
    if let contents, whole.count == contents.length, !contents.describes(whole) { return DFURefusal(code: 5) }
    (firmware, part) = (whole, Part())
    return nil
  }

  // MARK: - Packets

  /// The octets of the object's kind, and their checksum.
  private var receipt: DFUResponse.Receipt {
    let octets = object == .command ? packet.octets : firmware + part.octets
    var checksum = CRC32()
    checksum.add(octets)
    return DFUResponse.Receipt(offset: octets.count, checksum: checksum.value)
  }

  private mutating func receive(_ octets: [UInt8]) -> [Action] {
    guard object == .data else {
      if packet.octets.count + octets.count <= packet.length { packet.octets += octets }
      return receiptIfDue()
    }
    guard part.octets.count + octets.count <= part.length else { return [] }
    part.octets += octets
    if description.faults.damage, !octets.isEmpty {
      description.faults.damage = false
      part.octets[part.octets.count - 1] ^= 1
    }
    if let place = description.faults.disconnectAt, firmware.count + part.octets.count >= place {
      description.faults.disconnectAt = nil
      return [.disconnect]
    }
    return receiptIfDue()
  }

  private mutating func receiptIfDue() -> [Action] {
    packets += 1
    guard receipts > 0, packets % receipts == 0 else { return [] }
    return [response(DFUResponse(to: DFURequest.checksum.code, receipt: receipt))]
  }
}
