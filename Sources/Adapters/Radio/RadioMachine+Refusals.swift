import Bluetooth
import HCI

/// Controllers with wrong states, and restarted ones.
extension FamilyRadioMachine {
  /// Learns from the response to a command that begins an activity. With a link, the link is the likeliest reason.
  mutating func learn(_ activity: LEStates.Activity?, _ status: HCIStatus) {
    guard let activity else { return }
    guard status.code == .commandDisallowed else { return turns.accepted(activity) }
    guard links.isEmpty, turns.refused(activity, beside: running) else { return }
    initiator.retry()
    advertising.retry()
    scan.retry()
  }

  mutating func initiatorAnswered(_ answer: CommandSlot.Answer, at now: Instant) -> [RadioAction] {
    let actions = initiator.answered(answer.status, conflict: scan.conflict, at: now)
    let begins = answer.opcode == LECreateConnection.opcode || answer.opcode == LEExtendedCreateConnection.opcode
    learn(begins ? .initiating : nil, answer.status)
    return actions
  }

  mutating func advertisingAnswered(_ answer: CommandSlot.Answer, at now: Instant) -> [RadioAction] {
    let begins =
      answer.opcode == LESetAdvertisingEnable.opcode || answer.opcode == LESetExtendedAdvertisingEnable.opcode
    let beginning = begins ? advertising.beginning : nil
    let actions = advertising.answered(answer, hasLinks: !links.isEmpty, at: now)
    learn(beginning, answer.status)
    return actions
  }

  /// The controller says that it is ready for commands. Just after an answer that is a sign only if a scan received
  /// reports and no report follows within a second: the masks of its events are lost with all else. Some controllers
  /// say so after each answer, also to the commands that a suspicion causes: there is one suspicion in a minute.
  mutating func mayHaveBegunAnew(at now: Instant) -> [RadioAction] {
    guard slot.hasJustAnswered(at: now) else { return beganAnew(at: now) }
    guard suspicion == nil, scan.isOn, isWithinMinute(of: lastReport, at: now),
      !isWithinMinute(of: lastRenewal, at: now), !isWithinMinute(of: lastCheck, at: now)
    else { return [] }
    suspicion = now.advanced(by: .seconds(1))
    return []
  }

  private func isWithinMinute(of time: Instant?, at now: Instant) -> Bool {
    time.map { $0.duration(to: now) < .seconds(60) } ?? false
  }

  /// Begins anew if a suspicion was not refuted in time.
  mutating func suspected(at now: Instant) -> [RadioAction] {
    guard let time = suspicion, time <= now else { return [] }
    suspicion = nil
    return beganAnew(at: now)
  }

  /// The controller says that it is ready for commands, though it was: its firmware may have started, and then knows no
  /// link. Without one its settings and the wanted activities are set up again. Either is done once in a minute: some
  /// say so for no reason.
  mutating func beganAnew(at now: Instant) -> [RadioAction] {
    guard let handle = links.handles.first else {
      guard !isWithinMinute(of: lastRenewal, at: now) else { return [] }
      lastRenewal = now
      restoreSettings()
      scan.doubt()
      advertising.doubt(isForgotten: true)
      initiator.doubt()
      return sync.doubt() + [.renewed]
    }
    guard !isWithinMinute(of: lastCheck, at: now) else { return [] }
    lastCheck = now
    commands.append((.presence(handle), CommandPacket(ReadRSSI(handle: handle))))
    return []
  }

  /// Sends the settings of the set-up once more. An address that is in use is refused, and is set then.
  mutating func restoreSettings() {
    var packets = profile.settings
    let address = profile.addressOnAir
    if address.kind == .random { packets.append(CommandPacket(LESetRandomAddress { $0.address = address.value })) }
    for packet in packets where commands.count < Self.maximumCommands / 2 { commands.append((.nobody, packet)) }
  }

  func verified(_ handle: ConnectionHandle, _ status: HCIStatus) -> [RadioAction] {
    status.code == .unknownConnectionIdentifier && links.contains(handle) ? [.broken(.beganAnew)] : []
  }
}
