import Bluetooth
import HCI

/// Asks a controller that has just come on what it can do, and gives it our random address if it has no public one.
///
/// | State   | Input                          | Actions                                        |
/// |---------|--------------------------------|------------------------------------------------|
/// | asking  | the answer to the question     | `send` the next question, after the last `done` |
/// | asking  | an answer that is not valid    | `failed`                                       |
/// | asking  | no answer in time              | `failed`                                       |
struct SetUpMachine {
  enum Action: Hashable {
    case send(CommandPacket)
    case done(ControllerProfile)
    case failed(String)
  }

  private var profile: ControllerProfile
  private var slot = CommandSlot()
  private var questions: [CommandPacket]

  init(address: DeviceAddress) {
    profile = ControllerProfile(address: address)
    questions = [
      CommandPacket(LEReadLocalSupportedFeatures()), CommandPacket(LEReadSupportedStates()),
      CommandPacket(LEReadFilterAcceptListSize()),
    ]
    if address.kind == .random { questions.append(CommandPacket(LESetRandomAddress { $0.address = address.value })) }
  }

  /// When `tick` is due.
  var deadline: Instant? { slot.deadline }

  mutating func start(at now: Instant) -> [Action] { next(at: now) }

  mutating func handle(_ event: HCIEvent, at now: Instant) -> [Action] {
    guard case .ours(let answer) = slot.take(event) else { return slot.outstanding == nil ? next(at: now) : [] }
    // A random address is refused while it is in use for advertising or scanning; then it is set already.
    guard answer.status.isSuccess || answer.opcode == LESetRandomAddress.opcode else {
      return [.failed("it answered command 0x\(String(answer.opcode.rawValue, radix: 16)) with \(answer.status)")]
    }
    if let complete = answer.complete, answer.opcode != LESetRandomAddress.opcode {
      do { try note(complete) } catch { return [.failed("its response could not be decoded: \(error)")] }
    }
    return next(at: now)
  }

  mutating func tick(at now: Instant) -> [Action] {
    guard slot.expire(at: now) != nil else { return [] }
    return [.failed("it does not respond")]
  }

  private mutating func next(at now: Instant) -> [Action] {
    guard !questions.isEmpty else { return [.done(profile)] }
    guard slot.isFree else { return [] }
    let question = questions.removeFirst()
    slot.send(question, at: now)
    return [.send(question)]
  }

  private mutating func note(_ complete: CommandComplete) throws(HCICodingError) {
    switch complete.opcode {
    case LEReadLocalSupportedFeatures.opcode:
      profile.features = try complete.decoded(as: LEReadLocalSupportedFeatures.self).value
      if profile.isExtended {
        questions.append(CommandPacket(LEReadMaximumAdvertisingDataLength()))
        questions.append(CommandPacket(LEReadNumberOfSupportedAdvertisingSets()))
      }
    case LEReadSupportedStates.opcode:
      profile.states = try complete.decoded(as: LEReadSupportedStates.self).value
    case LEReadFilterAcceptListSize.opcode:
      profile.acceptListSize = max(1, Int(try complete.decoded(as: LEReadFilterAcceptListSize.self).value))
    case LEReadMaximumAdvertisingDataLength.opcode:
      let length = Int(try complete.decoded(as: LEReadMaximumAdvertisingDataLength.self).value)
      profile.advertisingDataLength = min(max(31, length), 1650)
    case LEReadNumberOfSupportedAdvertisingSets.opcode:
      let count = Int(try complete.decoded(as: LEReadNumberOfSupportedAdvertisingSets.self).value)
      profile.advertisingSets = min(max(1, count), 240)
    default: break
    }
  }
}
