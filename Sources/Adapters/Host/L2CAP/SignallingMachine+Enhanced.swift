import Bluetooth

// Channels in enhanced credit-based flow control mode, several with one request (Core 5.4, Vol 3, Part A, 4.25, 4.26).
extension SignallingMachine {
  /// So many channels a request may be for.
  private static let maximum = 5

  /// Requests enhanced channels to a listener of the device.
  /// - Parameters:
  ///   - count: the number of channels, 1 to 5.
  ///   - end: our end of each, whose number does not count.
  /// - Returns: their numbers, and the actions; nil if so many numbers are not free.
  package mutating func open(
    _ psm: UInt16, enhanced count: Int, _ end: ChannelEnd, at now: Instant
  ) -> (numbers: [UInt16], actions: [Action])? {
    guard 1...Self.maximum ~= count else { return nil }
    let numbers = channels.free(count)
    guard numbers.count == count else { return nil }
    let identifier = nextIdentifier()
    for number in numbers { channels.ask(end.numbered(number), .enhanced, identifier, at: now, for: Self.timeout) }
    let words = [psm, end.packet, end.piece, end.credits] + numbers
    return (numbers, request(SignallingPacket.Code.enhancedRequest, identifier, words))
  }

  /// The device requests channels; it gets as many as it can have.
  mutating func requestedEnhanced(
    _ packet: SignallingPacket, _ offer: (UInt16, ChannelMode) -> ChannelOffer
  ) -> [Action] {
    guard let words = packet.words, words.count > 4 else { return reject(packet) }
    let (psm, numbers) = (words[0], words[4...])
    guard numbers.count <= Self.maximum else {
      return refuse(packet, Self.maximum, ChannelResult.invalidParameters)
    }
    let end = ChannelEnd(number: 0, packet: words[1], piece: words[2], credits: words[3])
    switch offer(psm, .enhanced) {
    case .refused(let result): return refuse(packet, numbers.count, result)
    case .granted where !end.hasSizes(for: .enhanced) || end.credits == 0:
      return refuse(packet, numbers.count, ChannelResult.invalidParameters)
    case .granted(let own): return grant(packet, numbers.map { end.numbered($0) }, psm, own)
    }
  }

  private mutating func grant(
    _ packet: SignallingPacket, _ ends: [ChannelEnd], _ psm: UInt16, _ own: ChannelEnd
  ) -> [Action] {
    var (granted, accepted): ([UInt16], [Action]) = ([], [])
    var result = ChannelResult.success
    for end in ends {
      do throws(Refused) {
        let number = try free(for: end)
        channels.open(number, end, .enhanced)
        granted.append(number)
        accepted.append(.accepted(number, psm: psm, .enhanced, end))
      } catch {
        // The first of several reasons is returned.
        if result == ChannelResult.success { result = error.result }
        granted.append(0)
      }
    }
    guard !accepted.isEmpty else { return refuse(packet, ends.count, result) }
    let words = [own.packet, own.piece, own.credits, result] + granted
    return respond(packet, SignallingPacket.Code.enhancedResponse, words) + accepted
  }

  /// The reason why one channel of several is refused.
  private struct Refused: Error { let result: UInt16 }

  private func free(for end: ChannelEnd) throws(Refused) -> UInt16 {
    guard end.hasNumber else { throw Refused(result: ChannelResult.invalidNumber) }
    guard !channels.isUsed(end.number) else { throw Refused(result: ChannelResult.numberInUse) }
    guard let number = channels.free(1).first else { throw Refused(result: ChannelResult.noRoom) }
    return number
  }

  private func refuse(_ packet: SignallingPacket, _ count: Int, _ result: UInt16) -> [Action] {
    let numbers = [UInt16](repeating: 0, count: count)
    return respond(packet, SignallingPacket.Code.enhancedResponse, [0, 0, 0, result] + numbers)
  }

  /// The device answered a request for channels.
  mutating func respondedEnhanced(_ packet: SignallingPacket, at now: Instant) -> [Action] {
    guard let words = packet.words, words.count >= 4 else { return [] }
    let result = words[3]
    guard !ChannelResult.pending.contains(result) else {
      channels.postpone(packet.identifier, .enhanced, until: now.advanced(by: Self.timeout))
      return []
    }
    let end = ChannelEnd(number: 0, packet: words[0], piece: words[1], credits: words[2])
    var numbers = ChannelResult.granting.contains(result) ? words[4...] : []
    var actions: [Action] = []
    for (own, isOverdue) in channels.answered(packet.identifier, .enhanced) {
      guard let number = numbers.popFirst(), number != 0 else {
        // A success without a number is none.
        let told = result == ChannelResult.success ? ChannelResult.noRoom : result
        if !isOverdue { actions.append(.refused(own.number, .result(told))) }
        continue
      }
      let end = end.numbered(number)
      actions += isOverdue ? closeOverdue(own, end, .enhanced, at: now) : granted(own, end, at: now)
    }
    return actions
  }

  /// The device granted a channel.
  private mutating func granted(_ own: ChannelEnd, _ end: ChannelEnd, at now: Instant) -> [Action] {
    guard end.hasNumber else {
      // We could close no channel by this number.
      return [.refused(own.number, .result(ChannelResult.invalidNumber))]
    }
    guard !channels.isUsed(end.number) else { return refuseUsed(end.number, for: own.number, at: now) }
    channels.open(own.number, end, .enhanced)
    guard end.hasSizes(for: .enhanced) else {
      return close(own.number, at: now) + [.refused(own.number, .result(ChannelResult.invalidParameters))]
    }
    return [.opened(own.number, end)]
  }
}
