import Bluetooth

// Channels in LE credit-based flow control mode, and the end and the credits of any (Core 5.4, Vol 3, Part A, 4.6, 4.7,
// 4.22 to 4.24).
extension SignallingMachine {
  /// Requests a channel to a listener of the device.
  /// - Parameter end: our end, whose number does not count.
  /// - Returns: its number, and the actions; nil if all numbers are taken.
  package mutating func open(_ psm: UInt16, _ end: ChannelEnd, at now: Instant) -> (number: UInt16, actions: [Action])?
  {
    guard let number = channels.free(1).first else { return nil }
    let identifier = nextIdentifier()
    channels.ask(end.numbered(number), .leCreditBased, identifier, at: now, for: Self.timeout)
    let words = [psm, number, end.packet, end.piece, end.credits]
    return (number, request(SignallingPacket.Code.creditBasedRequest, identifier, words))
  }

  /// Closes a channel, without further reports.
  package mutating func close(_ number: UInt16, at now: Instant) -> [Action] {
    guard let remote = channels.remote(of: number) else { return [] }
    let identifier = nextIdentifier()
    channels.close(number, identifier, until: now.advanced(by: Self.timeout))
    return request(SignallingPacket.Code.disconnectionRequest, identifier, [remote, number])
  }

  /// Allows the device this many more pieces.
  package mutating func give(_ credits: UInt16, on number: UInt16) -> [Action] {
    guard channels.remote(of: number) != nil else { return [] }
    return request(SignallingPacket.Code.credits, nextIdentifier(), [number, credits])
  }

  // MARK: - The device

  /// The device requests a channel.
  mutating func requested(_ packet: SignallingPacket, _ offer: (UInt16, ChannelMode) -> ChannelOffer) -> [Action] {
    guard let words = packet.words(5) else { return reject(packet) }
    let end = ChannelEnd(number: words[1], packet: words[2], piece: words[3], credits: words[4])
    guard end.hasNumber else { return refuse(packet, ChannelResult.invalidNumber) }
    guard !channels.isUsed(end.number) else { return refuse(packet, ChannelResult.numberInUse) }
    switch offer(words[0], .leCreditBased) {
    case .refused(let result): return refuse(packet, result)
    case .granted(let own):
      guard end.hasSizes(for: .leCreditBased) else { return refuse(packet, ChannelResult.unacceptableParameters) }
      guard let number = channels.free(1).first else { return refuse(packet, ChannelResult.noRoom) }
      channels.open(number, end, .leCreditBased)
      let answer = [number, own.packet, own.piece, own.credits, 0]
      return respond(packet, SignallingPacket.Code.creditBasedResponse, answer)
        + [.accepted(number, psm: words[0], .leCreditBased, end)]
    }
  }

  private func refuse(_ packet: SignallingPacket, _ result: UInt16) -> [Action] {
    respond(packet, SignallingPacket.Code.creditBasedResponse, [0, 0, 0, 0, result])
  }

  /// The device answered a request for a channel.
  mutating func responded(_ packet: SignallingPacket, at now: Instant) -> [Action] {
    guard let words = packet.words(5),
      let (own, isOverdue) = channels.answered(packet.identifier, .leCreditBased).first
    else { return [] }
    let number = own.number
    guard words[4] == 0 else { return isOverdue ? [] : [.refused(number, .result(words[4]))] }
    let end = ChannelEnd(number: words[0], packet: words[1], piece: words[2], credits: words[3])
    guard !isOverdue else { return closeOverdue(own, end, .leCreditBased, at: now) }
    guard end.hasNumber else {
      // We could close no channel by this number.
      return [.refused(number, .result(ChannelResult.invalidNumber))]
    }
    guard !channels.isUsed(end.number) else { return refuseUsed(end.number, for: number, at: now) }
    channels.open(own.number, end, .leCreditBased)
    guard end.hasSizes(for: .leCreditBased) else {
      return close(number, at: now) + [.refused(number, .result(ChannelResult.unacceptableParameters))]
    }
    return [.opened(number, end)]
  }

  /// The device has granted a channel with another one's number: the two are indistinguishable (4.26).
  mutating func refuseUsed(_ used: UInt16, for own: UInt16, at now: Instant) -> [Action] {
    let other = channels.local(of: used).map { close($0, at: now) + [.closed($0)] } ?? []
    return other + [.refused(own, .result(ChannelResult.numberInUse))]
  }

  /// The device has granted a channel after we gave it up: it is closed, if distinguishable from others.
  mutating func closeOverdue(_ own: ChannelEnd, _ end: ChannelEnd, _ mode: ChannelMode, at now: Instant) -> [Action] {
    guard end.hasNumber, !channels.isUsed(end.number) else { return [] }
    channels.open(own.number, end, mode)
    return close(own.number, at: now)
  }

  /// The device closes a channel.
  mutating func closed(_ packet: SignallingPacket, local: UInt16, remote: UInt16) -> [Action] {
    let open = channels.remote(of: local)
    guard let known = open ?? channels.closingRemote(of: local) else {
      return reject(identifier: packet.identifier, Reason.invalidChannel, [local, remote])
    }
    // With the number of another channel it is ignored (4.6).
    guard known == remote else { return [] }
    channels.free(local)
    // No piece may follow the response.
    return (open == nil ? [] : [.closed(local)])
      + respond(packet, SignallingPacket.Code.disconnectionResponse, [local, remote])
  }
}
