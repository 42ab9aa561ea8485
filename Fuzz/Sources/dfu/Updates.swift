import Bluetooth
import Fuzzing
import NordicDFU

/// Packages for Nordic's Secure DFU, the octets of its requests and answers, and transfers to a boot loader that
/// answers at random: nothing traps, no packet has octets that the image lacks, and a transfer over one link ends,
/// whatever the boot loader answers.
@main
enum Updates {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      let kind = input.octet()
      switch kind & 3 {
      case 0: checkPackage(input.remainder())
      case 1: checkOctets(input.remainder())
      default: kind & 4 == 0 ? checkTransfer(&input) : checkEnd(&input)
      }
    }
  }

  private static func checkPackage(_ octets: [UInt8]) {
    _ = InitPacket(octets).map { ($0.length, $0.describes(octets)) }
    guard let package = try? DFUPackage(octets) else { return }
    invariant(!package.images.isEmpty, "no image")
    for image in package.images {
      invariant(!image.packet.isEmpty && !image.firmware.isEmpty, "an empty image")
      invariant(image.contents?.describes(image.firmware) != false, "another firmware")
    }
  }

  private static func checkOctets(_ octets: [UInt8]) {
    if let request = DFURequest(octets) { invariant(request.encoded == octets, "\(request) is encoded otherwise") }
    if let request = ButtonlessRequest(octets) { invariant(request.encoded == octets, "\(request)") }
    guard let response = DFUResponse(octets) else { return }
    invariant(DFUResponse(response.encoded) == response, "\(response) is read otherwise")
    _ = response.refusal?.description
  }

  private static func checkTransfer(_ input: inout FuzzInput) {
    let length = Int(input.octet()) << 4 | 1
    let firmware = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
    let packet = [UInt8](repeating: 0xA5, count: Int(input.octet()) + 1)
    let image = DFUPackage.Image(name: "application", packet: packet, firmware: firmware)
    var machine = TransferMachine(image)
    var now = Instant.zero
    for _ in 0..<200 {
      let hasEnded = machine.hasEnded
      let choice = input.octet()
      var actions: [TransferMachine.Action] = []
      switch choice & 7 {
      case 0: machine.linkIsLost()
      case 1: actions = machine.linkIsUp(packet: Int(input.octet()), now: now)
      case 2:
        now = max(now, machine.deadline ?? now)
        actions = machine.timePassed(now: now)
      case 3: actions = machine.received([0x60, choice >> 4, input.octet(), input.octet()], now: now)
      default: actions = machine.received(answer(machine, choice, packet, firmware, &input), now: now)
      }
      if hasEnded { invariant(actions.isEmpty && machine.hasEnded, "it goes on behind its end") }
      invariant((0...length).contains(machine.offset), "\(machine.offset) of \(length)")
      invariant(!machine.hasEnded || machine.deadline == nil, "it waits behind its end")
      for case .packet(let octets) in actions { invariant(!octets.isEmpty && octets.count <= 252, "\(octets.count)") }
    }
  }

  /// A boot loader that answers by a pattern for ever, over one link.
  private static func checkEnd(_ input: inout FuzzInput) {
    let firmware = (0...(input.octet() & 63)).map { UInt8($0) }
    let packet = [UInt8](repeating: 0xA5, count: Int(input.octet() & 63) + 1)
    var machine = TransferMachine(DFUPackage.Image(name: "application", packet: packet, firmware: firmware))
    var now = Instant.zero
    _ = machine.linkIsUp(packet: 20, now: now)
    let pattern = input.remainder().prefix(32) + [0]
    // Each octet can be an object, which is sent three times at the most, each time with a few requests and receipts.
    let limit = (firmware.count + packet.count) * 3 * 16
    for step in 0..<limit where !machine.hasEnded {
      let choice = pattern[step % pattern.count]
      if choice == 0xFF {
        now = max(now, machine.deadline ?? now)
        _ = machine.timePassed(now: now)
        continue
      }
      var answers = FuzzInput([choice >> 4, choice >> 2])
      let octets =
        choice & 7 == 7 ? [0x60, 6, choice] : answer(machine, choice, packet, firmware, &answers)
      if machine.received(octets, now: now).isEmpty {
        now = max(now, machine.deadline ?? now)
        _ = machine.timePassed(now: now)
      }
    }
    invariant(machine.hasEnded, "it does not end: \(machine.state)")
  }

  /// The answer that is awaited, mostly with a right checksum.
  private static func answer(
    _ machine: TransferMachine, _ choice: UInt8, _ packet: [UInt8], _ firmware: [UInt8], _ input: inout FuzzInput
  ) -> [UInt8] {
    var code: UInt8 = 3
    if case .asking(let request) = machine.state { code = request.code }
    let octets = choice & 8 == 0 ? firmware : packet
    let offset = choice & 16 == 0 ? min(Int(input.octet()) << 4, octets.count) : octets.count
    var checksum = CRC32()
    checksum.add(octets[..<offset])
    let receipt = DFUResponse.Receipt(offset: offset, checksum: choice & 32 == 0 ? checksum.value : 7)
    return DFUResponse(to: code, receipt: receipt, maximum: code == 6 ? Int(input.octet()) << 3 : nil).encoded
  }
}
