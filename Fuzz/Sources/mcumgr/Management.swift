import Bluetooth
import Fuzzing
import MCUmgr

/// Frames of MCUmgr, images for MCUboot, and uploads with a device that answers at random: nothing traps, a frame is
/// the same when it is encoded and read again, no part lies outside of the file, and an upload over one link ends,
/// whatever the device answers.
@main
enum Management {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      let kind = input.octet()
      switch kind & 3 {
      case 0: checkFrame(input.remainder())
      case 1: checkPackets(&input)
      case 2: checkImage(input.remainder())
      default: kind & 4 == 0 ? checkUpload(&input) : checkEnd(&input)
      }
    }
  }

  private static func checkFrame(_ octets: [UInt8]) {
    guard let frame = try? ManagementFrame(decoding: octets) else { return }
    let again = try? ManagementFrame(decoding: frame.encoded)
    // Numbers need not equal themselves.
    if !hasNumber(frame.payload) { invariant(again == frame, "\(frame) became \(String(describing: again))") }
    _ = (ManagementError(frame)?.description, ManagementParameters(frame))
    if let images = try? ImageState.list(frame) {
      let payload = ImageState.payload(images)
      let same = ManagementFrame(.readResponse, group: 1, command: 0, sequence: 0, payload: payload)
      invariant((try? ImageState.list(same)) == images, "\(images) are read otherwise")
    }
    guard let request = ManagementRequest(frame) else { return }
    invariant(ManagementRequest(request.frame(sequence: frame.sequence)) == request, "\(request) is read otherwise")
  }

  private static func hasNumber(_ value: CBORValue) -> Bool {
    switch value {
    case .number: true
    case .array(let elements): elements.contains(where: hasNumber)
    case .map(let pairs): pairs.contains { hasNumber($0.key) || hasNumber($0.value) }
    default: false
    }
  }

  /// The frames of several packets; a whole frame in any two packets is that frame.
  private static func checkPackets(_ input: inout FuzzInput) {
    let cut = Int(input.octet())
    let rest = input.remainder()
    var assembly = FrameAssembly()
    var parts: [[UInt8]] = []
    for start in stride(from: 0, to: rest.count, by: max(cut, 1)) {
      parts.append(Array(rest[start..<min(start + max(cut, 1), rest.count)]))
    }
    let frames = parts.flatMap { assembly.receive($0) }
    guard let whole = try? ManagementFrame(decoding: rest), !hasNumber(whole.payload) else { return }
    invariant(frames == [whole] && assembly.faults == 0, "\(frames) in place of \(whole)")
  }

  private static func checkImage(_ octets: [UInt8]) {
    guard let image = try? FirmwareImage(octets) else { return }
    invariant(image.octets == octets && image.fileHash.count == 32, "another file")
    invariant(!image.version.description.isEmpty && image.hash.count <= octets.count, "no version, or no hash")
  }

  private static func checkUpload(_ input: inout FuzzInput) {
    let length = Int(input.octet()) << 4 | Int(input.octet() & 15)
    let file = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
    var machine = UploadMachine(file, hash: Array(repeating: 7, count: 32))
    var now = Instant.zero
    var waiting: [ManagementFrame] = []
    for _ in 0..<200 {
      let hasEnded = machine.hasEnded
      let choice = input.octet()
      var sent: [ManagementFrame] = []
      switch choice & 7 {
      case 0:
        machine.linkIsLost()
        waiting = []
      case 1:
        let parameters = ManagementParameters(bufferSize: Int(input.octet()) << 4, bufferCount: Int(input.octet()))
        sent = machine.linkIsUp(packet: Int(choice), parameters: choice & 8 == 0 ? parameters : nil, now: now)
      case 2:
        now = max(now, machine.deadline ?? now)
        sent = machine.timePassed(now: now)
      default:
        guard !waiting.isEmpty else { continue }
        let frame = waiting.remove(at: Int(choice >> 3) % waiting.count)
        sent = machine.received(answer(frame, &input), now: now)
      }
      if hasEnded { invariant(sent.isEmpty && machine.hasEnded, "it goes on behind its end") }
      check(sent, file)
      invariant((0...length).contains(machine.offset) && machine.window <= 16, "\(machine.offset) of \(length)")
      invariant(machine.hasEnded == false || machine.deadline == nil, "it waits behind its end")
      waiting = (waiting + sent).suffix(40)
    }
  }

  /// A device that answers by a pattern for ever, over one link.
  private static func checkEnd(_ input: inout FuzzInput) {
    let file = (0...input.octet()).map { UInt8($0) }
    let parameters = ManagementParameters(bufferSize: 64, bufferCount: Int(input.octet() & 15))
    var machine = UploadMachine(file, hash: Array(repeating: 7, count: 32))
    var now = Instant.zero
    var waiting = machine.linkIsUp(packet: 64, parameters: parameters, now: now)
    let pattern = input.remainder().prefix(16) + [0]
    // Each octet is progress after the failures that are allowed, each of a window of parts.
    let limit = file.count * 8 * 17
    for step in 0..<limit where !machine.hasEnded {
      let choice = pattern[step % pattern.count]
      if waiting.isEmpty || choice == 0xFF {
        now = max(now, machine.deadline ?? now)
        waiting = machine.timePassed(now: now)
        continue
      }
      var answers = FuzzInput([choice & 3, choice >> 2])
      waiting += machine.received(answer(waiting.removeFirst(), &answers), now: now)
    }
    invariant(machine.hasEnded, "it does not end: \(machine.state)")
  }

  /// Each part is one of the file, and fits a frame.
  private static func check(_ frames: [ManagementFrame], _ file: [UInt8]) {
    for frame in frames {
      guard case .upload(let part)? = ManagementRequest(frame) else { return invariant(false, "\(frame) is no part") }
      let end = part.offset + part.data.count
      invariant(end <= file.count && part.data == Array(file[part.offset..<end]), "a part of another file")
      invariant((part.offset == 0) == (part.beginning != nil), "a beginning elsewhere")
      invariant(frame.encoded.count <= 16384, "a frame that is too long")
    }
  }

  /// The device's offset: that behind the part, or any.
  private static func answer(_ frame: ManagementFrame, _ input: inout FuzzInput) -> ManagementFrame {
    guard case .upload(let part)? = ManagementRequest(frame) else { return frame }
    let choice = input.octet()
    let offset = choice & 3 == 0 ? Int(input.octet()) << 4 : part.offset + part.data.count
    var pairs = [CBORPair(key: .text("off"), value: .unsigned(UInt64(offset)))]
    if choice == 4 { pairs = [CBORPair(key: .text("rc"), value: .unsigned(UInt64(input.octet())))] }
    return ManagementFrame(
      .writeResponse, group: frame.group, command: frame.command, sequence: frame.sequence, payload: .map(pairs))
  }
}
