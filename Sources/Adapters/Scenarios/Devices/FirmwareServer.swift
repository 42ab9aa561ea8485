import Adapter
import Bluetooth
import BluetoothCrypto
import MCUmgr
import ScenarioRules

/// MCUmgr's server on a simulated device: two slots for images, an upload, and a boot loader that tries an image once
/// until it is confirmed.
///
/// | Input                 | Actions                                                          |
/// |-----------------------|------------------------------------------------------------------|
/// | a packet              | an answer to each frame that it completes; a restart; the end of the link |
/// | the link's end        | none: the upload stays                                           |
/// | the restart           | none: the slots are exchanged if that is pending, or undone      |
struct FirmwareServer {
  enum Action {
    case answer(ManagementFrame, after: Duration)
    case disconnect
    case restart
  }

  private struct Slot {
    var version: String
    var hash: [UInt8]
    var isConfirmed = false
    var isPending = false
    var isPermanent = false
  }

  private struct Upload {
    let length: Int
    let hash: [UInt8]?
    var octets: [UInt8] = []
  }

  private var description: FirmwareDescription
  private var generator: SeededGenerator
  private var assembly = FrameAssembly()
  private var active: Slot
  private var second: Slot?
  private var upload: Upload?

  init(_ description: FirmwareDescription, generator: SeededGenerator) {
    self.description = description
    self.generator = generator
    active = Slot(version: description.version, hash: SHA256.hash(description.version.utf8), isConfirmed: true)
  }

  mutating func linkEnded() { assembly.reset() }

  mutating func restarted() {
    upload = nil
    if var new = second, new.isPending {
      (new.isPending, new.isConfirmed) = (false, new.isPermanent)
      (active, second) = (new, active)
    } else if !active.isConfirmed, let old = second {
      (active, second) = (old, active)
    }
  }

  mutating func received(_ packet: [UInt8]) -> [Action] {
    guard description.joins || Self.isWhole(packet) else { return Self.corrupt(packet) }
    return assembly.receive(packet).flatMap { frame -> [Action] in
      guard frame.operation.response != nil, frame.encoded.count <= description.bufferSize,
        !generator.chance(description.faults.requests)
      else { return [] }
      let actions = answer(frame)
      guard generator.chance(description.faults.answers) else { return actions }
      return actions.filter { if case .answer = $0 { false } else { true } }
    }
  }

  // MARK: - Parts of frames

  private static func isWhole(_ packet: [UInt8]) -> Bool {
    packet.count >= ManagementFrame.headerLength
      && packet.count >= ManagementFrame.headerLength + Int(packet[2]) << 8 + Int(packet[3])
  }

  /// The answer to the beginning of a frame without its end.
  private static func corrupt(_ packet: [UInt8]) -> [Action] {
    let header = Array(packet.prefix(2) + [0, 0] + packet.dropFirst(4).prefix(4))
    guard let frame = try? ManagementFrame(decoding: header), frame.operation.response != nil else { return [] }
    return [.answer(response(to: frame, [("rc", .unsigned(9))]), after: .zero)]
  }

  // MARK: - Requests

  private mutating func answer(_ frame: ManagementFrame) -> [Action] {
    func good(_ members: [(String, CBORValue)], after delay: Duration = .zero) -> [Action] {
      [.answer(Self.response(to: frame, members), after: delay)]
    }
    switch ManagementRequest(frame) {
    case .echo(let text): return good([("r", .text(text))])
    case .reset: return good([]) + [.restart]
    case .parameters:
      let parameters = ManagementParameters(bufferSize: description.bufferSize, bufferCount: description.buffers)
      return [.answer(Self.response(to: frame, payload: parameters.payload), after: .zero)]
    case .imageState: return state(frame)
    case .setImageState(let hash, let confirm):
      if let code = choose(hash, confirm) { return Self.refusal(of: frame, group: 1, code) }
      return state(frame)
    case .erase:
      guard second?.isPending != true else { return Self.refusal(of: frame, group: 1, 28) }
      (second, upload) = (nil, nil)
      return good([], after: description.eraseTime.draw(&generator))
    case .upload(let part): return receive(part, frame)
    case .shell(let words):
      let command = words.joined(separator: " ")
      let line = description.shell.first { $0.command.utf8.elementsEqual(command.utf8) }
      let output = line?.output ?? "\(command): command not found"
      return good([("o", .text(output)), ("ret", line == nil ? .negative(7) : .unsigned(0))])
    case nil: return [.answer(Self.response(to: frame, [("rc", .unsigned(8))]), after: .zero)]
    }
  }

  private func state(_ frame: ManagementFrame) -> [Action] {
    let images = [(0, active as Slot?), (1, second)].compactMap { number, slot in
      slot.map {
        ImageState(
          slot: number, version: $0.version, hash: $0.hash, isPending: $0.isPending, isConfirmed: $0.isConfirmed,
          isActive: number == 0, isPermanent: $0.isPermanent)
      }
    }
    return [.answer(Self.response(to: frame, payload: ImageState.payload(images)), after: .zero)]
  }

  /// - Returns: The code of the error; nil if an image was chosen.
  private mutating func choose(_ hash: [UInt8]?, _ confirm: Bool) -> UInt64? {
    if hash == nil || hash == active.hash {
      guard confirm else { return 33 }
      active.isConfirmed = true
      return nil
    }
    guard second?.hash == hash else { return 8 }
    second?.isPending = true
    second?.isPermanent = confirm
    return nil
  }

  private mutating func receive(_ part: UploadPart, _ frame: ManagementFrame) -> [Action] {
    var delay = Duration.zero
    if part.offset == 0 {
      guard let beginning = part.beginning else { return Self.refusal(of: frame, group: 1, 21) }
      guard beginning.length <= description.slotSize else { return Self.refusal(of: frame, group: 1, 30) }
      guard part.data.starts(with: [0x3D, 0xB8, 0xF3, 0x96]) else { return Self.refusal(of: frame, group: 1, 23) }
      guard second?.isPending != true else { return Self.refusal(of: frame, group: 1, 28) }
      if upload?.hash != beginning.hash || beginning.hash == nil || upload?.length != beginning.length {
        upload = Upload(length: beginning.length, hash: beginning.hash)
        second = nil
        delay = description.eraseTime.draw(&generator)
      }
    }
    let before = upload?.octets.count ?? 0
    if part.offset == before { upload?.octets += part.data }
    let after = upload?.octets.count ?? 0
    guard after <= upload?.length ?? 0 else {
      upload = nil
      return Self.refusal(of: frame, group: 1, 31)
    }
    if let place = description.faults.disconnectAt, after >= place {
      description.faults.disconnectAt = nil
      return [.disconnect]
    }
    var members: [(String, CBORValue)] = [("off", .unsigned(UInt64(after)))]
    if let match = finish() { members.append(("match", .bool(match))) }
    return [.answer(Self.response(to: frame, members), after: delay)]
  }

  /// Puts a complete upload into the second slot.
  /// - Returns: Whether its hash is right; nil if it is not complete, or has no hash.
  private mutating func finish() -> Bool? {
    guard var done = upload, done.octets.count == done.length, done.length > 0 else { return nil }
    upload = nil
    if description.faults.damage { done.octets[done.length - 1] ^= 1 }
    if let image = try? FirmwareImage(done.octets) {
      second = Slot(version: "\(image.version)", hash: image.hash)
    }
    return done.hash.map { $0 == SHA256.hash(done.octets) }
  }

  // MARK: - Answers

  private static func response(to frame: ManagementFrame, _ members: [(String, CBORValue)]) -> ManagementFrame {
    response(to: frame, payload: .map(members.map { CBORPair(key: .text($0.0), value: $0.1) }))
  }

  private static func response(to frame: ManagementFrame, payload: CBORValue) -> ManagementFrame {
    ManagementFrame(
      frame.operation.response ?? .writeResponse, group: frame.group, command: frame.command,
      sequence: frame.sequence, payload: payload, version: frame.version)
  }

  /// An error of a group; in the first version of the protocol codes had no groups.
  private static func refusal(of frame: ManagementFrame, group: UInt64, _ code: UInt64) -> [Action] {
    let error = CBORValue.map([
      CBORPair(key: .text("group"), value: .unsigned(group)), CBORPair(key: .text("rc"), value: .unsigned(code)),
    ])
    let members: [(String, CBORValue)] = frame.version == 0 ? [("rc", .unsigned(1))] : [("err", error)]
    return [.answer(response(to: frame, members), after: .zero)]
  }
}
